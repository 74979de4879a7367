public import WaybillCore
import WaybillReading
import WaybillStore

/// Each exchange is read once.
extension NetworkQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> NetworkAnswer {
        try answer(partial(from: context))
    }

    package func partial(from context: AnswerContext) throws(WaybillError) -> GroupedExchanges {
        let sources = try SourceDirectory(context.connection)
        var found = GroupedExchanges()
        let sampled = Int64(max(filter.sampledOneIn, transactions?.sampledOneIn ?? 1))
        try ExchangeList(filter, of: transactions, now: context.now, context.connection).forEachRow(
            MeasuredExchange.columns
        ) { row in
            var exchange = MeasuredExchange(row, sources, now: context.now)
            exchange.weight *= sampled
            found.weights.add(exchange.weight)
            let key = NetworkKey(exchange, grouping)
            found.groups[key, default: CollectedExchanges(exampleCount: max(0, exampleCount))].add(exchange)
        }
        // Of interest only where nothing counts, here and elsewhere.
        guard found.groups.values.allSatisfy({ $0.count == 0 }) else { return found }
        found.count = try context.reader.exchangeCount()
        found.asked = try transactions.map { transactions throws(WaybillError) in
            try AskedTransactions(counting: transactions, context)
        }
        return found
    }

    package func answer(_ found: consuming GroupedExchanges) throws(WaybillError) -> NetworkAnswer {
        var groups = found.groups
        found.groups = [:]
        var answer = NetworkAnswer(exchanges: groups.values.map(\.count).reduce(0, +), groups: [])
        let order = groups.map { key, collected in (key: key, count: collected.count) }
        for (key, _) in order.sorted(by: { $0.count == $1.count ? $0.key < $1.key : $0.count > $1.count }) {
            // Taken out, so that its durations are in memory once.
            guard var collected = groups.removeValue(forKey: key) else { continue }
            answer.groups.append(collected.group(key))
        }
        answer.weighed = found.weights.weighing
        guard answer.exchanges == 0 else { return answer }
        let exchanges = filter == ExchangeFilter() ? "an exchange" : "an exchange that passes the filter"
        answer.whyEmpty =
            found.asked?.whyNone { "None of \($0) has \(exchanges)." } ?? StoreReader.whyNone(of: found.count)
        return answer
    }
}

/// What is collected of exchanges, by what those of a group have in common.
package struct GroupedExchanges: Mergeable {
    fileprivate var groups: [NetworkKey: CollectedExchanges] = [:]
    fileprivate var weights = Weights()
    /// Of all exchanges; not counted where some are collected.
    fileprivate var count = 0
    /// The transactions whose exchanges are asked about; nil: those of all, or some are collected.
    fileprivate var asked: AskedTransactions?

    package mutating func merge(_ other: consuming GroupedExchanges) {
        groups.merge(other.groups)
        weights.merge(other.weights)
        count += other.count
        guard let more = other.asked else { return }
        if asked == nil { asked = more } else { asked?.merge(more) }
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
