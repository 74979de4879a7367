import WaybillCore
import WaybillStore

struct LegsDivision {
    private(set) var legs = LegTimes()
    private(set) var uncertainties: [Int64] = []

    private let span: ClosedRange<Int64>
    private var borders: [Border] = []

    private struct Border {
        var time: Int64
        var leg: Leg
        var change: Int64
    }

    init?(_ span: ClosedRange<Int64>, _ exchanges: ArraySlice<TiedExchange>, _ known: OffsetExchanges) {
        self.span = span
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
        // The server's share is within the exchange, even if the clocks contradict that.
        let arrival = min(max(opened, server.opened + estimate.interval.middle), closed - duration)
        add(.request, from: opened, to: arrival)
        add(.server, from: arrival, to: arrival + duration)
        add(.response, from: arrival + duration, to: closed)
        return (opened, closed)
    }

    private mutating func add(_ leg: Leg, from start: Int64, to end: Int64) {
        legs[leg, default: 0] += 0
        borders.append(Border(time: clip(start), leg: leg, change: 1))
        borders.append(Border(time: clip(end), leg: leg, change: -1))
    }

    private func clip(_ time: Int64) -> Int64 { min(max(time, span.lowerBound), span.upperBound) }

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

/// The times of the existing legs, stored inline because each transaction has one.
struct LegTimes {
    private var times = SIMD8<Int64>()
    private var isThere = SIMD8<Int64>()

    subscript(leg: Leg) -> Int64? {
        get { isThere[leg.place] == 0 ? nil : times[leg.place] }
        set {
            isThere[leg.place] = newValue == nil ? 0 : 1
            times[leg.place] = newValue ?? 0
        }
    }

    subscript(leg: Leg, default none: Int64) -> Int64 {
        get { self[leg] ?? none }
        set { self[leg] = newValue }
    }
}

extension Leg {
    /// Hashing the names for a dictionary took a third of the time of a division.
    var place: Int {
        switch self {
        case .clientBefore: 0
        case .request: 1
        case .server: 2
        case .response: 3
        case .network: 4
        case .exchange: 5
        case .clientBetween: 6
        case .clientAfter: 7
        }
    }
}

/// A store with only some transactions keeps them undivided: other stores may know more about the clocks.
package struct PartialLegs: Mergeable {
    var divided: Segments<CollectedLegs>
    var undivided: [GUID: UndividedLegs] = [:]

    package mutating func merge(_ other: consuming PartialLegs) {
        divided.merge(other.divided)
        undivided.merge(other.undivided)
    }

    consuming func all() -> Segments<CollectedLegs> {
        while let (_, client) = undivided.popFirst() { client.divide(into: &divided) }
        return divided
    }
}

/// The transactions and exchanges of a client. They are packed: there may be millions before all of them are known.
struct UndividedLegs: Mergeable {
    private var transactions = PackedNumbers()
    /// The transactions have their places here, from 1; 0: none.
    private var segments: [String] = []
    private var exchanges = PackedNumbers()
    private var servers: [GUID] = []

    mutating func add(
        _ transaction: TransactionCursor.Transaction, closedAt: Int64, segment: String?
    ) {
        add((transaction.sequence, transaction.span(until: closedAt), segment, transaction.weight))
    }

    private typealias Transaction = (sequence: Int64, span: ClosedRange<Int64>, segment: String?, weight: Int64)

    private mutating func add(_ transaction: Transaction) {
        var place = 0
        if let segment = transaction.segment {
            place = (segments.firstIndex(of: segment) ?? segments.endIndex) + 1
            if place > segments.count { segments.append(segment) }
        }
        transactions.append(transaction.sequence)
        transactions.append(transaction.span.lowerBound)
        transactions.append(transaction.span.upperBound &- transaction.span.lowerBound)
        transactions.append(transaction.weight &- Weights.one)
        transactions.append(Int64(place))
    }

    mutating func add(_ exchange: TransactionRow.Exchange, of client: GUID, in row: TransactionRow) {
        let cause = FactID(source: client, sequence: exchange.sequence)
        var tied = TiedExchange(exchange, ofPart: row.parts[exchange.part].sequence)
        var server: GUID?
        // Several parts may name this exchange as their cause.
        if let part = row.parts.firstIndex(where: { $0.cause == cause }),
            row.parts.lastIndex(where: { $0.cause == cause }) == part
        {
            (tied.server, server) = (row.server(part), row.sources[row.parts[part].source].id)
        }
        if tied.isSample || exchange.part == 0 && row.isChosen { add(tied, from: server) }
    }

    /// - Parameter server: The source of the exchange's server; `nil` for none.
    private mutating func add(_ exchange: TiedExchange, from server: GUID?) {
        var exchange = exchange
        if let server, exchange.server != nil {
            let place = servers.firstIndex(of: server) ?? servers.endIndex
            if place == servers.endIndex { servers.append(server) }
            exchange.server?.source = Int64(place)
        } else {
            exchange.server = nil
        }
        exchange.write(to: &exchanges)
    }

    mutating func merge(_ other: consuming UndividedLegs) {
        other.forEachTransaction { add($0) }
        var reader = other.exchanges.reader
        while let exchange = TiedExchange(from: &reader) {
            add(exchange, from: exchange.server.map { other.servers[Int($0.source)] })
        }
    }

    private func forEachTransaction(_ body: (Transaction) -> Void) {
        var reader = transactions.reader
        while let sequence = reader.next(), let start = reader.next(), let duration = reader.next(),
            let weight = reader.next(), let place = reader.next()
        {
            let segment = place == 0 ? nil : segments[Int(place) - 1]
            body((sequence, start...max(start, start &+ duration), segment, weight &+ Weights.one))
        }
    }

    func divide(into collected: inout Segments<CollectedLegs>) {
        var tied: [TiedExchange] = []
        var reader = exchanges.reader
        while let exchange = TiedExchange(from: &reader) { tied.append(exchange) }
        let known = OffsetExchanges(tied)
        forEachTransaction { (sequence, span, segment, weight) in
            let division = LegsDivision(span, known.exchanges(of: sequence), known)
            collected.add(to: segment) { $0.add(division, span.upperBound - span.lowerBound, weight: weight) }
        }
    }
}

/// Numbers of one to ten bytes each: small ones are short, as in Protocol Buffers (`sint64`).
struct PackedNumbers {
    fileprivate(set) var bytes: [UInt8] = []

    mutating func append(_ number: Int64) {
        var rest = UInt64(bitPattern: number << 1 ^ number >> 63)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    var reader: Reader { Reader(bytes: bytes[...]) }

    struct Reader {
        fileprivate var bytes: ArraySlice<UInt8>

        mutating func next() -> Int64? {
            var (number, shift): (UInt64, UInt64) = (0, 0)
            while let byte = bytes.popFirst() {
                number |= UInt64(byte & 0x7F) << shift
                shift += 7
                if byte < 0x80 { return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }
            }
            return nil
        }
    }
}

extension TiedExchange {
    fileprivate func write(to numbers: inout PackedNumbers) {
        numbers.append((closed == nil ? 0 : 1) + (responded == nil ? 0 : 2) + (server == nil ? 0 : 4))
        numbers.append(part)
        numbers.append(sequence &- part)
        numbers.append(opened)
        for time in [closed, responded] { time.map { numbers.append($0 &- opened) } }
        guard let server else { return }
        numbers.append(server.source)
        numbers.append(server.part)
        numbers.append(server.opened)
        numbers.append(server.answered &- server.opened)
    }

    fileprivate init?(from numbers: inout PackedNumbers.Reader) {
        guard let kind = numbers.next() else { return nil }
        func number(_ isThere: Bool = true) -> Int64? { isThere ? numbers.next() : nil }
        guard let part = number(), let offset = number(), let opened = number() else { return nil }
        self.init(
            part: part, sequence: part &+ offset, opened: opened, closed: number(kind & 1 != 0).map { opened &+ $0 })
        responded = number(kind & 2 != 0).map { opened &+ $0 }
        guard kind & 4 != 0, let source = number(), let part = number(), let arrived = number(), let took = number()
        else { return }
        server = Server(source: source, part: part, opened: arrived, answered: arrived &+ took)
    }
}

extension TiedExchange {
    init(_ exchange: TransactionRow.Exchange, ofPart part: Int64) {
        self.init(part: part, sequence: exchange.sequence, opened: exchange.at, closed: exchange.closedAt)
        let isCompleted = exchange.state == .completed || exchange.state == .mocked
        responded = isCompleted ? exchange.firstByteAt ?? closed : nil
    }
}

extension TransactionRow {
    /// The server's share in an exchange, with no number of its source; `nil` without an end.
    fileprivate func server(_ part: Int) -> TiedExchange.Server? {
        let ends = exchanges.lazy.filter { $0.part == part && $0.role == .server }.compactMap(\.closedAt)
        guard let answered = ends.min() ?? parts[part].closedAt else { return nil }
        return TiedExchange.Server(
            source: 0, part: parts[part].sequence, opened: parts[part].at, answered: answered)
    }
}

extension LegsQuestion {
    /// Rows besides the chosen ones tell about the clocks.
    func undivided(_ context: AnswerContext) throws(WaybillError) -> Folded<PartialLegs> {
        let rows = if let rows = context.rows { rows } else { try context.reader.transactionRows() }
        var context = context
        // A copy of all rows takes long.
        if !rows.allSatisfy(\.isChosen) { context.rows = rows.filter(\.isChosen) }
        let all = try EventCursor(self, reading: .times, context)
        let values = all.transactions.segmentValues
        let none = PartialLegs(divided: Segments(CollectedLegs(), values))
        var folded = try context.fold(all, into: none) { (events, collected) throws(WaybillError) in
            let sources = events.sources
            try events.transactions.forEach { transaction, _ in
                guard let closing = transaction.closing, let source = sources.id(of: transaction.source) else {
                    return collected.divided.add(transaction) { $0.withoutEnd.addWeight(transaction.weight) }
                }
                let segment = transaction.segment.map { values[$0] }
                collected.undivided[source, default: UndividedLegs()].add(
                    transaction, closedAt: closing.at, segment: segment)
            }
        }
        for index in rows.indices {
            for exchange in rows[index].exchanges where exchange.role == .client {
                let client = rows[index].sources[rows[index].parts[exchange.part].source].id
                folded.collected.undivided[client, default: UndividedLegs()].add(exchange, of: client, in: rows[index])
            }
        }
        return folded
    }
}

extension TransactionCursor.Transaction {
    /// The closing may be before the opening, because threads take times and sequences in different order.
    func span(until closing: Int64) -> ClosedRange<Int64> { at...max(at, closing) }
}
