import WaybillCore
import WaybillReading

/// One transaction's time, divided into legs as ``LegsQuestion`` says.
struct LegsDivision {
    /// Those that it has; they add up to its duration. nil: it has none.
    private(set) var legs = LegTimes()
    /// One for each exchange whose request and response are told apart.
    private(set) var uncertainties: [Int64] = []

    private let span: ClosedRange<Int64>
    private var borders: [Border] = []

    /// Where a stretch of time begins or ends.
    private struct Border {
        var time: Int64
        var leg: Leg
        /// 1 where it begins, -1 where it ends.
        var change: Int64
    }

    /// - Parameters:
    ///   - span: From the opening of the leading part to its close, by its own clock.
    ///   - exchanges: Of the leading part, and what they say.
    /// - Returns: nil where none was opened within the span.
    init?(_ span: ClosedRange<Int64>, _ exchanges: ArraySlice<TiedExchange>, _ known: OffsetExchanges) {
        self.span = span
        // Three stretches of each at most.
        borders.reserveCapacity(6 * exchanges.count)
        var sending: ClosedRange<Int64>?
        for exchange in exchanges where exchange.opened <= span.upperBound {
            let (opened, closed) = add(exchange, known)
            let whole = clip(opened)...clip(closed)
            sending =
                sending.map { min($0.lowerBound, whole.lowerBound)...max($0.upperBound, whole.upperBound) } ?? whole
        }
        guard let sending else { return nil }
        legs[.clientBefore] = sending.lowerBound - span.lowerBound
        legs[.clientAfter] = span.upperBound - sending.upperBound
        let between = sending.upperBound - sending.lowerBound - sweep()
        if between > 0 { legs[.clientBetween] = between }
    }

    /// Adds the stretches of an exchange, and returns where it begins and ends.
    private mutating func add(_ exchange: TiedExchange, _ known: OffsetExchanges) -> (Int64, Int64) {
        let opened = exchange.opened
        let closed = max(opened, exchange.closed ?? span.upperBound)
        guard let server = exchange.server, exchange.closed != nil else {
            add(.exchange, from: opened, to: closed)
            return (opened, closed)
        }
        let duration = min(server.duration, closed - opened)
        guard let estimate = known.estimate(for: exchange) else {
            let arrival = opened + (closed - opened - duration) / 2
            add(.network, from: opened, to: arrival)
            add(.server, from: arrival, to: arrival + duration)
            add(.network, from: arrival + duration, to: closed)
            return (opened, closed)
        }
        uncertainties.append(estimate.interval.uncertainty)
        // The server's share lies within, even where the clocks say otherwise.
        let arrival = min(max(opened, server.opened + estimate.interval.middle), closed - duration)
        add(.request, from: opened, to: arrival)
        add(.server, from: arrival, to: arrival + duration)
        add(.response, from: arrival + duration, to: closed)
        return (opened, closed)
    }

    private mutating func add(_ leg: Leg, from start: Int64, to end: Int64) {
        // Also one of no length is there.
        legs[leg, default: 0] += 0
        borders.append(Border(time: clip(start), leg: leg, change: 1))
        borders.append(Border(time: clip(end), leg: leg, change: -1))
    }

    private func clip(_ time: Int64) -> Int64 { min(max(time, span.lowerBound), span.upperBound) }

    /// Goes through the stretches in order of time, and gives each moment to one leg.
    ///
    /// - Returns: How much was given away.
    private mutating func sweep() -> Int64 {
        borders.sort { $0.time < $1.time }
        var open = LegTimes()
        var last = span.lowerBound
        var given: Int64 = 0
        for border in borders {
            if border.time > last, let leg = Self.precedence.first(where: { open[$0, default: 0] > 0 }) {
                legs[leg, default: 0] += border.time - last
                given += border.time - last
            }
            last = border.time
            open[border.leg, default: 0] += border.change
        }
        return given
    }

    private static let precedence: [Leg] = [.server, .request, .response, .network, .exchange]
}
