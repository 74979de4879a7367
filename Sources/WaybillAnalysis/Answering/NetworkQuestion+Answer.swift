public import WaybillCore
import WaybillReading

/// Each exchange is read once.
extension NetworkQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> NetworkAnswer {
        let sources = try SourceDirectory(context.connection)
        var weights = Weights()
        var groups: [NetworkKey: CollectedExchanges] = [:]
        try ExchangeList(filter, of: transactions, now: context.now, context.connection).forEachRow(
            MeasuredExchange.columns
        ) { row in
            let exchange = MeasuredExchange(row, sources, now: context.now)
            weights.add(exchange.weight)
            let key = NetworkKey(exchange, grouping)
            groups[key, default: CollectedExchanges(exampleCount: max(0, exampleCount))].add(exchange)
        }
        var answer = NetworkAnswer(exchanges: groups.values.map(\.count).reduce(0, +), groups: [])
        let order = groups.map { key, collected in (key: key, count: collected.count) }
        for (key, _) in order.sorted(by: { $0.count == $1.count ? $0.key < $1.key : $0.count > $1.count }) {
            // Taken out, so that its durations are in memory once.
            guard var collected = groups.removeValue(forKey: key) else { continue }
            answer.groups.append(collected.group(key))
        }
        answer.weighed = weights.weighing
        if answer.exchanges == 0 { answer.whyEmpty = try whyNone(context) }
        return answer
    }

    private func whyNone(_ context: AnswerContext) throws(WaybillError) -> String {
        guard let transactions else { return try context.reader.whyEmpty(filter) }
        let exchanges = filter == ExchangeFilter() ? "an exchange" : "an exchange that passes the filter"
        return try context.whyNone(transactions) { "None of \($0) has \(exchanges)." }
    }
}

/// What the exchanges of a group have in common.
struct NetworkKey: Hashable, Comparable {
    var host, path, method: String?
    var role: Fact.Role

    init(_ exchange: MeasuredExchange, _ grouping: NetworkQuestion.Grouping) {
        // RFC 9110, section 4.2.3: a host is the same in any case.
        host = exchange.host?.lowercased()
        path = grouping == .host ? nil : PathTemplate(exchange.path).description
        method = grouping == .method ? exchange.method : nil
        role = exchange.role
    }

    static func < (left: NetworkKey, right: NetworkKey) -> Bool {
        guard left.host == right.host else { return Segmentation.precedes(left.host, right.host) }
        return (left.path ?? "", left.method ?? "", left.role.rawValue) < (
            right.path ?? "", right.method ?? "", right.role.rawValue
        )
    }
}
