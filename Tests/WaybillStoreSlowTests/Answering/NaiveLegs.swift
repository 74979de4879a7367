import WaybillCore

@testable import WaybillAnalysis
@testable import WaybillStore
@testable import WaybillStoreTests

/// Divides transactions by looking at each microsecond of them, and finds offsets by trying all that come into question.
struct NaiveLegs {
    let answers: NaiveAnswers

    struct Exchange {
        var client: Int
        var sequence: Int
        var opened: Int
        var closed: Int?
        /// First byte or close of a completed one.
        var responded: Int?
        /// The one part that names it, and when that server had answered.
        var server: (source: Int, opened: Int, answered: Int)?
    }

    struct Division {
        var legs: [Leg: Int] = [:]
        var uncertainties: [Int] = []
        var duration = 0
    }

    private var histories: [SourceHistory] { answers.histories }

    // MARK: Exchanges

    /// Those of a client that belong to a transaction.
    func exchanges(of client: Int) -> [(part: Int, exchange: Exchange)] {
        let facts = histories[client].sentFacts
        var found: [(part: Int, exchange: Exchange)] = []
        for fact in facts {
            guard case .exchangeOpened(let opened) = fact.content, opened.role == .client, let guid = guid(of: fact.part, in: client) else {
                continue
            }
            var exchange = Exchange(client: client, sequence: fact.sequence, opened: fact.atMicroseconds)
            for other in facts {
                guard case .exchangeClosed(let closed) = other.content, closed.exchange == fact.sequence else { continue }
                exchange.closed = other.atMicroseconds
                if closed.state == .completed { exchange.responded = closed.firstByteAtMicroseconds ?? other.atMicroseconds }
            }
            var parts: [(source: Int, fact: Fact)] = []
            for (source, history) in histories.enumerated() {
                for other in history.sentFacts {
                    guard case .opened(let content) = other.content, content.transaction == guid else { continue }
                    if content.cause == Fact.ID(source: histories[client].source.id, sequence: fact.sequence) {
                        parts.append((source, other))
                    }
                }
            }
            if parts.count == 1, let answered = answer(of: parts[0].fact.sequence, in: parts[0].source) {
                exchange.server = (parts[0].source, parts[0].fact.atMicroseconds, answered)
            }
            found.append((fact.part, exchange))
        }
        return found
    }

    private func guid(of part: Int, in source: Int) -> GUID? {
        for fact in histories[source].sentFacts where fact.sequence == part {
            if case .opened(let opened) = fact.content { return opened.transaction }
        }
        return nil
    }

    private func answer(of part: Int, in source: Int) -> Int? {
        let facts = histories[source].sentFacts.filter { $0.part == part }
        let own = facts.compactMap { fact -> Int? in
            if case .exchangeOpened(let opened) = fact.content, opened.role == .server { fact.sequence } else { nil }
        }
        let ends = facts.compactMap { fact -> Int? in
            if case .exchangeClosed(let closed) = fact.content, own.contains(closed.exchange) { fact.atMicroseconds } else { nil }
        }
        let close = facts.first { fact in if case .closed = fact.content { true } else { false } }
        return ends.min() ?? close?.atMicroseconds
    }

    // MARK: Offsets

    /// The least and the greatest offset that an exchange allows, at a time so far away.
    private func bounds(_ exchange: Exchange, away distance: Int?) -> ClosedRange<Int>? {
        guard let server = exchange.server, let responded = exchange.responded, responded >= exchange.opened else { return nil }
        let (low, high) = (exchange.opened - server.opened - 1, responded - server.answered + 1)
        guard low <= high else { return nil }
        let drift = drift(responded - exchange.opened) + (distance.map(drift) ?? 0)
        return low - drift...high + drift
    }

    private func drift(_ microseconds: Int) -> Int { microseconds / 10_000 + 1 }

    /// By all other exchanges of the two, from the nearest to the last that does not contradict a nearer one; and by itself.
    func offsets(_ exchange: Exchange, _ all: [Exchange]) -> ClosedRange<Int>? {
        guard let server = exchange.server else { return nil }
        let earlier = all.filter { ($0.opened, $0.sequence) < (exchange.opened, exchange.sequence) }
        let others = all.filter { $0.sequence != exchange.sequence && $0.server?.source == server.source && bounds($0, away: nil) != nil }
            .map { other in
                let isEarlier = earlier.contains { $0.sequence == other.sequence }
                let rank = all.count { ($0.opened, $0.sequence) < (other.opened, other.sequence) }
                return (
                    other: other, distance: abs(other.opened - exchange.opened), isLater: isEarlier ? 0 : 1, rank: isEarlier ? -rank : rank
                )
            }
            .filter { $0.distance <= 600_000_000 }
            .sorted { ($0.distance, $0.isLater, $0.rank) < ($1.distance, $1.isLater, $1.rank) }
        var best: ClosedRange<Int>?
        for count in 3...max(3, min(64, others.count)) where count <= others.count {
            let ranges = others.prefix(count).compactMap { bounds($0.other, away: $0.distance) }
            guard let low = ranges.map(\.lowerBound).max(), let high = ranges.map(\.upperBound).min(), low <= high else { break }
            best = low...high
        }
        guard let best else { return nil }
        let length = drift(max(0, (exchange.closed ?? exchange.opened) - exchange.opened))
        let around = best.lowerBound - length...best.upperBound + length
        guard let own = bounds(exchange, away: nil) else { return around }
        return around.overlaps(own) ? around.clamped(to: own) : nil
    }

    // MARK: Legs

    /// nil where the transaction is not divided.
    func divide(_ run: NaiveAnswers.Run) -> Division? {
        guard let closing = run.closing else { return nil }
        let exchanges = exchanges(of: run.leader.source)
        let (begin, end) = (run.leader.fact.atMicroseconds, max(run.leader.fact.atMicroseconds, closing.fact.atMicroseconds))
        let own = exchanges.filter { $0.part == run.leader.fact.sequence && $0.exchange.opened <= end }.map(\.exchange)
        guard !own.isEmpty else { return nil }
        var division = Division(duration: end - begin)
        var shares: [(leg: Leg, from: Int, to: Int)] = []
        for exchange in own {
            guard let closed = exchange.closed, let server = exchange.server else {
                shares.append((.exchange, exchange.opened, max(exchange.opened, exchange.closed ?? end)))
                continue
            }
            let taken = min(max(0, server.answered - server.opened), closed - exchange.opened)
            let offsets = offsets(exchange, exchanges.map(\.exchange))
            var arrival = exchange.opened + (closed - exchange.opened - taken) / 2
            if let offsets {
                let middle = offsets.lowerBound + (offsets.upperBound - offsets.lowerBound) / 2
                arrival = min(max(exchange.opened, server.opened + middle), closed - taken)
                division.uncertainties.append(offsets.upperBound - middle)
            }
            shares.append((offsets == nil ? .network : .request, exchange.opened, arrival))
            shares.append((.server, arrival, arrival + taken))
            shares.append((offsets == nil ? .network : .response, arrival + taken, closed))
        }
        for share in shares { division.legs[share.leg, default: 0] += 0 }
        division.legs[.clientBefore] = 0
        division.legs[.clientAfter] = 0
        let first = shares.map(\.from).min() ?? begin
        let last = shares.map(\.to).max() ?? end
        for moment in begin..<end {
            let here = Set(shares.filter { $0.from <= moment && moment < $0.to }.map(\.leg))
            let leg =
                [Leg.server, .request, .response, .network, .exchange].first(where: here.contains)
                ?? (moment < first ? .clientBefore : moment >= last ? .clientAfter : .clientBetween)
            division.legs[leg, default: 0] += 1
        }
        return division
    }
}
