public import Waybill
package import WaybillCore

/// A transport that keeps the sets that it receives, with answers that a test provides.
public final class InMemoryTransport: FlushTransport {
    private struct State {
        var sets: [OutgoingSet] = []
        var answers: [@Sendable (OutgoingSet) throws -> Receipt] = []
    }

    private let state = Locked(State())

    /// Creates a transport that accepts everything.
    public init() {}

    /// The received sets, in order, including those that it refused.
    public var sets: [OutgoingSet] { state.withLock { $0.sets } }

    package var transactionSets: [TransactionSet] { sets.map(\.decoded) }

    /// Adds the answer for the next set without one. A set without an answer is accepted.
    public func answerNext(_ answer: @escaping @Sendable (OutgoingSet) throws -> Receipt) {
        state.withLock { $0.answers.append(answer) }
    }

    public func send(_ set: OutgoingSet) async throws -> Receipt {
        let answer = state.withLock { state in
            state.sets.append(set)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        return try answer?(set) ?? Receipt(set: set.id, acceptedCount: set.factCount)
    }
}

extension OutgoingSet {
    package var decoded: TransactionSet {
        (try? TransactionSet.decode(body)) ?? TransactionSet(id: id, sources: [])
    }
}
