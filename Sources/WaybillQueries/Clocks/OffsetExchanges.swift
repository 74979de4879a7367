package import WaybillCore
package import WaybillStore

package struct TiedExchange: Sendable {
    package var part: Int64
    var sequence: Int64
    package var opened: Int64
    package var closed: Int64?
    /// The first byte of the response, or its end if that is unknown; `nil` without a response.
    var responded: Int64?
    /// `nil` if no part is known, or several are.
    package var server: Server?

    package struct Server: Sendable {
        package var source: Int64
        var part: Int64
        package var opened: Int64
        var answered: Int64

        package var duration: Int64 { max(0, answered - opened) }
    }

    package var isSample: Bool { interval != nil }

    var interval: OffsetInterval? {
        guard let server, let responded, responded >= opened else { return nil }
        // Times are rounded down: each may be up to a microsecond later.
        let interval = OffsetInterval(low: opened - server.opened - 1, high: responded - server.answered + 1)
        // A part that closed after its response was sent bounds nothing.
        return interval.low <= interval.high ? interval.after(microseconds: responded - opened) : nil
    }
}

extension TiedExchange {
    fileprivate init(_ row: Row) {
        (part, sequence, opened, closed) = (row.int(0), row.int(1), row.int(2), row.optionalInt(3))
        let isCompleted = row.int(5) == ExchangeState.completed.rawValue
        responded = isCompleted ? row.optionalInt(4) ?? closed : nil
    }
}

extension TiedExchange.Server {
    static let columns = """
        q.source, q.sequence, q.at_us, ifnull((SELECT min(x.closed_at_us) FROM exchanges x \
        WHERE x.source = q.source AND x.part = q.sequence AND x.role = 1), q.closed_at_us)
        """

    init?(_ row: Row) {
        guard let answered = row.optionalInt(3) else { return nil }
        (source, part, opened, self.answered) = (row.int(0), row.int(1), row.int(2), answered)
    }
}

package struct OffsetExchanges {
    private(set) var exchanges: [TiedExchange] = []
    private let samples: [Int64: OffsetSamples]

    package init(
        of source: Int64, id: GUID, opened times: ClosedRange<Int64>, among caused: CausedParts? = nil,
        _ connection: Connection
    ) throws(WaybillError) {
        self.init(try Self.found(of: source, id: id, opened: times, among: caused, connection))
    }

    package init(_ found: [TiedExchange]) {
        var samples: [Int64: [OffsetSamples.Sample]] = [:]
        for exchange in found {
            guard let server = exchange.server, let interval = exchange.interval else { continue }
            samples[server.source, default: []].append(
                OffsetSamples.Sample(at: exchange.opened, sequence: exchange.sequence, interval: interval))
        }
        self.samples = samples.mapValues(OffsetSamples.init)
        exchanges = found.sorted { ($0.part, $0.sequence) < ($1.part, $1.sequence) }
    }

    package static func found(
        of source: Int64, id: GUID, opened times: ClosedRange<Int64>, among caused: CausedParts? = nil,
        _ connection: Connection
    ) throws(WaybillError) -> [TiedExchange] {
        var found: [TiedExchange] = []
        if let caused {
            let its = caused.parts(ofClient: source)
            try connection.statement(Self.exchanges).forEachRow(source, times.lowerBound, times.upperBound) { row in
                var exchange = TiedExchange(row)
                exchange.server = row.optionalGUID(6).flatMap { its.server(of: exchange.sequence, in: $0) }
                found.append(exchange)
            }
            return found
        }
        try connection.statement(Self.exchangesAndParts).forEachRow(
            source, times.lowerBound, times.upperBound, id
        ) { row in
            if let last = found.last, last.part == row.int(0), last.sequence == row.int(1) {
                // Several parts name this exchange as their cause.
                found[found.count - 1].server = nil
                return
            }
            var exchange = TiedExchange(row)
            exchange.server = TiedExchange.Server(row.dropFirst(7))
            found.append(exchange)
        }
        return found
    }

    private static func sql(_ columns: String, _ join: String) -> String {
        """
        SELECT l.part, l.sequence, l.at_us, l.closed_at_us, l.first_byte_us, l.state, p.guid\(columns) \
        FROM exchanges l JOIN parts p ON p.source = l.source AND p.sequence = l.part\(join) \
        WHERE l.source = ?1 AND l.method IS NOT NULL AND l.role = 0 AND l.part > 0 AND l.at_us BETWEEN ?2 AND ?3
        """
    }

    private static let exchanges = sql("", "")
    private static let exchangesAndParts = sql(
        ", \(TiedExchange.Server.columns)",
        " LEFT JOIN parts q ON q.guid = p.guid AND q.cause = l.sequence AND q.cause_source = ?4")

    package func exchanges(of part: Int64) -> ArraySlice<TiedExchange> {
        exchanges[exchanges[...].partitioningIndex { $0.part >= part }...].prefix { $0.part == part }
    }

    package func estimate(for exchange: TiedExchange) -> OffsetEstimate? {
        guard let server = exchange.server,
            let others = samples[server.source]?.estimate(at: exchange.opened, besides: exchange.sequence)
        else { return nil }
        let length = max(0, (exchange.closed ?? exchange.opened) - exchange.opened)
        let around = OffsetEstimate(
            interval: others.interval.after(microseconds: length), sampleCount: others.sampleCount)
        guard let own = exchange.interval else { return around }
        return around.interval.intersection(own).map { OffsetEstimate(interval: $0, sampleCount: around.sampleCount) }
    }
}

/// Looking up each part would take two thirds of the time of a large answer.
package struct CausedParts: Sendable {
    /// It takes only 56 bytes, because there may be millions.
    fileprivate struct Part: Sendable {
        var transaction: GUID
        var exchange: Int64
        /// `sources.id` of the client and of the server. No file has room for more than 32 bits of them.
        var client, source: Int32
        var sequence, opened: Int64
        var answered: Int64

        static func precedes(_ left: Part, _ right: Part) -> Bool {
            (left.client, left.exchange) < (right.client, right.exchange)
        }

        var server: TiedExchange.Server? {
            answered == .min
                ? nil : TiedExchange.Server(source: Int64(source), part: sequence, opened: opened, answered: answered)
        }
    }

    private let shares: [[Part]]

    package init(by connections: [Connection]) throws(WaybillError) {
        let count = connections.count
        shares = try onThreads(count) { (number) throws(WaybillError) in
            // The last connection also reads sequences beyond `recorded`, although there should be none.
            try connections[number].statement(Self.sql).rows(
                number, number + 1, count, number + 1 == count ? Int64.max : 0
            ) { row in
                Part(
                    transaction: row.guid(2), exchange: row.int(1), client: Int32(clamping: row.int(0) as Int64),
                    source: Int32(clamping: row.int(3) as Int64), sequence: row.int(4), opened: row.int(5),
                    answered: row.optionalInt(6) ?? .min)
            }.sorted(by: Part.precedes)  // which also takes no more room than they need
        }
    }

    private static let sql = """
        SELECT c.id, q.cause, q.guid, \(TiedExchange.Server.columns) \
        FROM sources s CROSS JOIN parts q ON q.source = s.id AND q.sequence > s.recorded / ?3 * ?1 \
        AND q.sequence <= max(s.recorded / ?3 * ?2, ?4) CROSS JOIN sources c ON c.uuid = q.cause_source \
        WHERE q.cause IS NOT NULL AND q.guid IS NOT NULL
        """

    func parts(ofClient client: Int64) -> OfClient {
        OfClient(
            shares: shares.map { parts in
                let first = parts[...].partitioningIndex { $0.client >= client }
                return parts[first..<parts[first...].partitioningIndex { $0.client > client }]
            })
    }

    struct OfClient {
        fileprivate let shares: [ArraySlice<Part>]

        func server(of exchange: Int64, in transaction: GUID) -> TiedExchange.Server? {
            var found: Part?
            for parts in shares {
                let first = parts.partitioningIndex { $0.exchange >= exchange }
                for part in parts[first...].prefix(while: { $0.exchange == exchange })
                where part.transaction == transaction {
                    guard found == nil else { return nil }
                    found = part
                }
            }
            return found?.server
        }
    }
}

extension ArraySlice {
    /// The first index whose element satisfies the predicate, by bisection. All later elements must satisfy it, too.
    func partitioningIndex(where isSo: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if isSo(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
