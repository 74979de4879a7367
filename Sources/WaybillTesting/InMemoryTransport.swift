public import Waybill
import WaybillCore

/// A transport that keeps what it is given, and answers as it is told.
public final class InMemoryTransport: FlushTransport {
    private struct State {
        var sets: [TransactionSet] = []
        var answers: [@Sendable (TransactionSet) throws -> Receipt] = []
    }

    private let state = Locked(State())

    /// Makes a transport that accepts everything.
    public init() {}

    /// The sets it was given, those it failed to take included.
    public var sets: [TransactionSet] { state.withLock { $0.sets } }

    /// Says what to answer to the next set that has no answer yet; without one, everything is accepted.
    public func answerNext(_ answer: @escaping @Sendable (TransactionSet) throws -> Receipt) {
        state.withLock { $0.answers.append(answer) }
    }

    public func send(_ set: OutgoingSet) async throws -> Receipt {
        let decoded = try TransactionSet.decode(set.body).set
        let answer = state.withLock { state in
            state.sets.append(decoded)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        return try answer?(decoded) ?? Receipt(set: set.id, acceptedCount: set.factCount)
    }
}
