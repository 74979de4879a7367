#if Collector
import Foundation
import WaybillCore

/// The faults of a bad network for successive requests, by a seed.
final class NetworkConditions: Sendable {
    /// The fault of one request or its answer.
    enum Mishap: Hashable {
        case clear
        case requestDropped, requestDoubled, answerDropped
        case requestDelayed(seconds: Double), answerDelayed(seconds: Double)
        /// The connection is closed in the middle of the body.
        case requestCutShort, answerCutShort
        /// Half of the body, with a matching length.
        case requestHalved, answerHalved
    }

    /// How often each kind has occurred.
    struct Counts: Sendable {
        var clear = 0
        var dropped = 0
        var delayed = 0
        var doubled = 0
        var truncated = 0

        /// For the table.
        var sentence: String {
            "of \(clear + dropped + delayed + doubled + truncated) requests \(dropped) dropped, \(delayed) delayed, \(doubled) doubled, "
                + "\(truncated) truncated"
        }

        /// Whether some kind did not occur, and so was not tested.
        var lacksAny: Bool { [clear, dropped, delayed, doubled, truncated].contains(0) }
    }

    private let state: Locked<(chance: Chance, counts: Counts)>

    init(seed: UInt64) { state = Locked((Chance(seed: seed), Counts())) }

    var counts: Counts { state.withLock { $0.counts } }

    /// Returns the next fault. A third of the requests have none.
    func next() -> Mishap {
        state.withLock { state in
            guard Int.random(in: 0..<3, using: &state.chance) > 0 else {
                state.counts.clear += 1
                return .clear
            }
            let isOnTheWayBack = Bool.random(using: &state.chance)
            let seconds = Double.random(in: 0...0.3, using: &state.chance)
            switch Int.random(in: 0..<5, using: &state.chance) {
            case 0:
                state.counts.dropped += 1
                return isOnTheWayBack ? .answerDropped : .requestDropped
            case 1:
                state.counts.delayed += 1
                return isOnTheWayBack ? .answerDelayed(seconds: seconds) : .requestDelayed(seconds: seconds)
            case 2:
                state.counts.doubled += 1
                return .requestDoubled
            case 3:
                state.counts.truncated += 1
                return isOnTheWayBack ? .answerCutShort : .requestCutShort
            default:
                state.counts.truncated += 1
                return isOnTheWayBack ? .answerHalved : .requestHalved
            }
        }
    }
}
#endif
