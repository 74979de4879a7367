package import WaybillCore
import WaybillStore

/// The distribution of a numeric attribute by its latest value, as for ``Segmentation/attribute(_:)``.
public struct MeasureQuestion: Question {
    /// The transactions to measure.
    public var filter: TransactionFilter
    /// The name of the attribute.
    public var attribute: String
    /// The segments; `nil` for one result.
    public var segmentation: Segmentation?

    /// Creates a question, by default about all transactions.
    public init(
        filter: TransactionFilter = TransactionFilter(), attribute: String, segmentation: Segmentation? = nil
    ) {
        self.filter = filter
        self.attribute = attribute
        self.segmentation = segmentation
    }
}

/// The numbers by segment. It is empty if no transaction has a number.
public typealias MeasureAnswer = SegmentedAnswer<MeasureSegment>

/// The numbers of one segment.
public struct MeasureSegment: Hashable, Sendable, Codable {
    /// The value of its transactions; `nil` for those without one, and for all.
    public var value: String?
    /// The distribution of the numbers.
    public var statistics: NumberStatistics
    /// The number of transactions without the attribute, or whose value is not a number.
    public var without: Int

    /// Creates a segment.
    public init(value: String?, statistics: NumberStatistics, without: Int) {
        self.value = value
        self.statistics = statistics
        self.without = without
    }
}

/// The distribution of numbers: exact percentiles by nearest rank, as in ``DurationStatistics``.
public struct NumberStatistics: Hashable, Sendable, Codable {
    /// The number of values. Without any, the others are `nil`.
    public var count: Int
    /// The smallest value.
    public var minimum: Double?
    /// The 50th percentile, the median.
    public var p50: Double?
    /// The 75th percentile.
    public var p75: Double?
    /// The 90th percentile.
    public var p90: Double?
    /// The 95th percentile.
    public var p95: Double?
    /// The 99th percentile.
    public var p99: Double?
    /// The largest value.
    public var maximum: Double?
    /// The arithmetic mean.
    public var mean: Double?

    package init(_ numbers: [(value: Double, weight: Int64)]) {
        let values = WeighedValues(numbers.filter { $0.weight > 0 })
        count = Weights.count(values.total)
        guard let first = values.sorted.first, let last = values.sorted.last else { return }
        (minimum, maximum) = (first.value, last.value)
        // Divides first, to keep the sum of large numbers finite. The total above has a bound.
        let whole = values.sorted.reduce(0.0) { $0 + Double($1.weight) }
        mean = values.sorted.reduce(0.0) { $0 + $1.value * (Double($1.weight) / whole) }
        (p50, p75, p90) = (values.value(atPercent: 50), values.value(atPercent: 75), values.value(atPercent: 90))
        (p95, p99) = (values.value(atPercent: 95), values.value(atPercent: 99))
    }
}

extension MeasureQuestion: FoldedQuestion {
    public typealias Answer = MeasureAnswer

    package var rowContents: RowContents { RowContents(attributes: [attribute], readsSources: false) }

    package func answered(_ answer: MeasureAnswer) -> AnyAnswer { .measure(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<Segments<CollectedNumbers>> {
        let all = try EventCursor(self, attribute: attribute, context)
        return try context.fold(all, into: Segments(CollectedNumbers(), all.transactions.segmentValues)) {
            (events, collected) throws(WaybillError) in
            try events.transactions.forEach { (transaction, _) throws(WaybillError) in
                collected.add(transaction) { $0.add(transaction.attribute, transaction.weight) }
            }
        }
    }

    package func answer(_ found: consuming Folded<Segments<CollectedNumbers>>) throws(WaybillError)
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
    private var without: Int64 = 0

    mutating func add(_ value: AttributeValue?, _ weight: Int64) {
        switch value {
        case .integer(let number): numbers.append((Double(number), weight))
        case .double(let number) where number.isFinite: numbers.append((number, weight))
        case .double, .string, .bool, nil: without.addWeight(weight)
        }
    }

    package mutating func merge(_ other: consuming CollectedNumbers) {
        numbers += other.numbers
        without.addWeight(other.without)
    }

    func segment(_ value: String?) -> MeasureSegment {
        MeasureSegment(value: value, statistics: NumberStatistics(numbers), without: Weights.count(without))
    }
}

/// An answer over all transactions and, with a segmentation, for each segment.
public struct SegmentedAnswer<Segment: Hashable & Sendable & Codable>: QuestionAnswer {
    /// The result over all transactions.
    public var total: Segment
    /// The segments in order of their values; empty without a segmentation.
    public var segments: [Segment]
    public var whyEmpty: String?
    public var weighed: Weighing?
    package var bounds: AnswerBounds?

    /// Creates an answer.
    public init(total: Segment, segments: [Segment], whyEmpty: String? = nil) {
        self.total = total
        self.segments = segments
        self.whyEmpty = whyEmpty
    }
}
