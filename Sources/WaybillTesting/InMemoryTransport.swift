public import Waybill
package import WaybillCore

/// A transport that keeps the sets it receives, and answers as a test tells it to.
public final class InMemoryTransport: FlushTransport {
    private struct State {
        var sets: [OutgoingSet] = []
        var answers: [@Sendable (OutgoingSet) throws -> Receipt] = []
    }

    private let state = Locked(State())

    /// Creates a transport that accepts everything.
    public init() {}

    /// The sets it received, in order. Sets that it refused are among them.
    public var sets: [OutgoingSet] { state.withLock { $0.sets } }

    /// The sets it received, decoded.
    package var transactionSets: [TransactionSet] { sets.map(\.decoded) }

    /// Adds an answer, for the next set that has none yet. A set without an answer is accepted.
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
    /// The set, read from its body; empty if the body is no set of version 1.
    package var decoded: TransactionSet {
        (try? TransactionSet.decode(body).set) ?? TransactionSet(id: id, sources: [])
    }
}
