import SwiftUI
import WaybillUI

/// The form, or the screen after the login. First, it asks whether the app may record.
struct HomeScreen: View {
    let form: LoginForm
    let consent: Consent
    @Environment(\.transactions) private var transactions
    @State private var isShowingDiagnostics = false
    @State private var isInspecting = false

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
            .sheet(isPresented: $isShowingDiagnostics) {
                DiagnosticsScreen(consent: consent)
            }
        }
        .overlay(alignment: .bottomTrailing) { FailureBadge { isInspecting = true } }
        .waybillInspector(transactions, isPresented: $isInspecting)
        .sheet(isPresented: .constant(consent.isGiven == nil)) { ConsentScreen(consent: consent) }
        .onChange(of: consent.isGiven) { _, _ in
            // The login that began before the answer is not recorded.
            form.appear()
        }
    }
}

#Preview {
    HomeScreen(form: .preview, consent: .preview)
}
