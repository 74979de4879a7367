import SwiftUI
import Waybill
import WaybillUI

@main
struct LoginApp: App {
    private let transactions: TransactionManager
    // Made once: inside `body`, which depends on the phase, there would be another one at each change.
    @State private var form: LoginForm
    @State private var consent: Consent
    @Environment(\.scenePhase) private var phase

    init() {
        let transactions = TransactionManager.app(server: Addresses.server, collector: Addresses.collector)
        transactions.startDelivery()
        self.transactions = transactions
        _form = State(initialValue: LoginForm(transactions: transactions, server: Addresses.server))
        _consent = State(initialValue: Consent(transactions: transactions))
    }

    var body: some Scene {
        WindowGroup {
            HomeScreen(form: form, consent: consent, transactions: transactions)
                .overlay(alignment: .bottomTrailing) { FailureBadge(transactions: transactions) }
                .waybillInspector(transactions, opensOnShake: true)
        }
        .onChange(of: phase) { _, phase in
            if phase == .background { transactions.flush() }
        }
    }
}
