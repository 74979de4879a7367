import WaybillCore
public import WaybillReading

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
