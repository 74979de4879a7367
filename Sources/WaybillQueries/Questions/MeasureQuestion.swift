public import WaybillCore
import WaybillStore

/// What a numeric attribute of transactions looks like: how many bytes, how many items, how much memory.
///
/// Of each transaction the value counts that was said last, as ``Segmentation/attribute(_:)`` describes.
public struct MeasureQuestion: Question {
    /// Which transactions count.
    public var filter: TransactionFilter
    /// The name of the attribute.
    public var attribute: String
    /// By what to tell the transactions apart; `nil`: not at all.
    public var segmentation: Segmentation?

    /// Makes a question; by default about all transactions.
    public init(
        filter: TransactionFilter = TransactionFilter(), attribute: String, segmentation: Segmentation? = nil
    ) {
        self.filter = filter
        self.attribute = attribute
        self.segmentation = segmentation
    }
}

extension MeasureQuestion {
    /// Reads a question; what is left out is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            filter: try container.decodeIfPresent(TransactionFilter.self, forKey: .filter) ?? TransactionFilter(),
            attribute: try container.decode(String.self, forKey: .attribute),
            segmentation: try container.decodeIfPresent(Segmentation.self, forKey: .segmentation))
    }
}

/// What the numbers look like; nothing counts where no transaction has a number.
public typealias MeasureAnswer = SegmentedAnswer<MeasureSegment>

/// The numbers of one segment.
public struct MeasureSegment: Hashable, Sendable, Codable {
    /// What its transactions have in common; `nil` for those that have no such value, and for all.
    public var value: String?
    /// Of the transactions whose attribute is a number.
    public var statistics: NumberStatistics
    /// Transactions that lack the attribute, or whose attribute is no number.
    public var without: Int

    /// Makes a segment.
    public init(value: String?, statistics: NumberStatistics, without: Int) {
        self.value = value
        self.statistics = statistics
        self.without = without
    }
}

/// What many numbers look like: exact, by nearest rank, as ``DurationStatistics`` describes it.
public struct NumberStatistics: Hashable, Sendable, Codable {
    /// How many values; the others are `nil` without any.
    public var count: Int
    /// The least; `nil` without any value.
    public var minimum: Double?
    /// Half of the values are no greater; `nil` without any value.
    public var p50: Double?
    /// 75 % of the values are no greater; `nil` without any value.
    public var p75: Double?
    /// 90 % of the values are no greater; `nil` without any value.
    public var p90: Double?
    /// 95 % of the values are no greater; `nil` without any value.
    public var p95: Double?
    /// 99 % of the values are no greater; `nil` without any value.
    public var p99: Double?
    /// The greatest; `nil` without any value.
    public var maximum: Double?
    /// The arithmetic mean; `nil` without any value.
    public var mean: Double?

    /// - Parameter numbers: With what each stands for, in millionths.
    package init(_ numbers: [(value: Double, weight: Int64)]) {
        // By weight, too, so that a sum comes to the same in whatever order they were collected.
        let numbers = numbers.filter { $0.weight > 0 }.sorted { ($0.value, $0.weight) < ($1.value, $1.weight) }
        let total = numbers.reduce(0) { $0 + $1.weight }
        count = Weights.count(total)
        guard let first = numbers.first, let last = numbers.last else { return }
        (minimum, maximum) = (first.value, last.value)
        // Divided first, so that the sum of great numbers stays a number.
        mean = numbers.reduce(0.0) { $0 + $1.value * (Double($1.weight) / Double(total)) }
        func value(atPercent percent: Int64) -> Double {
            // In two steps, so that no product is too large.
            let needed = total / 100 * percent + (total % 100 * percent + 99) / 100
            var sum: Int64 = 0
            for number in numbers {
                sum += number.weight
                if sum >= needed { return number.value }
            }
            return last.value
        }
        (p50, p75, p90) = (value(atPercent: 50), value(atPercent: 75), value(atPercent: 90))
        (p95, p99) = (value(atPercent: 95), value(atPercent: 99))
    }
}

/// One pass over the transactions, with the attribute of each.
extension MeasureQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> MeasureAnswer {
        try answer(partial(from: context))
    }

    package func answered(_ answer: MeasureAnswer) -> AnyAnswer { .measure(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<NamedSegments<CollectedNumbers>> {
        let sources = try SourceDirectory(context.connection)
        let all = try TransactionCursor(filter, segmentation: segmentation, reading: [], sources: sources, context)
        let query =
            "SELECT \(AttributeSQL(literally: attribute).latest) FROM parts p WHERE p.source = ? AND p.sequence = ?"
        let folded = try context.fold(all, into: Segmented(CollectedNumbers())) {
            (transactions, collected) throws(WaybillError) in
            let said = try transactions.connection.statement(query)
            try transactions.forEach { (transaction, _) throws(WaybillError) in
                let detail = try said.first(transaction.source, transaction.sequence) { row in row.optionalText(0) }
                let value = DetailColumn(detail ?? nil).attributes[attribute] as AttributeValue?
                collected.add(transaction) { $0.add(value, transaction.weight) }
            }
        }
        return folded.map { $0.named(all.segmentValues) }
    }

    package func answer(_ found: consuming Folded<NamedSegments<CollectedNumbers>>) throws(WaybillError)
        -> MeasureAnswer
    {
        let asked = found.asked
        try asked.check()
        var answer = found.collected.answer(by: segmentation) { $0.segment($1) }
        answer.weighed = asked.weighing
        guard answer.total.statistics.count == 0 else { return answer }
        answer.whyEmpty = asked.whyNone { found in "None of \(found) has a number as its attribute “\(attribute)”." }
        return answer
    }
}

package struct CollectedNumbers: Mergeable {
    private var numbers: [(value: Double, weight: Int64)] = []
    /// Weights, added up.
    private var without: Int64 = 0

    mutating func add(_ value: AttributeValue?, _ weight: Int64) {
        switch value {
        case .integer(let number): numbers.append((Double(number), weight))
        case .double(let number) where number.isFinite: numbers.append((number, weight))
        case .double, .string, .bool, nil: without += weight
        }
    }

    package mutating func merge(_ other: consuming CollectedNumbers) {
        numbers += other.numbers
        without += other.without
    }

    func segment(_ value: String?) -> MeasureSegment {
        MeasureSegment(value: value, statistics: NumberStatistics(numbers), without: Weights.count(without))
    }
}

/// An answer over all transactions and, where they are told apart, for each segment.
public struct SegmentedAnswer<Segment: Hashable & Sendable & Codable>: QuestionAnswer {
    /// Over all transactions.
    public var total: Segment
    /// By value, in order; empty where nothing was to be told apart.
    public var segments: [Segment]
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Makes an answer.
    public init(total: Segment, segments: [Segment], whyEmpty: String? = nil) {
        self.total = total
        self.segments = segments
        self.whyEmpty = whyEmpty
    }
}
