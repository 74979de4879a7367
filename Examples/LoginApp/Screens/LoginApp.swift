import SwiftUI
import Waybill
import WaybillUI

@main
struct LoginApp: App {
    private let transactions: TransactionManager
    // State of the app: a model created inside `body` would be replaced whenever the phase changes.
    @State private var form: LoginForm
    @State private var consent: Consent

    /// Customers must not see the inspector, so only debug builds open it by a shake.
    private static var opensOnShake: Bool {
        #if DEBUG
        true
        #else
        false
        #endif
    }

    init() {
        let transactions = TransactionManager.app(server: Addresses.server, collector: Addresses.collector)
        self.transactions = transactions
        _form = State(initialValue: LoginForm(transactions: transactions, server: Addresses.server))
        _consent = State(initialValue: Consent(transactions: transactions))
    }

    var body: some Scene {
        WindowGroup {
            HomeScreen(form: form, consent: consent)
                .environment(\.transactions, transactions)
                .waybillInspector(transactions, opensOnShake: Self.opensOnShake)
        }
        .deliversTransactions(transactions)
    }
}
