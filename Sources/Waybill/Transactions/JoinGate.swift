import WaybillCore

/// Decides which requests may join a transaction: a header field can be made up by anybody, as often as they like.
final class JoinGate: Sendable {
    private struct State {
        /// How often transactions were joined: of late, and of those that were not, before; each is bounded.
        var recent: [GUID: Int] = [:]
        var earlier: [GUID: Int] = [:]
        /// When those so far would have come at the steady rate, in microseconds of the clock that never goes back.
        var due = Int64.min

        mutating func note(_ transaction: GUID, _ count: Int) {
            if recent.count == JoinGate.memory, recent[transaction] == nil { (earlier, recent) = (recent, [:]) }
            recent[transaction] = count
        }
    }

    /// Transactions that are remembered at least, once so many were joined.
    static let memory = 8_192
    /// Requests of one transaction: no collector takes more parts of one.
    static let requestLimit = 1_000
    private static let tolerance: Int64 = 60_000_000

    private let useCases: Set<Int>?
    /// Microseconds from one transaction to the next at the steady rate; nil: none may be joined.
    private let interval: Int64?
    private let state = Locked(State())

    /// - Parameters:
    ///   - useCases: Those that a header field may name; nil: any.
    ///   - perMinute: Transactions that are not known yet, at a steady rate or all of a minute's at once.
    init(useCases: Set<Int>?, perMinute: Int) {
        self.useCases = useCases
        interval = perMinute > 0 ? Self.tolerance / Int64(perMinute) : nil
    }

    /// Whether the use case that a header field names may be believed.
    func knows(useCase: Int) -> Bool { useCases?.contains(useCase) ?? true }

    /// Whether there is room for one more request of a transaction. One that was joined lately has some of its own; any
    /// other gets it by the generic cell rate algorithm (ITU-T I.371).
    ///
    /// - Parameter now: Microseconds of a clock that never goes back.
    func admits(_ transaction: GUID, now: Int64) -> Bool {
        state.withLock { state in
            if let count = state.recent[transaction] ?? state.earlier[transaction] {
                guard count < Self.requestLimit else { return false }
                state.note(transaction, count + 1)
                return true
            }
            guard let interval else { return false }
            let next = max(state.due, now)
            guard next - now + interval <= Self.tolerance else { return false }
            state.due = next + interval
            state.note(transaction, 1)
            return true
        }
    }
}
