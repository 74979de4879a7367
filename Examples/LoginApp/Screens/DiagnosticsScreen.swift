import SwiftUI
import Waybill
import WaybillQueries
import WaybillUI

/// Consent, to be taken back, and what was recorded.
struct DiagnosticsScreen: View {
    @Bindable var consent: Consent
    let transactions: TransactionManager
    @State private var isInspecting = false

    var body: some View {
        Form {
            Section {
                Toggle("Record and send", isOn: $consent.isRecording)
            } footer: {
                Text("Turned off, what has not been sent is given up.")
            }
            Section {
                LabeledContent("Waiting to be sent", value: "\(transactions.live.counts.pending)")
                Button("Show what was recorded") { isInspecting = true }
            }
        }
        .navigationTitle("Diagnostics")
        .waybillInspector(transactions, hasControls: true, isPresented: $isInspecting)
    }
}
