public import WaybillCore
import WaybillStore

/// Where the time of a use case goes: the client, the network, the server.
///
/// A transaction's duration, from the beginning of its leading part to its close, is divided into ``Leg``s: every
/// microsecond belongs to exactly one of them, so that they add up to the duration.
///
/// What counts as sending are the client's exchanges of the leading part, cut off at its beginning and at its close.
/// The server's share of an exchange is the one part that names it as its cause, from that part's opening to the
/// server's own end of the exchange, or without one to the part's close; what that server asks of others meanwhile
/// counts as its own time. An exchange that no part names, or several (a request that was sent again unseen), or whose
/// end or server's end was not recorded, is a ``Leg/exchange`` as a whole.
///
/// The clocks of two machines differ, so where in an exchange the server's share lies is estimated, from other
/// exchanges of the same two sources (see ``LegsSegment/uncertainty``). Where there are too few of them, the rest of
/// the exchange is one leg, ``Leg/network``. Where exchanges overlap, a moment counts to the first of server, request,
/// response, network and exchange that any of them is in; the share of a server of which nothing better is known then
/// lies in the middle of its exchange.
public struct LegsQuestion: Question {
    /// Which transactions count.
    public var filter: TransactionFilter
    /// By what to tell the transactions apart; nil: not at all.
    public var segmentation: Segmentation?

    /// Makes a question.
    public init(filter: TransactionFilter, segmentation: Segmentation? = nil) {
        self.filter = filter
        self.segmentation = segmentation
    }
}

extension LegsQuestion {
    /// Reads a question; what is left out is as by default.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            filter: try container.decodeIfPresent(TransactionFilter.self, forKey: .filter) ?? TransactionFilter(),
            segmentation: try container.decodeIfPresent(Segmentation.self, forKey: .segmentation))
    }
}

/// A share of a transaction's duration.
public enum Leg: String, Hashable, Sendable, Codable, CaseIterable {
    /// On the client, before the first exchange was opened.
    case clientBefore = "client_before"
    /// From the opening of an exchange to the opening of the server's part.
    case request
    /// The server's part.
    case server
    /// From the server's end of an exchange to the client's.
    case response
    /// Requests and responses that cannot be told apart, since too little is known of the two clocks.
    case network
    /// In an exchange of which no server told anything: network and server together.
    case exchange
    /// On the client, while no exchange was open, between two of them.
    case clientBetween = "client_between"
    /// On the client, after the last exchange was closed.
    case clientAfter = "client_after"
}

/// Where the time goes; nothing counts where no transaction is divided.
public typealias LegsAnswer = SegmentedAnswer<LegsSegment>

/// The legs of one segment.
public struct LegsSegment: Hashable, Sendable, Codable {
    /// What its transactions have in common; nil for those that have no such value, and for all.
    public var value: String?
    /// One for each ``Leg``, in the order of its cases; of the transactions that are divided, which ``duration``
    /// counts.
    public var legs: [Share]
    /// Whole transactions that were closed and have an exchange.
    public var duration: DurationStatistics
    /// Transactions that are not divided since they were not closed.
    public var withoutEnd: Int
    /// Transactions that are not divided since they were closed without an exchange.
    public var withoutExchange: Int
    /// Divided transactions with an exchange of which no server told anything.
    public var withoutServer: Int
    /// Divided transactions with an exchange whose request and response cannot be told apart.
    public var withoutSplit: Int
    /// How far the border between request and server, and between server and response, may be off, either way: of each
    /// exchange that has both.
    ///
    /// Half the width of the narrowest interval that the difference of the two clocks can lie in, given the exchanges
    /// around: none can have reached the server before it was sent, nor the client before it was answered (RFC 5905,
    /// section 8), and clocks drift apart by no more than 100 millionths.
    public var uncertainty: DurationStatistics

    /// Makes a segment.
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
        /// Which share of the time it is.
        public var leg: Leg
        package var totalMicroseconds: Int64
        /// Of the transactions that have this leg, each with all of it.
        public var statistics: DurationStatistics

        /// Makes a share.
        public init(leg: Leg, total: Duration, statistics: DurationStatistics) {
            self.leg = leg
            totalMicroseconds = total.microseconds
            self.statistics = statistics
        }

        /// Over all transactions that are divided; those of all legs add up to the sum of their durations.
        /// At most 285 years, which is the greatest number of the format.
        public var total: Duration { .microseconds(totalMicroseconds) }
    }
}

/// Client by client, since what its other exchanges say of the clocks is read with those that are asked about.
extension LegsQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> LegsAnswer {
        try answer(partial(from: context))
    }

    package func answered(_ answer: LegsAnswer) -> AnyAnswer { .legs(self, answer) }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<PartialLegs> {
        try partial(from: context, batchCount: 50_000)
    }

    /// - Parameter batchCount: How many transactions of a client are divided at a time, which bounds the memory that
    ///   exchanges take.
    func partial(from context: AnswerContext, batchCount: Int) throws(WaybillError) -> Folded<PartialLegs> {
        let sources = try SourceDirectory(context.connection)
        let all = try TransactionCursor(
            filter, segmentation: segmentation, reading: .times, sources: sources, context)
        guard !context.isPartial else { return try undivided(all, sources, context) }
        let caused = all.count < JoinedParts.many ? nil : try CausedParts(by: context.connections)
        return try context.fold(all, into: Segmented(CollectedLegs())) { (asked, collected) throws(WaybillError) in
            let connection = asked.connection
            var ofSource: [TransactionCursor.Transaction] = []
            try asked.forEach { (transaction, _) throws(WaybillError) in
                if let first = ofSource.first, first.source != transaction.source || ofSource.count == batchCount {
                    try Self.divide(ofSource, sources, caused, into: &collected, connection)
                    ofSource.removeAll(keepingCapacity: true)
                }
                ofSource.append(transaction)
            }
            try Self.divide(ofSource, sources, caused, into: &collected, connection)
        }.map { PartialLegs(divided: $0.named(all.segmentValues)) }
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

    /// Divides some of one source.
    private static func divide(
        _ transactions: [TransactionCursor.Transaction], _ sources: SourceDirectory, _ caused: CausedParts?,
        into collected: inout Segmented<CollectedLegs>,
        _ connection: Connection
    ) throws(WaybillError) {
        guard let source = transactions.first?.source, let id = sources.entries[source]?.id else { return }
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

    /// When they were sending, and so far around it that other exchanges say something.
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
    private var legs = LegTable(repeating: Durations())
    private var durations = Durations()
    private var uncertainties = Durations()
    /// Weights, added up; so are the following.
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
            if let microseconds = division.legs[leg] { legs[leg].append(microseconds, weight: weight) }
        }
        for microseconds in division.uncertainties { uncertainties.append(microseconds, weight: weight) }
        if division.legs[.exchange] != nil { withoutServer.addWeight(weight) }
        if division.legs[.network] != nil { withoutSplit.addWeight(weight) }
    }

    package mutating func merge(_ other: consuming CollectedLegs) {
        for leg in Leg.allCases { legs[leg].merge(other.legs[leg]) }
        durations.merge(other.durations)
        uncertainties.merge(other.uncertainties)
        withoutEnd.addWeight(other.withoutEnd)
        withoutExchange.addWeight(other.withoutExchange)
        withoutServer.addWeight(other.withoutServer)
        withoutSplit.addWeight(other.withoutSplit)
    }

    /// Leaves the durations in another order.
    mutating func segment(_ value: String?) -> LegsSegment {
        let shares = Leg.allCases.map { leg in
            var total = Duration.zero
            legs[leg].forEach { total += .microseconds($0.times($1)) }
            return LegsSegment.Share(leg: leg, total: total, statistics: DurationStatistics(&legs[leg]))
        }
        return LegsSegment(
            value: value, legs: shares, duration: DurationStatistics(&durations),
            withoutEnd: Weights.count(withoutEnd), withoutExchange: Weights.count(withoutExchange),
            withoutServer: Weights.count(withoutServer), withoutSplit: Weights.count(withoutSplit),
            uncertainty: DurationStatistics(&uncertainties))
    }
}
