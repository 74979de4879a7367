package import WaybillCore
package import WaybillQueries

/// An exchange with everything that is known about it.
package struct NaiveExchange {
    package var source: Int
    package var id: FactID
    package var fact: Fact
    package var opened: Fact.ExchangeOpened
    package var closing: (fact: Fact, closed: Fact.ExchangeClosed)?
    package var state: ExchangeRecord.State
    package var wall: Int64
    package var transaction: GUID?
    /// The use case of the part that it belongs to.
    var useCase: Int?
    /// The question's filter let one in this many exchanges through.
    var sampledOneIn: Int64 = 1

    package var whole: Int64? { state == .completed ? duration : nil }
    package var succeeded: Int64? { isFailing ? nil : whole }
    package var failed: Int64? { state == .failed ? duration : nil }
    /// The duration that ranks the slowest exchanges.
    package var slowness: Int64? { whole ?? failed }
    var duration: Int64? { closing.map { $0.fact.atMicroseconds - fact.atMicroseconds } }
    package var firstByte: Int64? {
        state == .mocked ? nil : closing?.closed.firstByteAtMicroseconds.map { $0 - fact.atMicroseconds }
    }
    /// Histories have timeouts of `URLSession`, and errors of other domains with the name `timedOut`.
    package var hasTimedOut: Bool {
        guard state == .failed, let error = closing?.closed.error else { return false }
        return error.chain.contains {
            ($0.domain == "NSURLErrorDomain" && $0.code == -1001) || $0.name == "timedOut"
        }
    }
    package var isFailing: Bool {
        state != .mocked && (state == .failed || (closing?.closed.status).map { $0 >= 400 } == true)
    }
}

extension NaiveAnswers {
    /// The exchanges of a source whose openings are stored.
    func exchanges(of source: Int) -> [NaiveExchange] {
        facts[source].compactMap { fact in
            guard case .exchangeOpened(let opened) = fact.content else { return nil }
            var closing: (Fact, Fact.ExchangeClosed)?
            var part: Fact.Opened?
            for other in facts[source] where other.part == fact.part || other.sequence == fact.part {
                if case .exchangeClosed(let closed) = other.content, closed.exchange == fact.sequence {
                    closing = (other, closed)
                }
                if case .opened(let opened) = other.content { part = opened }
            }
            return NaiveExchange(
                source: source, id: FactID(source: histories[source].source.id, sequence: fact.sequence), fact: fact,
                opened: opened,
                closing: closing, state: state(of: closing?.1, in: source), wall: wall(fact.atMicroseconds, source),
                transaction: part?.transaction, useCase: part?.useCase)
        }
    }

    private func state(of closed: Fact.ExchangeClosed?, in source: Int) -> ExchangeRecord.State {
        switch closed?.state {
        case nil: histories[source].hasEnded ? .interrupted : .inProgress
        case .completed: closed?.transfer.isMocked == true ? .mocked : .completed
        case .failed: .failed
        case .cancelled: .cancelled
        }
    }
}
