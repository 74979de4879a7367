import WaybillCore
import WaybillQueries
import WaybillStore

/// The columns that differ between facts of a part; `nil` if a kind of fact lacks the value.
struct ExportRow {
    var sequence: Int64
    var kind: String
    var time: Int64
    var at: Int64
    var code: Int64?
    var name: Redacted<String>?
    var outcome: String?
    var duration: Int64?
    var error: RecordedError?
    var attributes: Attributes = [:]
    var cause: FactID?
    var parent: GUID?
    var parentPart: Int64?
    var exchange: Int64?
    var role: String?
    var method: String?
    var url: String?
    var state: String?
    var status: Int?
    var firstByteAfter: Int64?
    var sentByteCount: Int64?
    var receivedByteCount: Int64?
    var headerFields: [HeaderField] = []
    var sentAfter: Int64?
    var transfer = Fact.Transfer()
    var sampling: Fact.Sampling?
    var timeout: Int64?
    var removed: [String] = []
    /// The members of a fact of an unknown kind, as the text of a JSON object.
    var members: String?

    /// - Parameter opening: The fact that this one closes; `nil` if there is none, or if it has not arrived.
    init(_ fact: Redacted<Fact>, opening: Redacted<Fact?>, in clock: WallClock) {
        let (fact, opening) = (fact.value, opening.value)
        sequence = fact.sequence
        kind = ""
        time = clock.wall(fact.atMicroseconds)
        at = fact.atMicroseconds
        duration = opening.map { fact.atMicroseconds - $0.atMicroseconds }
        switch fact.content {
        case .opened(let content):
            kind = content.isJoined ? "joined" : "begun"
            attributes = content.attributes
            cause = content.cause
            sampling = content.sampling
            timeout = content.timeoutMicroseconds
            parent = content.parent
            parentPart = content.parentPart
        case .event(let content):
            kind = "event"
            code = Int64(content.code)
            error = content.error
            attributes = content.attributes
        case .attributesSet(let content):
            kind = "attributes_set"
            attributes = content.attributes
            removed = content.removed
        case .unknown(let content):
            kind = content.kind
            members = content.members
        case .closed(let content):
            kind = "finished"
            outcome = content.outcome.name
            error = content.error
            attributes = content.attributes
        case .exchangeOpened(let content):
            kind = "exchange_begun"
            exchange = fact.sequence
            take(content)
            headerFields = content.headerFields
        case .exchangeClosed(let content):
            kind = "exchange_finished"
            exchange = content.exchange
            if case .exchangeOpened(let request) = opening?.content { take(request) }
            state = content.state.name
            status = content.status
            firstByteAfter = content.firstByteAtMicroseconds.flatMap { first in
                opening.map { first - $0.atMicroseconds }
            }
            sentByteCount = content.sentByteCount
            receivedByteCount = content.receivedByteCount
            headerFields = content.headerFields
            error = content.error
            transfer = content.transfer.timed(by: clock.wall)
            sentAfter = content.transfer.sentAtMicroseconds.flatMap { sent in opening.map { sent - $0.atMicroseconds } }
        }
    }

    private mutating func take(_ request: Fact.ExchangeOpened) {
        role = request.role.name
        method = request.method
        url = request.url
    }

    func writeHeading(to row: inout some RowFormat) {
        row.integer("sequence", sequence)
        row.text("kind", kind)
        row.integer("time_us", time)
        row.integer("at_us", at)
        row.integer("code", code)
        row.text("name", name?.value)
    }

    func write(to row: inout some RowFormat) {
        row.text("outcome", outcome)
        row.integer("duration_us", duration)
        row.text("error_domain", error.flatMap { $0.domain.isEmpty ? nil : $0.domain })
        row.integer("error_code", error?.code)
        row.text("error_text", error?.text)
        row.attributes("attributes", attributes)
        row.guid("cause_source", cause?.source)
        row.integer("cause_sequence", cause?.sequence)
    }

    func writeExchange(to row: inout some RowFormat) {
        row.integer("exchange", exchange)
        row.text("role", role)
        row.text("method", method)
        row.text("url", url)
        row.text("state", state)
        row.integer("status", status)
        row.integer("first_byte_after_us", firstByteAfter)
        row.integer("sent_bytes", sentByteCount)
        row.integer("received_bytes", receivedByteCount)
        row.json("headers", headerFields) { $0.headerFields($1) }
        row.text("http_version", transfer.httpVersion)
        row.integer("received_wire_bytes", transfer.receivedWireByteCount)
        row.integer("lookup_us", transfer.phases.lookupMicroseconds)
        row.integer("connect_us", transfer.phases.connectMicroseconds)
        row.integer("secure_us", transfer.phases.secureMicroseconds)
        row.integer("sent_after_us", sentAfter)
        row.bool("is_reused", transfer.isConnectionReused)
        row.json("redirects", transfer.redirects) { $0.redirects($1) }
        row.bool("is_mocked", transfer.isMocked ? true : nil)
        row.text("rule", transfer.rule)
    }

    func writeSampling(to row: inout some RowFormat) {
        row.integer("sample_ppm", sampling?.perMillion)
        row.bool("sample_kept", sampling?.isChosen == false ? true : nil)
        row.integer("slow_us", sampling?.slowMicroseconds)
    }

    var isOfNoExchange: Bool { exchange == nil }

    /// Whether all columns of ``writeLater(to:)`` are without a value.
    var hasNothingLater: Bool { error == nil && members == nil && removed.isEmpty && transfer.webSocket == nil }

    func writeLater(to row: inout some RowFormat) {
        row.text("error_name", error?.name)
        row.json("error_underlying", error?.underlying ?? []) { $0.underlying($1) }
        row.json("removed_attributes", removed) { $0.texts($1) }
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
