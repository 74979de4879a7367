import WaybillCore
import WaybillStore

/// Reads the traits of transactions, except the events and those of the source.
struct TraitReader {
    private let parts: Statement
    private let events: Statement
    private let exchanges: Statement

    init(_ connection: Connection) throws(WaybillError) {
        parts = try connection.statement(
            """
            SELECT q.source, q.sequence, q.closed_detail, q.opened_detail, t.attributes \
            FROM parts p JOIN parts q ON q.guid = p.guid JOIN sources t ON t.id = q.source \
            WHERE p.source = ? AND p.sequence = ? \
            ORDER BY (q.source, q.sequence) <> (p.source, p.sequence), t.uuid, q.sequence
            """)
        events = try connection.statement(
            "SELECT detail FROM events WHERE source = ? AND part = ? AND detail IS NOT NULL ORDER BY after DESC")
        exchanges = try connection.statement(
            """
            SELECT l.method, l.host, l.path, \(SQL.hasFailed("l")) FROM exchanges l \
            WHERE l.source = ? AND l.part = ? AND l.method IS NOT NULL
            """)
    }

    func traits(of transaction: TransactionCursor.Transaction) throws(WaybillError) -> Set<WhyAnswer.Trait> {
        let found = try parts.rows(transaction.source, transaction.sequence) { row in
            (
                source: row.int(0) as Int64, sequence: row.int(1) as Int64, closed: DetailColumn(row.optionalText(2)),
                opened: DetailColumn(row.optionalText(3)), own: Attributes(columnText: row.optionalText(4))
            )
        }
        var (traits, said) = (Set<WhyAnswer.Trait>(), SaidAttributes())
        for part in found {
            var details = [part.closed]
            try events.forEachRow(part.source, part.sequence) { row in
                details.append(DetailColumn(row.optionalText(0)))
            }
            said.add(details + [part.opened])
            said.add(part.own)
            try exchanges.forEachRow(part.source, part.sequence) { row in
                traits.addRequest((row.text(0), row.optionalText(1), row.text(2)), hasFailed: row.bool(3))
            }
        }
        traits.add(said.latest)
        return traits
    }
}

extension Set<WhyAnswer.Trait> {
    mutating func add(_ source: TransactionRow.Source) {
        let properties: [(WhyAnswer.Trait.Kind, String)] = [
            (.app, source.app), (.version, source.appVersion), (.device, source.device), (.os, source.os),
            (.osVersion, source.osVersion),
        ]
        for (kind, value) in properties where !value.isEmpty { insert(WhyAnswer.Trait(kind, value: value)) }
    }

    fileprivate mutating func add(_ attributes: Attributes) {
        for (name, value) in attributes {
            insert(WhyAnswer.Trait(.attribute, name: name, value: value.description))
        }
    }

    fileprivate mutating func addRequest(_ request: (method: String, host: String?, path: String), hasFailed: Bool) {
        let endpoint = "\(request.method) \(request.host ?? "")\(PathTemplate(request.path))"
        insert(WhyAnswer.Trait(.request, value: endpoint))
        if hasFailed { insert(WhyAnswer.Trait(.failedRequest, value: endpoint)) }
    }
}

extension TransactionRow {
    var traits: Set<WhyAnswer.Trait> {
        var traits: Set<WhyAnswer.Trait> = []
        traits.add(attributes)
        for exchange in exchanges {
            traits.addRequest(
                (exchange.method, exchange.host, exchange.path),
                hasFailed: exchange.state == .failed || exchange.status ?? 0 >= 400)
        }
        return traits
    }
}

package struct CollectedTraits: Mergeable {
    private var chosen = Weights()
    private var others = Weights()
    private var weights: [WhyAnswer.Trait: TraitWeights] = [:]

    private struct TraitWeights: Mergeable {
        var chosen: Int64 = 0
        var others: Int64 = 0

        mutating func merge(_ other: consuming TraitWeights) {
            chosen.addWeight(other.chosen)
            others.addWeight(other.others)
        }
    }

    package init() {}

    package mutating func add(_ traits: Set<WhyAnswer.Trait>, isChosen: Bool, weight: Int64) {
        if isChosen { chosen.add(weight) } else { others.add(weight) }
        for trait in traits {
            weights[trait, default: TraitWeights()].merge(
                TraitWeights(chosen: isChosen ? weight : 0, others: isChosen ? 0 : weight))
        }
    }

    package mutating func merge(_ other: consuming CollectedTraits) {
        chosen.merge(other.chosen)
        others.merge(other.others)
        weights.merge(other.weights)
    }

    package func answer(limit: Int) -> WhyAnswer {
        let all = Weights.count(chosen.sum.addingWeight(others.sum))
        let compared = weights.filter { _, weights in
            let count = Weights.count(weights.chosen.addingWeight(weights.others))
            return count >= WhyQuestion.leastCount && count <= all - WhyQuestion.leastCount
        }
        let z = Estimate<Double>.quantile(outside: 0.05 / Double(max(1, compared.count)))
        let differences = compared.compactMap { trait, weights -> WhyAnswer.Difference? in
            let (a, b) = (others.rate(of: weights.others, z: z), chosen.rate(of: weights.chosen, z: z))
            let difference = Estimate(from: a, to: b)
            guard let low = difference.low, let high = difference.high, low > 0 || high < 0 && !trait.isExclusive
            else { return nil }
            var found = WhyAnswer.Difference(
                trait: trait, chosenCount: Weights.count(weights.chosen), otherCount: Weights.count(weights.others),
                chosen: b, others: a, difference: difference, sentence: "")
            found.sentence = found.inWords
            return found
        }
        let sorted = differences.sorted { left, right in
            left.distance == right.distance
                ? left.trait.order.lexicographicallyPrecedes(right.trait.order)
                : left.distance > right.distance
        }
        return WhyAnswer(
            chosen: Weights.count(chosen.sum), others: Weights.count(others.sum), comparisons: compared.count,
            differences: Array(sorted.prefix(max(0, limit))))
    }
}

extension WhyAnswer.Difference {
    fileprivate var distance: Double { max(difference.low ?? 0, -(difference.high ?? 0)) }

    fileprivate var inWords: String {
        """
        \(chosenCount) of the chosen have the \(trait.words), \((chosen.value ?? 0).percentText), and \
        \((others.value ?? 0).percentText) of the others: \((difference.value ?? 0).pointsText) points \
        (\(difference.pointsInterval)).
        """
    }
}
