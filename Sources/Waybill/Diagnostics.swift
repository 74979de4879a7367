import Foundation
import WaybillCore

/// Tells the developer what they would want to know, each thing once.
final class Diagnostics: Sendable {
    private let told = Locked<Set<String>>([])
    private let limit: Int
    private let tell: @Sendable (String) -> Void

    /// - Parameter limit: Different sentences that are enough.
    init(limit: Int = 1000, _ tell: @escaping @Sendable (String) -> Void) {
        self.limit = limit
        self.tell = tell
    }

    /// What was told, in alphabetical order.
    var sentences: [String] { told.withLock { $0.sorted() } }

    /// Tells a sentence unless it was told before, or there were enough.
    func once(_ sentence: @autoclosure () -> String) {
        let sentence = sentence()
        guard told.withLock({ $0.count < limit && $0.insert(sentence).inserted }) else { return }
        tell(sentence)
    }
}
