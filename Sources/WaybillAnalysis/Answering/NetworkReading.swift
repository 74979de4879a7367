import WaybillCore
import WaybillReading
import WaybillStore

/// Answers a ``NetworkQuery``: reads each exchange once.
struct NetworkReading {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    func answer(_ query: NetworkQuery, now wall: Int) throws(WaybillError) -> NetworkAnswer {
        let sources = try AskedSources(connection)
        var groups: [NetworkKey: CollectedExchanges] = [:]
        try ExchangeList(query.filter, of: query.transactions, now: wall, connection).forEachRow(AskedExchange.columns) { row in
            let exchange = AskedExchange(row, sources)
            let key = NetworkKey(exchange, query.grouping)
            groups[key, default: CollectedExchanges(exampleCount: max(0, query.exampleCount))].add(exchange)
        }
        var answer = NetworkAnswer(exchanges: groups.values.map(\.count).reduce(0, +), groups: [])
        let order = groups.map { key, collected in (key: key, count: collected.count) }
        for (key, _) in order.sorted(by: { $0.count == $1.count ? $0.key < $1.key : $0.count > $1.count }) {
            // Taken out, so that its durations are in memory once.
            guard var collected = groups.removeValue(forKey: key) else { continue }
            answer.groups.append(collected.group(key))
        }
        return answer
    }
}

/// What the exchanges of a group have in common.
struct NetworkKey: Hashable, Comparable {
    var host, path, method: String?
    var role: Fact.Role

    init(_ exchange: AskedExchange, _ grouping: NetworkQuery.Grouping) {
        // RFC 9110, section 4.2.3: a host is the same in any case.
        host = exchange.host?.lowercased()
        path = grouping == .host ? nil : PathTemplate(exchange.path).description
        method = grouping == .method ? exchange.method : nil
        role = exchange.role
    }

    static func < (left: NetworkKey, right: NetworkKey) -> Bool {
        guard left.host == right.host else { return Segmentation.precedes(left.host, right.host) }
        return (left.path ?? "", left.method ?? "", left.role.rawValue) < (right.path ?? "", right.method ?? "", right.role.rawValue)
    }
}
