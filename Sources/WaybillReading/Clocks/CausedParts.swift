package import WaybillCore
package import WaybillStore

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
