import SwiftUI
import Waybill
import WaybillQueries
import WaybillUI

/// Floats over the app as long as something has failed; a tap opens the inspector.
///
/// It observes `transactions.live`: SwiftUI makes it anew when a count is another one.
struct FailureBadge: View {
    let transactions: TransactionManager
    @State private var isInspecting = false

    var body: some View {
        let failed = transactions.live.counts.failed
        Group {
            if failed > 0 {
                Button {
                    isInspecting = true
                } label: {
                    Label("\(failed)", systemImage: "exclamationmark.triangle")
                }
                .buttonStyle(.borderedProminent)
                .padding()
                .accessibilityLabel("\(failed) transactions failed")
            }
        }
        .waybillInspector(transactions, isPresented: $isInspecting)
    }
}
