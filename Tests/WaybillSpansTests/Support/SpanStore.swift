import WaybillCore

@testable import WaybillQueries
@testable import WaybillSpans
@testable import WaybillStore

/// A collector's store in memory, with helpers for tests. All stores have the same secret, and therefore the same
/// source IDs.
struct SpanStore {
    static let wall: Int64 = 1_790_000_000_000_000

    let store: Store
    let reader: StoreReader

    init(key: String = "the key of every store of a test") throws {
        let place = ResolvedLocation.memory(name: GUID().description)
        store = try Store(place)
        try store.set("span_key", to: key)
        reader = try StoreReader(place)
    }

    @discardableResult
    func add(
        _ spans: [ReceivedSpan], of service: Attributes = SpanStore.shop, sentBy token: String = "t1",
        at wall: Int64 = SpanStore.wall
    ) throws -> SpanVerdict {
        var request = TraceRequest()
        request.resources = [ReceivedResource(attributes: service, spans: spans)]
        return try store.ingest(request, sentBy: token, receivedAt: wall)
    }

    @discardableResult
    func add(_ set: TransactionSet) throws -> Receipt {
        try store.ingest([ReceivedSet(set: Redactor().redacted(set), atMicroseconds: Self.wall)])[0].get()
    }

    func record(of transaction: GUID) throws -> TransactionRecord? {
        try reader.transaction(transaction, now: Self.wall)
    }

    static let shop: Attributes = [
        "service.name": "shop", "service.version": "1.2", "service.instance.id": "shop-1",
        "telemetry.sdk.language": "python",
    ]
    static let stock: Attributes = ["service.name": "stock", "service.instance.id": "stock-7"]

    /// Returns the content of the rows, without the numbers that depend on the order of arrival.
    func dump() throws -> [String] {
        let source = "(SELECT hex(uuid) FROM sources WHERE id = x.source)"
        let part =
            "(SELECT hex(guid) || use_case || ' ' || at_us FROM parts p WHERE p.source = x.source AND p.sequence = x.part)"
        let cause = """
            (SELECT hex(s.uuid) || l.at_us || l.path FROM sources s JOIN exchanges l ON l.source = s.id \
            WHERE s.uuid = x.cause_source AND l.sequence = x.cause)
            """
        let tables: [(String, [String])] = [
            (
                "parts",
                [
                    source, "hex(guid)", "use_case", "joined", "at_us", "opened_detail", "closed_at_us",
                    "closed_detail",
                    "outcome", "error_code", "listed_us", "last_at_us", cause,
                ]
            ),
            ("events", [source, part, "at_us", "code", "detail"]),
            (
                "exchanges",
                [
                    source, part, "at_us", "role", "method", "host", "path", "opened_detail", "closed_at_us", "state",
                    "status", "sent_bytes", "received_bytes", "closed_detail",
                ]
            ),
            (
                "spans",
                [source, "hex(guid)", "span", "parent", "kind", "part IS NULL", "fact IS NULL", "uncaused", "original"]
            ),
            ("names", ["use_case", "event", "app", "app_version", "name"]),
        ]
        var lines: [String] = []
        for (table, columns) in tables {
            let text = columns.map { "quote(\($0))" }.joined(separator: " || ' ' || ")
            lines += try store.connection.statement("SELECT '\(table) ' || \(text) FROM \(table) x").rows { row in
                row.text(0)
            }
            .sorted()
        }
        lines += try reader.sources().map { "source \($0.id) \($0.app) \($0.ledger) \($0.gaps)" }.sorted()
        return lines
    }
}

/// Makes the spans of one trace, each with a different ID.
final class Trace {
    let transaction: GUID
    private var count: UInt64 = 0

    init(_ transaction: GUID = GUIDs.next()) { self.transaction = transaction }

    func span(
        _ name: String, _ kind: ReceivedSpan.Kind = .internal, below parent: SpanID? = nil, isRemote: Bool? = nil,
        at start: Int64 = 0, took: Int64 = 1000, _ attributes: Attributes = [:]
    ) -> ReceivedSpan {
        count += 1
        let begun = SpanStore.wall + start
        var span = ReceivedSpan(
            transaction: transaction, id: SpanID(FactID(source: transaction, sequence: 1_000_000 + Int64(count))))
        span.parent = parent
        span.flags = isRemote.map { $0 ? 0x300 : 0x100 } ?? 0
        (span.kindNumber, span.name, span.attributes) = (kind.rawValue, name, SpanAttributes(attributes))
        (span.startNanoseconds, span.endNanoseconds) = (UInt64(begun) * 1000, UInt64(begun + took) * 1000)
        return span
    }

    func server(_ path: String, below parent: SpanID?, at start: Int64 = 0, took: Int64 = 1000) -> ReceivedSpan {
        span(
            "GET \(path)", .server, below: parent, isRemote: parent == nil ? false : true, at: start, took: took,
            [
                "http.request.method": "GET", "url.path": .string(path), "url.scheme": "https",
                "server.address": "shop.example", "http.response.status_code": 200,
            ])
    }

    func client(_ url: String, below parent: SpanID?, at start: Int64 = 0, took: Int64 = 500) -> ReceivedSpan {
        span(
            "GET", .client, below: parent, isRemote: false, at: start, took: took,
            ["http.request.method": "GET", "url.full": .string(url), "http.response.status_code": 200])
    }
}

/// Makes transaction IDs at the time of the tests' stores.
enum GUIDs {
    static func next(at milliseconds: Int64 = SpanStore.wall / 1000 - 50) -> GUID {
        let random = GUID()
        return GUID(high: UInt64(milliseconds) << 16 | random.high & 0xFFFF, low: random.low)
    }
}

/// An app that began or joined a transaction and asked servers, sent as a separate set.
struct App {
    let source = GUID()
    let transaction: GUID
    private(set) var facts: [Fact] = []

    /// - Parameter span: The span that asked the app, by W3C Trace Context alone; `nil` if the app began the
    ///   transaction.
    init(_ transaction: GUID, askedBy span: SpanID? = nil) {
        self.transaction = transaction
        let told = span.flatMap { TraceParent(of: transaction, parent: $0) }
        add(
            .opened(
                Fact.Opened(
                    transaction: transaction, useCase: 3, isJoined: told != nil,
                    attributes: told.map { [TraceParent.fieldName: .string($0.description)] } ?? [:])))
    }

    private mutating func add(_ content: Fact.Content) {
        let sequence = Int64(facts.count + 1)
        facts.append(Fact(sequence: sequence, part: 1, atMicroseconds: sequence * 1000, content: content))
    }

    /// Asks a server. Returns the exchange, and the span ID that the request's `traceparent` gives for the caller.
    mutating func ask(_ path: String) -> (exchange: FactID, span: SpanID) {
        add(.exchangeOpened(Fact.ExchangeOpened(method: "GET", scheme: "https", host: "shop.example", path: path)))
        let id = FactID(source: source, sequence: Int64(facts.count))
        add(.exchangeClosed(Fact.ExchangeClosed(exchange: id.sequence, state: .completed, status: 200)))
        return (id, SpanID(id))
    }

    mutating func finish() { add(.closed(Fact.Closed(outcome: .succeeded))) }

    func set(_ range: ClosedRange<Int64>? = nil) -> TransactionSet {
        var share = TransactionSet.Share(
            source: SourceIdentity(id: source, app: "app", appVersion: "1"),
            clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: SpanStore.wall)])
        share.facts = facts.filter { range?.contains($0.sequence) ?? true }
        share.ledger = Ledger(recorded: Int64(facts.count), pending: Int64(facts.count))
        return TransactionSet(id: GUID(), sources: [share])
    }
}

extension SpanAttributes {
    init(_ attributes: Attributes) {
        self.init()
        for (name, value) in attributes.sortedByName { add(SpanAttribute(name: name, value: .scalar(value))) }
    }
}

extension ReceivedSpan {
    mutating func set(_ name: String, to value: AttributeValue) {
        attributes.add(SpanAttribute(name: name, value: .scalar(value)))
    }

    mutating func addEvent(_ name: String, at microseconds: Int64, _ attributes: Attributes = [:]) {
        add(Event(nanoseconds: UInt64(microseconds) * 1000, name: name, attributes: SpanAttributes(attributes)))
    }
}
