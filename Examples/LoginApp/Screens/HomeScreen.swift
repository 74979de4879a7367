import SwiftUI
import Waybill

/// The form, or what is behind it; first of all the question whether to record.
struct HomeScreen: View {
    let form: LoginForm
    let consent: Consent
    let transactions: TransactionManager
    @State private var isShowingDiagnostics = false

    var body: some View {
        NavigationStack {
            Group {
                if form.phase == .loggedIn { WelcomeScreen(user: form.user) } else { LoginScreen(form: form) }
            }
            .toolbar {
                ToolbarItem(placement: .primaryAction) {
                    Button("Diagnostics") { isShowingDiagnostics = true }
                }
            }
            .navigationDestination(isPresented: $isShowingDiagnostics) {
                DiagnosticsScreen(consent: consent, transactions: transactions)
            }
        }
        .sheet(isPresented: .constant(consent.isGiven == nil)) { ConsentScreen(consent: consent) }
    }
}
