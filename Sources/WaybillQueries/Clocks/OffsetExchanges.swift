package import WaybillCore
package import WaybillStore

/// A client's exchange with the part that it caused.
package struct TiedExchange: Sendable {
    /// The sequence of its part, and its own.
    package var part: Int64
    var sequence: Int64
    /// By the client's clock.
    package var opened: Int64
    /// By the client's clock; nil while it is in progress.
    package var closed: Int64?
    /// When the response began, or else when it was whole; nil where none came.
    var responded: Int64?
    /// nil: none is known, or several are.
    package var server: Server?

    /// The server's share, by its own clock.
    package struct Server: Sendable {
        /// `sources.id`, or what else tells servers apart.
        package var source: Int64
        /// The sequence of its part.
        var part: Int64
        package var opened: Int64
        /// When it had made its response: the end of its own exchange, or without one of its part.
        var answered: Int64

        package var duration: Int64 { max(0, answered - opened) }
    }

    /// Whether it says something of the two clocks.
    package var isSample: Bool { interval != nil }

    /// What it says of the two clocks; nil where it says nothing.
    var interval: OffsetInterval? {
        guard let server, let responded, responded >= opened else { return nil }
        // Times are rounded down, so that each may be later by less than a microsecond.
        let interval = OffsetInterval(low: opened - server.opened - 1, high: responded - server.answered + 1)
        // A part that was closed after the response had gone says nothing.
        return interval.low <= interval.high ? interval.after(microseconds: responded - opened) : nil
    }
}

extension TiedExchange {
    /// Of the first six columns of a row; without its server.
    fileprivate init(_ row: Row) {
        (part, sequence, opened, closed) = (row.int(0), row.int(1), row.int(2), row.optionalInt(3))
        let isCompleted = row.int(5) == ExchangeState.completed.rawValue
        responded = isCompleted ? row.optionalInt(4) ?? closed : nil
    }
}

extension TiedExchange.Server {
    /// Of a part `q`.
    static let columns = """
        q.source, q.sequence, q.at_us, ifnull((SELECT min(x.closed_at_us) FROM network_logs x \
        WHERE x.source = q.source AND x.part = q.sequence AND x.role = 1), q.closed_at_us)
        """

    /// Of a row that begins with its columns; nil where it has not answered.
    init?(_ row: Row) {
        guard let answered = row.optionalInt(3) else { return nil }
        (source, part, opened, self.answered) = (row.int(0), row.int(1), row.int(2), answered)
    }
}

/// The exchanges of one client, each with the part that it caused, and what they say of its clock.
package struct OffsetExchanges {
    /// In order of (part, sequence).
    private(set) var exchanges: [TiedExchange] = []
    /// By what tells the servers apart.
    private let samples: [Int64: OffsetSamples]

    /// - Parameters:
    ///   - source: The client's `sources.id`.
    ///   - times: When they were opened, by the client's clock.
    ///   - caused: As for ``found(of:id:opened:among:_:)``.
    package init(
        of source: Int64, id: GUID, opened times: ClosedRange<Int64>, among caused: CausedParts? = nil,
        _ connection: Connection
    ) throws(WaybillError) {
        self.init(try Self.found(of: source, id: id, opened: times, among: caused, connection))
    }

    /// - Parameter found: Those of one client, in any order.
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

    /// Finds them.
    ///
    /// - Parameters:
    ///   - source: The client's `sources.id`.
    ///   - times: When they were opened, by the client's clock.
    ///   - caused: All parts that exchanges have caused, where they were read at once; nil: they are looked up.
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
                // Several parts name it.
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
        FROM network_logs l JOIN parts p ON p.source = l.source AND p.sequence = l.part\(join) \
        WHERE l.source = ?1 AND l.method IS NOT NULL AND l.role = 0 AND l.part > 0 AND l.at_us BETWEEN ?2 AND ?3
        """
    }

    private static let exchanges = sql("", "")
    private static let exchangesAndParts = sql(
        ", \(TiedExchange.Server.columns)",
        " LEFT JOIN parts q ON q.guid = p.guid AND q.cause = l.sequence AND q.cause_source = ?4")

    /// Those of a part, in order.
    package func exchanges(of part: Int64) -> ArraySlice<TiedExchange> {
        exchanges[exchanges[...].partitioningIndex { $0.part >= part }...].prefix { $0.part == part }
    }

    /// What other exchanges with the same server say of the clocks at the time of one, as far as it agrees itself; nil
    /// where they are too few.
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

/// The parts that exchanges of clients have caused, all of a store read at once: to look up those of each exchange takes
/// two thirds of the time of an answer about many.
package struct CausedParts: Sendable {
    /// 56 bytes: there may be millions.
    fileprivate struct Part: Sendable {
        var transaction: GUID
        /// Of the client's exchange.
        var exchange: Int64
        /// `sources.id` of the client and of the server: no file has room for more.
        var client, source: Int32
        var sequence, opened: Int64
        /// Least: it has not answered.
        var answered: Int64

        static func precedes(_ left: Part, _ right: Part) -> Bool {
            (left.client, left.exchange) < (right.client, right.exchange)
        }

        var server: TiedExchange.Server? {
            answered == .min
                ? nil : TiedExchange.Server(source: Int64(source), part: sequence, opened: opened, answered: answered)
        }
    }

    /// What each thread has read, by client and exchange.
    private let shares: [[Part]]

    /// - Parameter connections: That see the same state: each reads a share of every source, on a thread of its own.
    package init(by connections: [Connection]) throws(WaybillError) {
        let count = connections.count
        shares = try onThreads(count) { (number) throws(WaybillError) in
            // No sequence stands beyond what a source has recorded, and if one did, it would be the last one's.
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

    /// Those that exchanges of a client have caused.
    func parts(ofClient client: Int64) -> OfClient {
        OfClient(
            shares: shares.map { parts in
                let first = parts[...].partitioningIndex { $0.client >= client }
                return parts[first..<parts[first...].partitioningIndex { $0.client > client }]
            })
    }

    struct OfClient {
        fileprivate let shares: [ArraySlice<Part>]

        /// The server's share of an exchange in a transaction; nil: none is known, or several are.
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
    /// By bisection: the first place from which on all are so, of elements of which none before it is.
    func partitioningIndex(where isSo: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = (low + high) / 2
            if isSo(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
