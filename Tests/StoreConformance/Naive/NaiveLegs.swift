import WaybillCore
package import WaybillQueries

/// Divides transactions by examining each stretch without a change, and finds offsets by trying all candidates.
package struct NaiveLegs {
    package let answers: NaiveAnswers

    struct Exchange {
        var part, sequence: Int64
        var opened: Int64
        var closed: Int64?
        /// The first byte or the close of a completed exchange.
        var responded: Int64?
        /// The only part that names it as its cause, and the time when that server had answered.
        var server: (part: NaiveAnswers.Part, answered: Int64)?
    }

    package struct Division {
        package var legs: [Leg: Int64] = [:]
        package var uncertainties: [Int64] = []
        package var duration: Int64 = 0
    }

    package init(answers: NaiveAnswers) { self.answers = answers }

    // MARK: Exchanges

    /// The exchanges of a client that belong to a transaction.
    func exchanges(of client: Int) -> [Exchange] {
        answers.exchanges.filter { $0.source == client && $0.opened.role == .client && $0.transaction != nil }.map {
            exchange in
            let closed = exchange.closing?.fact.atMicroseconds
            let caused =
                answers.runs.first { $0.id == exchange.transaction }?.parts.filter { $0.opened.cause == exchange.id }
                ?? []
            return Exchange(
                part: exchange.fact.part, sequence: exchange.fact.sequence, opened: exchange.fact.atMicroseconds,
                closed: closed,
                responded: exchange.closing?.closed.state == .completed
                    ? exchange.closing?.closed.firstByteAtMicroseconds ?? closed : nil,
                server: caused.count == 1 ? answered(caused[0]).map { (caused[0], $0) } : nil)
        }
    }

    private func answered(_ part: NaiveAnswers.Part) -> Int64? {
        let own = answers.exchanges.filter {
            $0.source == part.source && $0.fact.part == part.fact.sequence && $0.opened.role == .server
        }
        return own.compactMap { $0.closing?.fact.atMicroseconds }.min() ?? part.closing?.fact.atMicroseconds
    }

    // MARK: Offsets

    /// The least and the greatest offset that an exchange allows, at a time `distance` away.
    private func bounds(_ exchange: Exchange, away distance: Int64?) -> ClosedRange<Int64>? {
        guard let server = exchange.server, let responded = exchange.responded, responded >= exchange.opened else {
            return nil
        }
        let (low, high) = (exchange.opened - server.part.fact.atMicroseconds - 1, responded - server.answered + 1)
        guard low <= high else { return nil }
        let drift = drift(responded - exchange.opened) + (distance.map(drift) ?? 0)
        return low - drift...high + drift
    }

    private func drift(_ microseconds: Int64) -> Int64 { microseconds / 10_000 + 1 }

    /// The offsets from all other exchanges of the two sources, from the nearest to the last that contradicts no nearer
    /// one, and from the exchange itself.
    func offsets(_ exchange: Exchange, _ all: [Exchange]) -> (range: ClosedRange<Int64>, sampleCount: Int)? {
        guard let server = exchange.server else { return nil }
        let earlier = all.filter { ($0.opened, $0.sequence) < (exchange.opened, exchange.sequence) }
        let others = all.filter {
            $0.sequence != exchange.sequence && $0.server?.part.source == server.part.source
                && bounds($0, away: nil) != nil
        }.map { other in
            let isEarlier = earlier.contains { $0.sequence == other.sequence }
            let rank = all.count { ($0.opened, $0.sequence) < (other.opened, other.sequence) }
            return (
                other: other, distance: abs(other.opened - exchange.opened), isLater: isEarlier ? 0 : 1,
                rank: isEarlier ? -rank : rank
            )
        }
        .filter { $0.distance <= 600_000_000 }
        .sorted { ($0.distance, $0.isLater, $0.rank) < ($1.distance, $1.isLater, $1.rank) }
        var best: (range: ClosedRange<Int64>, sampleCount: Int)?
        for count in 3...max(3, min(64, others.count)) where count <= others.count {
            let ranges = others.prefix(count).compactMap { bounds($0.other, away: $0.distance) }
            guard let low = ranges.map(\.lowerBound).max(), let high = ranges.map(\.upperBound).min(), low <= high
            else { break }
            best = (low...high, count)
        }
        guard let best else { return nil }
        let length = drift(max(0, (exchange.closed ?? exchange.opened) - exchange.opened))
        let around = best.range.lowerBound - length...best.range.upperBound + length
        guard let own = bounds(exchange, away: nil) else { return (around, best.sampleCount) }
        return around.overlaps(own) ? (around.clamped(to: own), best.sampleCount) : nil
    }

    /// The offset from the clock of a part's source to the clock of the source whose exchange caused the part.
    func offset(of part: NaiveAnswers.Part, causedBy sequence: Int64, in client: Int) -> (
        range: ClosedRange<Int64>, sampleCount: Int
    )? {
        let all = exchanges(of: client)
        guard let exchange = all.first(where: { $0.sequence == sequence }), exchange.server?.part.id == part.id else {
            return nil
        }
        return offsets(exchange, all) ?? bounds(exchange, away: nil).map { ($0, 0) }
    }

    // MARK: Legs

    /// `nil` if the transaction is not divided.
    package func divide(_ run: NaiveAnswers.Run) -> Division? {
        guard let closing = run.closing else { return nil }
        let exchanges = exchanges(of: run.leader.source)
        let (begin, end) = (
            run.leader.fact.atMicroseconds, max(run.leader.fact.atMicroseconds, closing.fact.atMicroseconds)
        )
        let own = exchanges.filter { $0.part == run.leader.fact.sequence && $0.opened <= end }
        guard !own.isEmpty else { return nil }
        var division = Division(duration: end - begin)
        var shares: [(leg: Leg, from: Int64, to: Int64)] = []
        for exchange in own {
            guard let closed = exchange.closed.map({ max(exchange.opened, $0) }), let server = exchange.server else {
                shares.append((.exchange, exchange.opened, max(exchange.opened, exchange.closed ?? end)))
                continue
            }
            let opened = server.part.fact.atMicroseconds
            let taken = min(max(0, server.answered - opened), closed - exchange.opened)
            let offsets = offsets(exchange, exchanges)?.range
            var arrival = exchange.opened + (closed - exchange.opened - taken) / 2
            if let offsets {
                let middle = offsets.lowerBound + (offsets.upperBound - offsets.lowerBound) / 2
                arrival = min(max(exchange.opened, opened + middle), closed - taken)
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
        let borders = Set([begin, end] + shares.flatMap { [$0.from, $0.to] }).filter { $0 >= begin && $0 <= end }
            .sorted()
        for (moment, next) in zip(borders, borders.dropFirst()) {
            let here = Set(shares.filter { $0.from <= moment && moment < $0.to }.map(\.leg))
            let leg =
                [Leg.server, .request, .response, .network, .exchange].first(where: here.contains)
                ?? (moment < first ? .clientBefore : moment >= last ? .clientAfter : .clientBetween)
            division.legs[leg, default: 0] += next - moment
        }
        return division
    }
}
