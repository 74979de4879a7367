import Foundation
public import WaybillCore
import WaybillStore

/// The differences between some transactions and the others of their use case: attributes, versions, requests, events.
///
/// Each trait is compared by the share of transactions that have it. The intervals are corrected for the number of
/// comparisons with Bonferroni's method: with 95 % confidence, all of them hold together. They assume independent
/// transactions, as in ``CompareQuestion``. A trait can be a consequence rather than the cause.
///
/// ## Usage
///
/// ```swift
/// let failed = TransactionFilter(useCase: Checkout.self, outcomes: [.failed])
/// for difference in try await transactions.answer(WhyQuestion(filter: failed)).differences { print(difference.sentence) }
/// ```
public struct WhyQuestion: Question {
    /// The chosen transactions. A use case is required. The others have the same use case and time, and have ended.
    public var filter: TransactionFilter
    /// The most differences of the answer. Default: 20.
    public var limit: Int

    package static let limits = 1...500
    /// Rarer traits, and those that fewer transactions lack, are not compared. This is the same whatever is chosen.
    package static let leastCount = 5

    /// Creates a question.
    public init(filter: TransactionFilter, limit: Int = 20) { (self.filter, self.limit) = (filter, limit) }
}

extension WhyQuestion {
    /// Reads a question. Missing members have defaults.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(filter: try container.decode(TransactionFilter.self, forKey: .filter))
        limit = try container.decodeIfPresent(Int.self, forKey: .limit) ?? limit
    }

    package var allFilter: TransactionFilter {
        var all = filter
        all.conditions = filter.conditions.filter { condition in
            if case .oneIn = condition { return true }
            if case .outcome = condition { return false }
            return condition.isIndexed
        }
        return all
    }
}

/// The differences between chosen transactions and the others.
public struct WhyAnswer: QuestionAnswer {
    /// The number of chosen transactions.
    public var chosen: Int
    /// The number of others.
    public var others: Int
    /// The number of compared traits. The intervals are corrected for it.
    public var comparisons: Int
    /// The significant differences, those with the greatest distance from zero first.
    public var differences: [Difference]
    /// One sentence on why nothing can be compared; `nil` if something was.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Creates an answer.
    public init(chosen: Int, others: Int, comparisons: Int, differences: [Difference], whyEmpty: String? = nil) {
        (self.chosen, self.others, self.comparisons) = (chosen, others, comparisons)
        (self.differences, self.whyEmpty) = (differences, whyEmpty)
    }

    /// A trait that more, or fewer, of the chosen transactions have.
    public struct Difference: Hashable, Sendable, Codable {
        /// The trait.
        public var trait: Trait
        /// The number of chosen transactions with the trait.
        public var chosenCount: Int
        /// The number of others with the trait.
        public var otherCount: Int
        /// The share of the chosen transactions, from 0 to 1.
        public var chosen: Estimate<Double>
        /// The share of the others, from 0 to 1.
        public var others: Estimate<Double>
        /// The first share minus the second one, from -1 to 1.
        public var difference: Estimate<Double>
        /// The difference as one sentence.
        public var sentence: String
    }

    /// A property of transactions that some have.
    public struct Trait: Hashable, Sendable, Codable {
        /// A kind of traits.
        public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
            /// A property of the source that began the transaction.
            case app, version, device, os
            /// The version of the source's system.
            case osVersion = "os_version"
            /// The latest value of an attribute, as in ``Segmentation/attribute(_:)``.
            case attribute
            /// An event of any source.
            case event
            /// A request to an endpoint, with IDs folded.
            case request
            /// A request that failed, or got a status from 400 on.
            case failedRequest = "failed_request"
        }

        /// The kind.
        public var kind: Kind
        /// The name of the attribute; `nil` for other kinds.
        public var name: String?
        /// The value, the name of the event, or the method, host and path of the request.
        public var value: String

        /// Creates a trait.
        public init(_ kind: Kind, name: String? = nil, value: String) {
            (self.kind, self.name, self.value) = (kind, name, value)
        }

        /// Whether a transaction has at most one trait of this kind and name.
        var isExclusive: Bool {
            switch kind {
            case .app, .version, .device, .os, .osVersion, .attribute: true
            case .event, .request, .failedRequest: false
            }
        }

        fileprivate var order: [UInt8] { Array("\(words) \(kind.rawValue)".utf8) }

        package var words: String {
            switch kind {
            case .app, .version, .device, .event, .request: "\(kind.rawValue) “\(value)”"
            case .os: "system “\(value)”"
            case .osVersion: "system version “\(value)”"
            case .attribute: "\(name ?? "attribute") “\(value)”"
            case .failedRequest: "failed request “\(value)”"
            }
        }
    }
}

extension WhyQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> WhyAnswer {
        try answer(partial(from: context))
    }

    package func answered(_ answer: WhyAnswer) -> AnyAnswer { .why(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<CollectedTraits> {
        guard filter.useCase != nil else {
            throw WaybillError(.setting, "Transactions are compared with others of their use case; say which.")
        }
        if let rows = context.rows { return try partial(of: rows, context) }
        let sources = try SourceDirectory(context.connection)
        var found = try TransactionCursor(filter, reading: [.times], sources: sources, context)
        var chosen: Set<FoundTransaction> = []
        try found.forEach { transaction, _ in
            chosen.insert(FoundTransaction(source: transaction.source, sequence: transaction.sequence))
        }
        let all = try EventCursor(allFilter, codes: nil, reading: [.outcome], sources: sources, context)
        var folded = try context.fold(all, into: CollectedTraits()) { (events, collected) throws(WaybillError) in
            let reader = try TraitReader(events.transactions.connection)
            try events.forEach { (transaction, points, sources) throws(WaybillError) in
                let isChosen = chosen.contains(
                    FoundTransaction(source: transaction.source, sequence: transaction.sequence))
                guard isChosen || transaction.outcome != .open else { return }
                var traits = try reader.traits(of: transaction, sources)
                for point in points { traits.insert(WhyAnswer.Trait(.event, value: sources.names[point.name])) }
                collected.add(traits, isChosen: isChosen, weight: transaction.weight)
            }
        }
        folded.collected.asked = try AskedTransactions(found, found.weights, context)
        return folded
    }

    private func partial(
        of rows: [TransactionRow], _ context: AnswerContext
    ) throws(WaybillError) -> Folded<CollectedTraits> {
        var chosen = context
        chosen.rows = rows.filter(\.isChosen)
        var found = try TransactionCursor(filter, reading: [.times], sources: SourceDirectory(chosen), chosen)
        try found.forEach { _, _ in }
        var (collected, events) = (
            CollectedTraits(),
            try EventCursor(allFilter, codes: nil, reading: [.outcome], sources: SourceDirectory(context), context)
        )
        var rest = rows[...]
        try events.forEach { transaction, points, sources in
            guard let row = rest.popFirst(), row.isChosen || transaction.outcome != .open else { return }
            var traits = row.traits
            for point in points { traits.insert(WhyAnswer.Trait(.event, value: sources.names[point.name])) }
            collected.add(traits, isChosen: row.isChosen, weight: transaction.weight)
        }
        collected.asked = try AskedTransactions(found, found.weights, chosen)
        return Folded(
            collected: collected,
            asked: try AskedTransactions(events.transactions, events.transactions.weights, context))
    }

    package func answer(_ found: consuming Folded<CollectedTraits>) throws(WaybillError) -> WhyAnswer {
        var answer = found.collected.answer(limit: limit)
        answer.weighed = found.asked.weighing
        if answer.chosen == 0 {
            answer.whyEmpty = (found.collected.asked ?? found.asked).whyNone { "None of \($0) passes the filter." }
        } else if answer.others == 0 {
            answer.whyEmpty = "All transactions that have ended pass the filter, so there are no others."
        }
        return answer
    }
}

private struct FoundTransaction: Hashable {
    var source, sequence: Int64
}

private struct TraitReader {
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

    func traits(
        of transaction: TransactionCursor.Transaction, _ sources: SourceDirectory
    ) throws(WaybillError) -> Set<WhyAnswer.Trait> {
        var traits: Set<WhyAnswer.Trait> = []
        if let source = sources[transaction.source] {
            traits.add((source.app, source.appVersion, source.device, source.os, source.osVersion))
        }
        let found = try parts.rows(transaction.source, transaction.sequence) { row in
            (
                source: row.int(0) as Int64, sequence: row.int(1) as Int64,
                closed: DetailColumn(row.optionalText(2)).attributes,
                opened: DetailColumn(row.optionalText(3)).attributes,
                own: Attributes(columnText: row.optionalText(4))
            )
        }
        // The first value of a name counts; `nil` for a name that was removed.
        var said: [String: AttributeValue?] = [:]
        for part in found {
            said.merge(part.closed.map { ($0.key, $0.value) }) { first, _ in first }
            try events.forEachRow(part.source, part.sequence) { row in
                let detail = DetailColumn(row.optionalText(0))
                said.merge(detail.attributes.map { ($0.key, $0.value) }) { first, _ in first }
                said.merge(detail.removed.map { ($0, nil) }) { first, _ in first }
            }
            for attributes in [part.opened, part.own] {
                said.merge(attributes.map { ($0.key, $0.value) }) { first, _ in first }
            }
            try exchanges.forEachRow(part.source, part.sequence) { row in
                traits.addRequest((row.text(0), row.optionalText(1), row.text(2)), hasFailed: row.bool(3))
            }
        }
        for case (let name, let value?) in said {
            traits.insert(WhyAnswer.Trait(.attribute, name: name, value: value.description))
        }
        return traits
    }
}

extension Set<WhyAnswer.Trait> {
    fileprivate mutating func add(
        _ source: (app: String, version: String, device: String, os: String, osVersion: String)
    ) {
        let properties: [(WhyAnswer.Trait.Kind, String)] = [
            (.app, source.app), (.version, source.version), (.device, source.device), (.os, source.os),
            (.osVersion, source.osVersion),
        ]
        for (kind, value) in properties where !value.isEmpty { insert(WhyAnswer.Trait(kind, value: value)) }
    }

    fileprivate mutating func addRequest(_ request: (method: String, host: String?, path: String), hasFailed: Bool) {
        let endpoint = "\(request.method) \(request.host ?? "")\(PathTemplate(request.path))"
        insert(WhyAnswer.Trait(.request, value: endpoint))
        if hasFailed { insert(WhyAnswer.Trait(.failedRequest, value: endpoint)) }
    }
}

extension TransactionRow {
    fileprivate var traits: Set<WhyAnswer.Trait> {
        var traits: Set<WhyAnswer.Trait> = []
        if let source = sources.first {
            traits.add((source.app, source.appVersion, source.device, source.os, source.osVersion))
        }
        for (name, value) in attributes {
            traits.insert(WhyAnswer.Trait(.attribute, name: name, value: value.description))
        }
        for exchange in exchanges {
            traits.addRequest(
                (exchange.method, exchange.host, exchange.path),
                hasFailed: exchange.state == .failed || exchange.status ?? 0 >= 400)
        }
        return traits
    }
}

package struct CollectedTraits: Mergeable {
    /// The chosen transactions, for the reason if there are none.
    fileprivate var asked: AskedTransactions?
    private var chosen = Group()
    private var others = Group()
    private var weights: [WhyAnswer.Trait: TraitWeights] = [:]

    private struct Group {
        var weight: Int64 = 0
        var squares = 0.0

        mutating func add(_ more: Int64, squares more2: Double) {
            weight.addWeight(more)
            squares += more2
        }

        func share(_ part: Int64, z: Double) -> Estimate<Double> {
            let whole = Double(weight) / 1_000
            return Estimate(
                rateOf: min(1, Double(part) / 1_000 / max(1, whole)), by: squares > 0 ? whole * whole / squares : 0,
                z: z)
        }
    }

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
        let squares = Double(weight / 1_000) * Double(weight / 1_000)
        if isChosen { chosen.add(weight, squares: squares) } else { others.add(weight, squares: squares) }
        for trait in traits {
            weights[trait, default: TraitWeights()].merge(
                TraitWeights(chosen: isChosen ? weight : 0, others: isChosen ? 0 : weight))
        }
    }

    package mutating func merge(_ other: consuming CollectedTraits) {
        chosen.add(other.chosen.weight, squares: other.chosen.squares)
        others.add(other.others.weight, squares: other.others.squares)
        weights.merge(other.weights)
        guard let more = other.asked else { return }
        if asked == nil { asked = more } else { asked?.merge(more) }
    }

    package mutating func add(_ reason: EmptyReason, exchangeCount: Int) { asked?.add(reason) }

    package func answer(limit: Int) -> WhyAnswer {
        let all = Weights.count(chosen.weight.addingWeight(others.weight))
        let compared = weights.filter { _, weights in
            let count = Weights.count(weights.chosen.addingWeight(weights.others))
            return count >= WhyQuestion.leastCount && count <= all - WhyQuestion.leastCount
        }
        let z = Estimate<Double>.quantile(outside: 0.05 / Double(max(1, compared.count)))
        let differences = compared.compactMap { trait, weights -> WhyAnswer.Difference? in
            let (a, b) = (others.share(weights.others, z: z), chosen.share(weights.chosen, z: z))
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
            chosen: Weights.count(chosen.weight), others: Weights.count(others.weight), comparisons: compared.count,
            differences: Array(sorted.prefix(max(0, limit))))
    }
}

extension WhyAnswer.Difference {
    /// The distance of the interval from zero.
    fileprivate var distance: Double { max(difference.low ?? 0, -(difference.high ?? 0)) }

    fileprivate var inWords: String {
        let interval = [difference.low, difference.high].map { $0?.pointsText ?? "?" }.joined(separator: " to ")
        return """
            \(chosenCount) of the chosen have the \(trait.words), \((chosen.value ?? 0).percentText), and \
            \((others.value ?? 0).percentText) of the others: \((difference.value ?? 0).pointsText) points (\(interval)).
            """
    }
}
