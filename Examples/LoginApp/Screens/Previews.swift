import Foundation
import Waybill

// Previews record nothing.

extension LoginForm {
    static var preview: LoginForm { LoginForm(transactions: .disabled, server: Addresses.server) }
}

extension Consent {
    static var preview: Consent {
        Consent(transactions: .disabled, defaults: UserDefaults(suiteName: "preview") ?? .standard)
    }
}
