import WaybillCore
import WaybillQueries
import WaybillStore

/// The columns that differ between facts of a part, which are empty if a kind of fact lacks the value.
struct ExportRow {
    var name: Redacted<String>?
    private(set) var opened: Fact.Opened?
    private(set) var event: Fact.Event?
    private(set) var unknown: Fact.Unknown?
    private var changed: Fact.AttributesSet?
    private var closed: Fact.Closed?
    private var exchange: Int64?
    private var request: Fact.ExchangeOpened?
    private var answer: Fact.ExchangeClosed?
    private var transfer = Fact.Transfer()
    private let kind: String
    private let sequence: Int64
    private let at: Int64
    private let time: Int64
    private let openingAt: Int64?

    /// - Parameter opening: The fact that this one closes; `nil` if there is none, or if it has not arrived.
    init(_ fact: Redacted<Fact>, opening: Redacted<Fact?>, in clock: WallClock) {
        let (fact, opening) = (fact.value, opening.value)
        (sequence, at, openingAt) = (fact.sequence, fact.atMicroseconds, opening?.atMicroseconds)
        time = clock.wall(fact.atMicroseconds)
        switch fact.content {
        case .opened(let content):
            kind = content.isJoined ? "joined" : "begun"
            opened = content
        case .event(let content):
            kind = "event"
            event = content
        case .attributesSet(let content):
            kind = "attributes_set"
            changed = content
        case .unknown(let content):
            kind = content.kind
            unknown = content
        case .closed(let content):
            kind = "finished"
            closed = content
        case .exchangeOpened(let content):
            kind = "exchange_begun"
            exchange = fact.sequence
            request = content
        case .exchangeClosed(let content):
            kind = "exchange_finished"
            exchange = content.exchange
            answer = content
            transfer = content.transfer.timed(by: clock.wall)
            if case .exchangeOpened(let content) = opening?.content { request = content }
        }
    }

    private var error: RecordedError? { event?.error ?? closed?.error ?? answer?.error }

    private var attributes: Attributes {
        opened?.attributes ?? event?.attributes ?? changed?.attributes ?? closed?.attributes ?? [:]
    }

    private var headerFields: [HeaderField] { answer?.headerFields ?? request?.headerFields ?? [] }

    private func sinceOpening(_ microseconds: Int64?) -> Int64? {
        microseconds.flatMap { time in openingAt.map { time - $0 } }
    }

    func writeHeading(to row: inout some RowFormat) {
        row.integer("sequence", sequence)
        row.text("kind", kind)
        row.integer("time_us", time)
        row.integer("at_us", at)
        row.integer("code", event?.code)
        row.text("name", name?.value)
    }

    func write(to row: inout some RowFormat) {
        row.text("outcome", closed?.outcome.name)
        row.integer("duration_us", sinceOpening(at))
        row.text("error_domain", error.flatMap { $0.domain.isEmpty ? nil : $0.domain })
        row.integer("error_code", error?.code)
        row.text("error_text", error?.text)
        row.attributes("attributes", attributes)
        row.guid("cause_source", opened?.cause?.source)
        row.integer("cause_sequence", opened?.cause?.sequence)
    }

    func writeExchange(to row: inout some RowFormat) {
        row.integer("exchange", exchange)
        row.text("role", request?.role.name)
        row.text("method", request?.method)
        row.text("url", request?.url)
        row.text("state", answer?.state.name)
        row.integer("status", answer?.status)
        row.integer("first_byte_after_us", sinceOpening(answer?.firstByteAtMicroseconds))
        row.integer("sent_bytes", answer?.sentByteCount)
        row.integer("received_bytes", answer?.receivedByteCount)
        row.json("headers", headerFields) { $0.headerFields($1) }
        row.text("http_version", transfer.httpVersion)
        row.integer("received_wire_bytes", transfer.receivedWireByteCount)
        row.integer("lookup_us", transfer.phases.lookupMicroseconds)
        row.integer("connect_us", transfer.phases.connectMicroseconds)
        row.integer("secure_us", transfer.phases.secureMicroseconds)
        row.integer("sent_after_us", sinceOpening(answer?.transfer.sentAtMicroseconds))
        row.bool("is_reused", transfer.isConnectionReused)
        row.json("redirects", transfer.redirects) { $0.redirects($1) }
        row.bool("is_mocked", transfer.isMocked ? true : nil)
        row.text("rule", transfer.rule)
    }

    func writeSampling(to row: inout some RowFormat) {
        row.integer("sample_ppm", opened?.sampling?.perMillion)
        row.bool("sample_kept", opened?.sampling?.isChosen == false ? true : nil)
        row.integer("slow_us", opened?.sampling?.slowMicroseconds)
    }

    var isOfNoExchange: Bool { exchange == nil }

    /// Whether all columns of ``writeLater(to:)`` are without a value.
    var hasNothingLater: Bool {
        error == nil && unknown == nil && changed?.removed.isEmpty ?? true && transfer.webSocket == nil
    }

    func writeLater(to row: inout some RowFormat) {
        row.text("error_name", error?.name)
        row.json("error_underlying", error?.underlying ?? []) { $0.underlying($1) }
        row.json("removed_attributes", changed?.removed ?? []) { $0.texts($1) }
        row.integer("messages_sent", transfer.webSocket?.sentMessageCount)
        row.integer("messages_received", transfer.webSocket?.receivedMessageCount)
        row.integer("pings", transfer.webSocket?.pingCount)
        row.integer("close_code", transfer.webSocket?.closeCode)
        row.text("close_reason", transfer.webSocket?.closeReason)
    }
}

/// The columns in order; see `Schemas/export.v1.schema.json`.
enum ExportColumns {
    static let all: [StaticString] = [
        "transaction_id", "use_case", "use_case_name", "source", "app", "app_version", "device", "os", "os_version",
        "installation",
        "source_attributes", "part", "is_joined", "sequence", "kind", "time_us", "at_us", "code", "name", "outcome",
        "duration_us",
        "error_domain", "error_code", "error_text", "attributes", "cause_source", "cause_sequence", "exchange", "role",
        "method", "url",
        "state", "status", "first_byte_after_us", "sent_bytes", "received_bytes", "headers",
        "http_version", "received_wire_bytes", "lookup_us", "connect_us", "secure_us", "sent_after_us", "is_reused",
        "redirects",
        "is_mocked",
        "rule", "support_code", "error_name", "error_underlying", "removed_attributes",
        "messages_sent", "messages_received", "pings", "close_code", "close_reason",
        "ended_by", "sample_ppm", "sample_kept", "slow_us",
        "parent", "parent_part", "timeout_us", "ended", "members",
    ]
}
