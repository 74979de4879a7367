#if os(iOS) || os(macOS) || os(visionOS)
import SwiftUI
import Waybill

/// The inspector over what the app shows, with a button that closes it.
struct InspectorSheet: View {
    let transactions: TransactionManager
    let hasControls: Bool
    let close: @MainActor () -> Void

    var body: some View {
        NavigationStack {
            WaybillInspectorView(transactions, hasControls: hasControls)
                .navigationTitle("Waybill")
                #if !os(macOS)
            .navigationBarTitleDisplayMode(.inline)
                #endif
                .toolbar {
                    ToolbarItem(placement: .confirmationAction) { Button("Done", action: close) }
                }
        }
        #if os(macOS)
        .frame(minWidth: 520, idealWidth: 900, minHeight: 480, idealHeight: 700)
        #endif
    }
}
#endif
