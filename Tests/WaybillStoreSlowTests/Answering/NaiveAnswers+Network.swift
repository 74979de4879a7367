import TestSupport
import WaybillCore
import WaybillReading

@testable import WaybillStoreTests

/// Exchanges by brute force.
extension NaiveAnswers {
    struct NaiveExchange {
        var source: Int
        var fact: Fact
        var opened: Fact.ExchangeOpened
        var closing: (fact: Fact, closed: Fact.ExchangeClosed)?
        var state: ExchangeRecord.State
        var wall: Int
        var transaction: GUID?

        var whole: Int? { state == .completed ? closing.map { $0.fact.atMicroseconds - fact.atMicroseconds } : nil }
        var firstByte: Int? { state == .mocked ? nil : closing?.closed.firstByteAtMicroseconds.map { $0 - fact.atMicroseconds } }
        var isFailing: Bool { state != .mocked && (state == .failed || (closing?.closed.status).map { $0 >= 400 } == true) }
    }

    var exchanges: [NaiveExchange] {
        histories.enumerated().flatMap { source, history in
            history.sentFacts.compactMap { fact -> NaiveExchange? in
                guard case .exchangeOpened(let opened) = fact.content else { return nil }
                var closing: (Fact, Fact.ExchangeClosed)?
                for other in history.sentFacts {
                    if case .exchangeClosed(let closed) = other.content, closed.exchange == fact.sequence { closing = (other, closed) }
                }
                var transaction: GUID?
                for other in history.sentFacts where other.sequence == fact.part {
                    if case .opened(let part) = other.content { transaction = part.transaction }
                }
                let state: ExchangeRecord.State =
                    switch closing?.1.state {
                    case nil: history.hasEnded ? .interrupted : .inProgress
                    case .completed: closing?.1.transfer.isMocked == true ? .mocked : .completed
                    case .failed: .failed
                    case .canceled: .canceled
                    }
                return NaiveExchange(
                    source: source, fact: fact, opened: opened, closing: closing, state: state, wall: wall(fact.atMicroseconds, source),
                    transaction: transaction)
            }
        }
    }

    func id(_ exchange: NaiveExchange) -> Fact.ID {
        Fact.ID(source: histories[exchange.source].source.id, sequence: exchange.fact.sequence)
    }
}

/// Gives the exchanges of histories all that a question about the network tells apart.
struct NetworkMixer {
    var random: RandomNumbers

    /// Paths, and how they look with their IDs folded.
    static let paths = [
        "/login": "/login", "/users/1": "/users/{id}", "/users/22": "/users/{id}", "/users/9f3c21d7": "/users/{id}",
        "/log/2026-03-01": "/log/{date}",
    ]

    mutating func mix(_ histories: [SourceHistory]) -> [SourceHistory] {
        var histories = histories
        for history in histories.indices {
            for fact in histories[history].facts.indices {
                switch histories[history].facts[fact].content {
                case .exchangeOpened(var opened):
                    opened.path = Self.paths.keys.sorted().randomElement(using: &random) ?? "/"
                    opened.host = [nil, "api.example.com", "API.example.com", "cdn.example.com"].randomElement(using: &random) ?? nil
                    opened.method = random.oneIn(3) ? "GET" : "POST"
                    histories[history].facts[fact].content = .exchangeOpened(opened)
                case .exchangeClosed(var closed):
                    closed.state = Fact.ExchangeState.allCases.randomElement(using: &random) ?? .failed
                    closed.status = [nil, 101, 200, 204, 304, 399, 400, 404, 500, 599, 600].randomElement(using: &random) ?? nil
                    closed.sentByteCount = random.oneIn(2) ? Int.random(in: 0...9_000, using: &random) : nil
                    closed.receivedByteCount = random.oneIn(2) ? Int.random(in: 0...9_000, using: &random) : nil
                    if random.oneIn(2) {
                        closed.error = RecordedError(domain: random.oneIn(2) ? "" : "D", code: random.oneIn(2) ? 1 : 2, text: "try \(fact)")
                    }
                    histories[history].facts[fact].content = .exchangeClosed(closed)
                default: break
                }
            }
        }
        return histories
    }
}
