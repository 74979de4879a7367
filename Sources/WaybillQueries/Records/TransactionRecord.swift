public import WaybillCore

/// The stored data of a transaction from all sources. Times are by each source's clock unless ``aligned``.
public struct TransactionRecord: Hashable, Sendable, Codable {
    /// The transaction as a row of a list.
    public var summary: TransactionSummary
    /// The sources in the order of ``parts``.
    public var sources: [Source]
    /// The part that began the transaction, then the joined ones by time.
    public var parts: [Part]
    /// All facts in order: by monotonic clock within a source, by wall time across sources; ties by source.
    public var timeline: [Entry]
    /// The network exchanges, by time of opening.
    public var exchanges: [Exchange]
    /// The clock offsets, which ``aligned`` applies; `nil` with a single source.
    public var clocks: ClockAlignment?
    /// The known ancestors and descendants; `nil` without any.
    public var family: Family?

    /// Creates a record.
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

    /// A link to another transaction, as `link(to:as:)` records it.
    public struct Link: Hashable, Sendable {
        /// The other transaction, which may be in another store.
        public var transaction: GUID
        /// The relation of this transaction to the other one; `nil` without one.
        public var relation: String?
    }

    /// The links to other transactions, without duplicates, in the order of the timeline.
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

    /// The words of users, as `feedback(_:about:)` records them.
    package var feedback: [String] {
        timeline.compactMap { entry in
            guard entry.kind == .event, entry.label == RecordedName.feedback else { return nil }
            return entry.attributes[RecordedName.feedback]?.description
        }
    }

    /// The known ancestors and descendants of a transaction.
    public struct Family: Hashable, Sendable, Codable {
        /// The ancestors from the top to the parent, at most the nearest 32.
        public var above: [TransactionSummary]
        /// The descendants, each after its parent and in order of begin time. At most the nearest 500.
        public var below: [TransactionSummary]
        /// Whether any were left out.
        public var isCut: Bool

        /// Creates a family.
        public init(above: [TransactionSummary], below: [TransactionSummary], isCut: Bool = false) {
            self.above = above
            self.below = below
            self.isCut = isCut
        }
    }

    /// The description of a source.
    public struct Source: Hashable, Sendable, Codable {
        /// The ID of the source.
        public var id: GUID
        /// The name of the app or service.
        public var app: String
        /// The version of the app.
        public var appVersion: String
        /// The device model.
        public var device: String
        /// The operating system, such as `iOS` or `Linux`.
        public var os: String
        /// The version of the operating system.
        public var osVersion: String
        /// The end of the process; `nil` if it is unknown, or if the source has not ended.
        public var endedBy: SourceEnd?

        /// Creates a description.
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

    /// The part of one source.
    public struct Part: Hashable, Sendable, Codable {
        /// The source and the sequence of its `opened` fact.
        public var id: FactID
        /// Whether another source began the transaction.
        public var isJoined: Bool
        /// The exchange that caused a joined part; `nil` if it is unknown.
        public var cause: FactID?
        package var openedMicroseconds: Int64
        package var closedMicroseconds: Int64?
        /// The outcome of this part. Only the part that began the transaction decides the transaction's outcome.
        public var outcome: TransactionOutcome
        /// The error; `nil` without one.
        public var error: RecordedError?
        /// The latest values of all attributes that were not removed.
        public var attributes: Attributes

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

    /// The kinds of facts.
    public enum Kind: String, Hashable, Sendable, Codable {
        /// The source began the transaction.
        case begun
        /// The source joined a transaction that another source had begun.
        case joined
        /// Something happened in a part.
        case event
        /// Attributes of a part were set or removed.
        case attributesSet = "attributes_set"
        /// A part got its outcome.
        case finished
        /// A client sent a request, or a server received one.
        case exchangeBegun = "exchange_begun"
        /// An exchange ended.
        case exchangeFinished = "exchange_finished"
        /// A kind that this version doesn't know. The entry's label is its word.
        case unknown
    }

    /// One fact on the timeline.
    public struct Entry: Hashable, Sendable, Codable, Identifiable {
        /// The source and the fact's sequence.
        public var id: FactID
        /// The kind of fact.
        public var kind: Kind
        /// The sequence of its part.
        public var part: Int64
        package var timeMicroseconds: Int64
        /// The text to show: the event's name, `begun`, `joined`, the outcome, `POST /login`, `200`.
        public var label: String
        /// The code of the event; `nil` for other kinds.
        public var code: Int?
        /// The error; `nil` without one.
        public var error: RecordedError?
        /// The attributes of the fact.
        public var attributes: Attributes
        /// The exchange; `nil` for other kinds.
        public var exchange: FactID?
        /// Whether it was recorded after its part was closed.
        public var isLate: Bool

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
        /// The source and the sequence of its `exchange_begun` fact.
        public var id: FactID
        /// The sequence of its part; 0 outside any transaction.
        public var part: Int64
        /// The end that recorded it.
        public var role: ExchangeRole
        /// The method, such as `GET`.
        public var method: String
        /// The redacted URL, as far as it is known: `https://api.example.com/login?page=1`.
        public var url: String
        /// The state; `nil` while it is in progress.
        public var state: ExchangeState?
        /// The status code; `nil` without a response.
        public var status: Int?
        package var openedMicroseconds: Int64
        package var firstByteMicroseconds: Int64?
        package var closedMicroseconds: Int64?
        /// The bytes of the request body; `nil` if unknown.
        public var sentByteCount: Int64?
        /// The bytes of the response body; `nil` if unknown.
        public var receivedByteCount: Int64?
        /// The redacted header fields of the request, in the recorded order.
        public var requestHeaderFields: [HeaderField]
        /// The redacted header fields of the response, in the recorded order.
        public var responseHeaderFields: [HeaderField]
        /// The error; `nil` without one.
        public var error: RecordedError?
        package var transfer: Fact.Transfer

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
