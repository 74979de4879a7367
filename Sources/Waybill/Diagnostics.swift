import Foundation
import WaybillCore

/// Tells the developer what they would want to know, each thing once.
final class Diagnostics: Sendable {
    private let told = Locked<Set<String>>([])
    private let tell: @Sendable (String) -> Void

    init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

    /// Tells a sentence unless it was told before; a thousand different ones are enough.
    func once(_ sentence: @autoclosure () -> String) {
        let sentence = sentence()
        guard told.withLock({ $0.count < 1000 && $0.insert(sentence).inserted }) else { return }
        tell(sentence)
    }
}
