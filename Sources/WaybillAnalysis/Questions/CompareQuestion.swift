public import Foundation
import WaybillCore
public import WaybillReading

/// Whether one group of transactions does better than another: how often it succeeds, fails and is abandoned, and how
/// long it takes.
///
/// Each measure has an interval at the 95 % level, under the assumption that the transactions are independent of each
/// other; where a few installations made most of them, the intervals are too narrow. And each is judged by itself: of
/// twenty measures of two groups that do not differ at all, one is expected to look more than noise. Decide beforehand
/// which one matters, or trust only what is seen again in other transactions.
///
/// ## Usage
///
/// ```swift
/// let variants = CompareQuestion(filter: logins, groups: .values(of: .attribute("variant"), "A", "B"))
/// for sentence in try await transactions.answer(variants).sentences { print(sentence) }
/// ```
public struct CompareQuestion: Question {
    /// What the two groups are. They share no transaction.
    public enum Groups: Hashable, Sendable {
        /// Those that have one value, and those that have another; nil: that have no such value.
        case values(of: Segmentation, String?, String?)
        /// Those begun in one stretch of time, and those begun in another; the two must not overlap.
        case windows(Range<Date>, Range<Date>)
    }

    /// Which transactions count; has to name a use case where a point is an event.
    public var filter: TransactionFilter
    /// The first is what the second is compared with.
    public var groups: Groups
    /// Where the duration starts.
    public var from: TransactionPoint
    /// Where the duration ends.
    public var to: TransactionPoint
    /// Of both points. Default: the first.
    public var occurrence: DurationQuestion.Occurrence

    /// Makes a question; by default with the duration of the whole transaction.
    public init(
        filter: TransactionFilter, groups: Groups, from: TransactionPoint = .begun, to: TransactionPoint = .finished,
        occurrence: DurationQuestion.Occurrence = .first
    ) {
        self.filter = filter
        self.groups = groups
        self.from = from
        self.to = to
        self.occurrence = occurrence
    }
}

extension CompareQuestion {
    /// Reads a question; what is left out is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            filter: try container.decodeIfPresent(TransactionFilter.self, forKey: .filter) ?? TransactionFilter(),
            groups: try container.decode(Groups.self, forKey: .groups))
        from = try container.decodeIfPresent(TransactionPoint.self, forKey: .from) ?? from
        to = try container.decodeIfPresent(TransactionPoint.self, forKey: .to) ?? to
        occurrence = try container.decodeIfPresent(DurationQuestion.Occurrence.self, forKey: .occurrence) ?? occurrence
    }
}

/// What sets two groups of transactions apart.
public struct CompareAnswer: QuestionAnswer {
    /// What is compared with.
    public var a: Group
    /// What is compared.
    public var b: Group
    /// Each measure once, in the order of its cases.
    public var rates: [RateComparison]
    /// Of the duration: p50, p90 and p99.
    public var quantiles: [QuantileComparison]
    /// One sentence on why one of the groups, or both, have no transaction; nil where both have some.
    public var whyEmpty: String?
    public var weighed: Weighing?

    /// Makes an answer.
    public init(a: Group, b: Group, rates: [RateComparison], quantiles: [QuantileComparison], whyEmpty: String? = nil) {
        self.a = a
        self.b = b
        self.rates = rates
        self.quantiles = quantiles
        self.whyEmpty = whyEmpty
    }

    /// What is said of each measure, in their order.
    public var sentences: [String] { rates.map(\.sentence) + quantiles.map(\.sentence) }

    /// One of the two.
    public struct Group: Hashable, Sendable, Codable {
        /// What its transactions have in common: a value, or a stretch of time as ISO 8601 writes it; nil: that they
        /// have no such value.
        public var value: String?
        /// Transactions.
        public var transactions: Int
        /// Those that are over, which rates are of: all but the open ones.
        public var ended: Int
        /// Of the transactions that have both points in this order.
        public var statistics: DurationStatistics

        /// Makes a group.
        public init(value: String?, transactions: Int, ended: Int, statistics: DurationStatistics) {
            self.value = value
            self.transactions = transactions
            self.ended = ended
            self.statistics = statistics
        }
    }
}
