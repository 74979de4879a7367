package import WaybillCore
import WaybillStore

/// The time that a use case spends in the client, the network and the server.
///
/// The duration of a transaction is that of its leading part. Each microsecond belongs to exactly one ``Leg``: the legs
/// add up to the duration.
///
/// The division uses the client's exchanges of the leading part, clipped to its duration. The server's share of an
/// exchange is the part that names it as its cause. It lasts until the server's end of the exchange, or else until the
/// close of the part, including the server's own requests. An exchange is one ``Leg/exchange`` if an end is missing, or
/// if it has no such part or several.
///
/// Other exchanges of the same two sources give the clock offset that separates request and response; see
/// ``LegsSegment/uncertainty``. With too few of them, both are one ``Leg/network``, and the server's share is centered.
/// If exchanges overlap, a moment counts for the first of server, request, response, network and exchange.
public struct LegsQuestion: Question {
    /// The transactions to divide.
    public var filter: TransactionFilter
    /// The segments; `nil` for one result.
    public var segmentation: Segmentation?

    /// Creates a question.
    public init(filter: TransactionFilter, segmentation: Segmentation? = nil) {
        self.filter = filter
        self.segmentation = segmentation
    }
}

/// A share of a transaction's duration.
public enum Leg: String, Hashable, Sendable, Codable, CaseIterable {
    /// The time on the client before the first exchange.
    case clientBefore = "client_before"
    /// The time from the opening of an exchange to the opening of the server's part.
    case request
    /// The server's part.
    case server
    /// The time from the server's end of an exchange to the client's.
    case response
    /// Requests and responses together, if the clock offset is unknown.
    case network
    /// An exchange without the server's part: network and server together.
    case exchange
    /// The time on the client between exchanges.
    case clientBetween = "client_between"
    /// The time on the client after the last exchange.
    case clientAfter = "client_after"
}

/// The legs by segment. It is empty without any divided transaction.
public typealias LegsAnswer = SegmentedAnswer<LegsSegment>

/// The legs of one segment.
public struct LegsSegment: Hashable, Sendable, Codable {
    /// The value of its transactions; `nil` for those without one, and for all.
    public var value: String?
    /// The shares of the divided transactions, one for each ``Leg`` in the order of its cases.
    public var legs: [Share]
    /// The durations of the divided transactions, which are closed and have an exchange.
    public var duration: DurationStatistics
    /// The number of transactions that are not divided because they are not closed.
    public var withoutEnd: Int
    /// The number of closed transactions without an exchange, which are not divided.
    public var withoutExchange: Int
    /// The number of divided transactions with an exchange without a server's part.
    public var withoutServer: Int
    /// The number of divided transactions with an exchange without separate request and response.
    public var withoutSplit: Int
    /// The largest error of the borders between request, server and response, for each exchange with both.
    ///
    /// It is half the width of the interval for the clock offset (RFC 5905, section 8; drift of at most 100 ppm).
    public var uncertainty: DurationStatistics

    /// Creates a segment.
    public init(
        value: String?, legs: [Share], duration: DurationStatistics, withoutEnd: Int, withoutExchange: Int,
        withoutServer: Int,
        withoutSplit: Int, uncertainty: DurationStatistics
    ) {
        self.value = value
        self.legs = legs
        self.duration = duration
        self.withoutEnd = withoutEnd
        self.withoutExchange = withoutExchange
        self.withoutServer = withoutServer
        self.withoutSplit = withoutSplit
        self.uncertainty = uncertainty
    }

    /// One leg.
    public struct Share: Hashable, Sendable, Codable {
        /// The leg.
        public var leg: Leg
        package var totalMicroseconds: Int64
        /// The times of the transactions that have this leg.
        public var statistics: DurationStatistics

        /// Creates a share.
        public init(leg: Leg, total: Duration, statistics: DurationStatistics) {
            self.leg = leg
            totalMicroseconds = total.microseconds
            self.statistics = statistics
        }

        /// The total of all divided transactions, at most 285 years, the largest number of the format.
        public var total: Duration { .microseconds(totalMicroseconds) }
    }
}

extension LegsQuestion: FoldedQuestion {
    public typealias Answer = LegsAnswer

    package var rowSelection: RowSelection { RowSelection(transactions: filter, others: .withExchanges) }
    package var rowContents: RowContents { RowContents(readsExchanges: true) }

    package func answered(_ answer: LegsAnswer) -> AnyAnswer { .legs(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<PartialLegs> {
        try partial(from: context, batchCount: 50_000)
    }

    func partial(from context: AnswerContext, batchCount: Int) throws(WaybillError) -> Folded<PartialLegs> {
        guard !context.isPartial else { return try undivided(context) }
        let all = try EventCursor(self, reading: .times, context)
        let caused = all.transactions.count < JoinedParts.many ? nil : try CausedParts(by: context.connections)
        let none = PartialLegs(divided: Segments(CollectedLegs(), all.transactions.segmentValues))
        return try context.fold(all, into: none) { (events, collected) throws(WaybillError) in
            let (sources, connection) = (events.sources, events.transactions.connection)
            var ofSource: [TransactionCursor.Transaction] = []
            try events.transactions.forEach { (transaction, _) throws(WaybillError) in
                if let first = ofSource.first, first.source != transaction.source || ofSource.count == batchCount {
                    try Self.divide(ofSource, sources, caused, into: &collected.divided, connection)
                    ofSource.removeAll(keepingCapacity: true)
                }
                ofSource.append(transaction)
            }
            try Self.divide(ofSource, sources, caused, into: &collected.divided, connection)
        }
    }

    package func answer(_ found: consuming Folded<PartialLegs>) throws(WaybillError) -> LegsAnswer {
        let asked = found.asked
        try asked.check()
        var answer = found.collected.all().answer(by: segmentation) { $0.segment($1) }
        answer.weighed = asked.weighing
        let total = answer.total
        guard total.duration.count == 0 else { return answer }
        answer.whyEmpty = asked.whyNone { found in
            "None of \(found) was closed with an exchange: \(total.withoutEnd) without a close, "
                + "\(total.withoutExchange) without an exchange."
        }
        return answer
    }

    private static func divide(
        _ transactions: [TransactionCursor.Transaction], _ sources: SourceDirectory, _ caused: CausedParts?,
        into collected: inout Segments<CollectedLegs>,
        _ connection: Connection
    ) throws(WaybillError) {
        guard let source = transactions.first?.source, let id = sources[source]?.id else { return }
        let known = try OffsetExchanges(
            of: source, id: id, opened: times(of: transactions), among: caused, connection)
        for transaction in transactions {
            guard let closing = transaction.closing else {
                collected.add(transaction) { $0.withoutEnd.addWeight(transaction.weight) }
                continue
            }
            let span = transaction.span(until: closing.at)
            let division = LegsDivision(span, known.exchanges(of: transaction.sequence), known)
            collected.add(transaction) {
                $0.add(division, span.upperBound - span.lowerBound, weight: transaction.weight)
            }
        }
    }

    private static func times(of transactions: [TransactionCursor.Transaction]) -> ClosedRange<Int64> {
        var (first, last) = (Int64.max, Int64.min)
        for transaction in transactions {
            first = min(first, transaction.at)
            last = max(last, transaction.at, transaction.closing?.at ?? 0)
        }
        return first - OffsetSamples.windowMicroseconds...last + OffsetSamples.windowMicroseconds
    }
}

package struct CollectedLegs: Mergeable {
    private var legs = Array(repeating: Durations(), count: Leg.allCases.count)
    private var durations = Durations()
    private var uncertainties = Durations()
    var withoutEnd: Int64 = 0
    private var withoutExchange: Int64 = 0
    private var withoutServer: Int64 = 0
    private var withoutSplit: Int64 = 0

    mutating func add(_ division: LegsDivision?, _ duration: Int64, weight: Int64) {
        guard let division else {
            withoutExchange.addWeight(weight)
            return
        }
        durations.append(duration, weight: weight)
        for leg in Leg.allCases {
            if let microseconds = division.legs[leg] { legs[leg.place].append(microseconds, weight: weight) }
        }
        for microseconds in division.uncertainties { uncertainties.append(microseconds, weight: weight) }
        if division.legs[.exchange] != nil { withoutServer.addWeight(weight) }
        if division.legs[.network] != nil { withoutSplit.addWeight(weight) }
    }

    package mutating func merge(_ other: consuming CollectedLegs) {
        for leg in Leg.allCases { legs[leg.place].merge(other.legs[leg.place]) }
        durations.merge(other.durations)
        uncertainties.merge(other.uncertainties)
        withoutEnd.addWeight(other.withoutEnd)
        withoutExchange.addWeight(other.withoutExchange)
        withoutServer.addWeight(other.withoutServer)
        withoutSplit.addWeight(other.withoutSplit)
    }

    mutating func segment(_ value: String?) -> LegsSegment {
        let shares = Leg.allCases.map { leg in
            var total = Duration.zero
            legs[leg.place].forEach { total += .microseconds($0.times($1)) }
            return LegsSegment.Share(leg: leg, total: total, statistics: DurationStatistics(&legs[leg.place]))
        }
        return LegsSegment(
            value: value, legs: shares, duration: DurationStatistics(&durations),
            withoutEnd: Weights.count(withoutEnd), withoutExchange: Weights.count(withoutExchange),
            withoutServer: Weights.count(withoutServer), withoutSplit: Weights.count(withoutSplit),
            uncertainty: DurationStatistics(&uncertainties))
    }
}
