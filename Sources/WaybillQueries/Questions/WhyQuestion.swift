package import WaybillCore
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
        all.conditions = filter.conditions.filter { $0.sampledOneIn != nil || ($0.isIndexed && $0.outcomes == nil) }
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

        var order: [UInt8] { Array("\(words) \(kind.rawValue)".utf8) }

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
    public typealias Answer = WhyAnswer

    package var rowSelection: RowSelection { RowSelection(transactions: filter, others: .matching(allFilter)) }
    package var rowContents: RowContents {
        RowContents(codes: nil, attributes: nil, readsProperties: true, readsExchanges: true, readsRequests: true)
    }

    package func answered(_ answer: WhyAnswer) -> AnyAnswer { .why(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<CollectedTraits> {
        guard filter.useCase != nil else {
            throw WaybillError(.setting, "Transactions are compared with others of their use case; say which.")
        }
        let all = try EventCursor(self, of: allFilter, reading: [.outcome], context)
        var ofChosen = context
        ofChosen.rows = context.rows?.filter(\.isChosen)
        var found = try TransactionCursor(filter, reading: [], sources: all.sources, ofChosen)
        var chosen: [Int64: Set<Int64>] = [:]
        try found.forEach { transaction, _ in chosen[transaction.source, default: []].insert(transaction.sequence) }
        var folded = try context.fold(all, into: CollectedTraits()) { (events, collected) throws(WaybillError) in
            let reader = try TraitReader(events.transactions.connection)
            try events.forEach { (timed) throws(WaybillError) in
                let (transaction, sources) = (timed.transaction, timed.sources)
                // Sources of rows have other numbers in `found`, so each row says whether it is chosen.
                let row = sources.row(of: transaction.source)
                let isChosen = row?.isChosen ?? (chosen[transaction.source]?.contains(transaction.sequence) == true)
                guard isChosen || transaction.outcome != .open else { return }
                var traits = if let row { row.traits } else { try reader.traits(of: transaction) }
                if let source = sources[transaction.source] { traits.add(source) }
                for event in timed.events { traits.insert(WhyAnswer.Trait(.event, value: sources.names[event.name])) }
                collected.add(traits, isChosen: isChosen, weight: transaction.weight)
            }
        }
        // All are weighed, but only the chosen ones say why none counts.
        folded.asked = try AskedTransactions(found, folded.asked.weights, ofChosen)
        return folded
    }

    package func answer(_ found: consuming Folded<CollectedTraits>) throws(WaybillError) -> WhyAnswer {
        var answer = found.collected.answer(limit: limit)
        answer.weighed = found.asked.weighing
        if answer.chosen == 0 {
            answer.whyEmpty = found.asked.whyNone { "None of \($0) passes the filter." }
        } else if answer.others == 0 {
            answer.whyEmpty = "All transactions that have ended pass the filter, so there are no others."
        }
        return answer
    }
}
