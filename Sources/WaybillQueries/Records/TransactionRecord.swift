public import WaybillCore

/// What is stored of one transaction, merged from all the sources that took part.
///
/// Times are raw, each source's as its own clock said, unless it is ``aligned``.
public struct TransactionRecord: Hashable, Sendable, Codable {
    /// The transaction as a line of a list.
    public var summary: TransactionSummary
    /// The sources that took part, in the order of ``parts``.
    public var sources: [Source]
    /// The beginner's part first, then the joined ones by time.
    public var parts: [Part]
    /// Everything that happened, in one order. Within a source it is that of the process's own clock, which cannot be set,
    /// and then that of the sequence. Across sources it is that of wall time as far as that allows; ties are resolved by
    /// source.
    public var timeline: [Entry]
    /// The network exchanges, by time of opening.
    public var exchanges: [Exchange]
    /// What is to be added to the times of each source to get those of one clock; nil where a single source took part.
    /// See ``aligned``.
    public var clocks: ClockAlignment?
    /// The transactions above and below it; nil where none are known here.
    public var family: Family?

    /// Makes a record.
    public init(
        summary: TransactionSummary, sources: [Source], parts: [Part], timeline: [Entry], exchanges: [Exchange],
        clocks: ClockAlignment? = nil, family: Family? = nil
    ) {
        self.summary = summary
        self.sources = sources
        self.parts = parts
        self.timeline = timeline
        self.exchanges = exchanges
        self.clocks = clocks
        self.family = family
    }

    /// A link to another transaction, as `link(to:as:)` of a handle records it.
    public struct Link: Hashable, Sendable {
        /// The other transaction, which may be in another store.
        public var transaction: GUID
        /// What this transaction is to the other one; `nil` if nothing was said.
        public var relation: String?
    }

    /// The links to other transactions, in the order of the timeline; each transaction and relation once.
    public var links: [Link] {
        timeline.reduce(into: []) { links, entry in
            guard entry.kind == .event, entry.label == "link",
                case .string(let text)? = entry.attributes["transaction"], let id = GUID(text)
            else { return }
            let relation = entry.attributes["relation"].map(\.description)
            let link = Link(transaction: id, relation: relation)
            if !links.contains(link) { links.append(link) }
        }
    }

    /// The transactions above and below one, as far as they are known.
    public struct Family: Hashable, Sendable, Codable {
        /// The topmost one first, the parent last; 32 at most, of which the topmost are left out.
        public var above: [TransactionSummary]
        /// Each behind its parent, and children in the order in which they began; 500 at most, those nearest to it.
        public var below: [TransactionSummary]
        /// Whether some were left out.
        public var isCut: Bool

        /// Makes a family.
        public init(above: [TransactionSummary], below: [TransactionSummary], isCut: Bool = false) {
            self.above = above
            self.below = below
            self.isCut = isCut
        }
    }

    /// Who took part: what a list needs of a source.
    public struct Source: Hashable, Sendable, Codable {
        /// The recorder's ID.
        public var id: GUID
        /// The app's or service's name.
        public var app: String
        /// The app's version.
        public var appVersion: String
        /// The model.
        public var device: String
        /// `iOS`, `Linux`.
        public var os: String
        /// The system's version.
        public var osVersion: String
        /// How it ended; nil: that is not known, or it has not.
        public var endedBy: SourceEnd?

        /// Makes a description.
        public init(
            id: GUID, app: String, appVersion: String, device: String, os: String, osVersion: String,
            endedBy: SourceEnd? = nil
        ) {
            self.id = id
            self.app = app
            self.appVersion = appVersion
            self.device = device
            self.os = os
            self.osVersion = osVersion
            self.endedBy = endedBy
        }
    }

    /// One source's share.
    public struct Part: Hashable, Sendable, Codable {
        /// The source and the sequence of its `opened` fact.
        public var id: FactID
        /// Whether another source began the transaction.
        public var isJoined: Bool
        /// The exchange that caused a joined part; nil where none was told, nor a span that is known to be one.
        public var cause: FactID?
        /// Microseconds since 1970.
        package var openedMicroseconds: Int64
        /// Microseconds since 1970; nil where it was not closed.
        package var closedMicroseconds: Int64?
        /// How this part ended; it decides the transaction's outcome only where it began it.
        public var outcome: TransactionOutcome
        /// Why it did not succeed; nil where nothing was said.
        public var error: RecordedError?
        /// What was said about it when it was opened, and what was set since: of each name the latest value, unless it
        /// was removed.
        public var attributes: Attributes

        /// Makes a part.
        package init(
            id: FactID, isJoined: Bool, cause: FactID?, openedMicroseconds: Int64, closedMicroseconds: Int64?,
            outcome: TransactionOutcome,
            error: RecordedError?, attributes: Attributes
        ) {
            self.id = id
            self.isJoined = isJoined
            self.cause = cause
            self.openedMicroseconds = openedMicroseconds
            self.closedMicroseconds = closedMicroseconds
            self.outcome = outcome
            self.error = error
            self.attributes = attributes
        }
    }

    /// The kinds of facts, as words.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// A part was begun or joined.
        case opened
        /// Something happened in a part.
        case event
        /// Attributes of a part were set or removed after it was opened; no event.
        case attributesSet = "attributes_set"
        /// A part was closed.
        case closed
        /// A request was sent, or arrived.
        case exchangeOpened = "exchange_opened"
        /// What became of that request.
        case exchangeClosed = "exchange_closed"
    }

    /// One fact on the timeline.
    public struct Entry: Hashable, Sendable, Codable, Identifiable {
        /// The source and the fact's sequence.
        public var id: FactID
        /// Which of them it is.
        public var kind: Kind
        /// The sequence of its part.
        public var part: Int64
        /// Microseconds since 1970, by its source's clock anchors.
        package var timeMicroseconds: Int64
        /// What to show: the event's name, `begun`, `joined`, the outcome, `POST /login`, `200`.
        public var label: String
        /// The event's code; nil for the other kinds.
        public var code: Int?
        /// What went wrong; nil when nothing did.
        public var error: RecordedError?
        /// What was said about it.
        public var attributes: Attributes
        /// The exchange of the two exchange kinds.
        public var exchange: FactID?
        /// Recorded after its part was closed.
        public var isLate: Bool

        /// Makes an entry.
        package init(
            id: FactID, kind: Kind, part: Int64, timeMicroseconds: Int64, label: String, code: Int? = nil,
            error: RecordedError? = nil,
            attributes: Attributes = [:], exchange: FactID? = nil, isLate: Bool = false
        ) {
            self.id = id
            self.kind = kind
            self.part = part
            self.timeMicroseconds = timeMicroseconds
            self.label = label
            self.code = code
            self.error = error
            self.attributes = attributes
            self.exchange = exchange
            self.isLate = isLate
        }
    }

    /// One HTTP exchange, from one end.
    public struct Exchange: Hashable, Sendable, Codable, Identifiable {
        /// The source and the sequence of its `exchange_opened` fact.
        public var id: FactID
        /// The sequence of its part; 0 outside any transaction.
        public var part: Int64
        /// Which end recorded it.
        public var role: ExchangeRole
        /// `GET`, `POST`.
        public var method: String
        /// As far as it is known, redacted: `https://api.example.com/login?page=1`.
        public var url: String
        /// nil while it is in progress.
        public var state: ExchangeState?
        /// The status code; nil where no response came.
        public var status: Int?
        /// Microseconds since 1970.
        package var openedMicroseconds: Int64
        /// Microseconds since 1970; nil where it was not measured.
        package var firstByteMicroseconds: Int64?
        /// Microseconds since 1970; nil while it is in progress.
        package var closedMicroseconds: Int64?
        /// Bytes of the request's body; nil where it is not known.
        public var sentByteCount: Int64?
        /// Bytes of the response's body; nil where it is not known.
        public var receivedByteCount: Int64?
        /// Redacted, in the order in which they were recorded.
        public var requestHeaderFields: [HeaderField]
        /// Redacted, in the order in which they were recorded.
        public var responseHeaderFields: [HeaderField]
        /// Why it failed; nil when it did not.
        public var error: RecordedError?
        /// How it went on its way; times in microseconds since 1970.
        package var transfer: Fact.Transfer

        /// Makes an exchange.
        package init(
            id: FactID, part: Int64, role: ExchangeRole, method: String, url: String, state: ExchangeState?,
            status: Int?,
            openedMicroseconds: Int64, firstByteMicroseconds: Int64?, closedMicroseconds: Int64?, sentByteCount: Int64?,
            receivedByteCount: Int64?,
            requestHeaderFields: [HeaderField], responseHeaderFields: [HeaderField], error: RecordedError?,
            transfer: Fact.Transfer = Fact.Transfer()
        ) {
            self.id = id
            self.part = part
            self.role = role
            self.method = method
            self.url = url
            self.state = state
            self.status = status
            self.openedMicroseconds = openedMicroseconds
            self.firstByteMicroseconds = firstByteMicroseconds
            self.closedMicroseconds = closedMicroseconds
            self.sentByteCount = sentByteCount
            self.receivedByteCount = receivedByteCount
            self.requestHeaderFields = requestHeaderFields
            self.responseHeaderFields = responseHeaderFields
            self.error = error
            self.transfer = transfer
        }
    }
}

/// In JSON, attributes that were set are an event without a code, which has `sets_attributes`: readers that do not know
/// the member take it for an event, and none stops at a word that it does not know.
extension TransactionRecord.Entry {
    private enum CodingKeys: CodingKey {
        case id, kind, part, timeMicroseconds, label, code, error, attributes, exchange, isLate, setsAttributes
    }

    /// Reads an entry.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let setsAttributes = try members.decodeIfPresent(Bool.self, forKey: .setsAttributes) ?? false
        self.init(
            id: try members.decode(FactID.self, forKey: .id),
            kind: setsAttributes ? .attributesSet : try members.decode(TransactionRecord.Kind.self, forKey: .kind),
            part: try members.decode(Int64.self, forKey: .part),
            timeMicroseconds: try members.decode(Int64.self, forKey: .timeMicroseconds),
            label: try members.decode(String.self, forKey: .label),
            code: try members.decodeIfPresent(Int.self, forKey: .code),
            error: try members.decodeIfPresent(RecordedError.self, forKey: .error),
            attributes: try members.decode(Attributes.self, forKey: .attributes),
            exchange: try members.decodeIfPresent(FactID.self, forKey: .exchange),
            isLate: try members.decode(Bool.self, forKey: .isLate))
    }

    /// Writes an entry.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(kind == .attributesSet ? .event : kind, forKey: .kind)
        try members.encode(part, forKey: .part)
        try members.encode(timeMicroseconds, forKey: .timeMicroseconds)
        try members.encode(label, forKey: .label)
        try members.encodeIfPresent(code, forKey: .code)
        try members.encodeIfPresent(error, forKey: .error)
        try members.encode(attributes, forKey: .attributes)
        try members.encodeIfPresent(exchange, forKey: .exchange)
        try members.encode(isLate, forKey: .isLate)
        if kind == .attributesSet { try members.encode(true, forKey: .setsAttributes) }
    }
}
