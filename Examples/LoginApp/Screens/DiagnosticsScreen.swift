import SwiftUI
import WaybillQueries
import WaybillUI

/// The consent, which the user can withdraw here, and the recorded data.
///
/// It is a sheet: a pushed screen would make the form below disappear, which abandons the login.
struct DiagnosticsScreen: View {
    @Bindable var consent: Consent
    @Environment(\.transactions) private var transactions
    @State private var isInspecting = false
    @Environment(\.dismiss) private var dismiss

    var body: some View {
        NavigationStack {
            Form {
                Section {
                    Toggle("Record and send", isOn: $consent.isRecording)
                } footer: {
                    Text("If you turn it off, the app deletes what it has not sent yet.")
                }
                Section {
                    LabeledContent("Waiting to be sent") {
                        Text("^[\(transactions.live.counts.pending) fact](inflect: true)")
                    }
                    Button("Show what was recorded") { isInspecting = true }
                }
            }
            .navigationTitle("Diagnostics")
            .toolbar {
                ToolbarItem(placement: .confirmationAction) { Button("Done") { dismiss() } }
            }
            .waybillInspector(transactions, hasControls: true, isPresented: $isInspecting)
        }
    }
}

#Preview {
    DiagnosticsScreen(consent: .preview)
}
