import SwiftUI
import WaybillQueries
import WaybillUI

/// A button that floats over the app after a failure.
///
/// It observes `transactions.live`, so SwiftUI updates it when a count changes. The view below presents the inspector: a
/// sheet of this view would close when the badge disappears.
struct FailureBadge: View {
    @Environment(\.transactions) private var transactions
    let act: @MainActor () -> Void

    var body: some View {
        let failed = transactions.live.counts.failed
        if failed > 0 {
            Button(action: act) {
                Label("\(failed)", systemImage: "exclamationmark.triangle")
            }
            .buttonStyle(.borderedProminent)
            .padding()
            .accessibilityLabel(Text("^[\(failed) transaction](inflect: true) failed"))
            .accessibilityHint("Opens the inspector.")
        }
    }
}
