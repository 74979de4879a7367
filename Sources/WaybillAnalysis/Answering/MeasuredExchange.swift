import WaybillCore
import WaybillReading
import WaybillStore

/// An exchange, as far as questions go.
struct MeasuredExchange {
    var id: Fact.ID
    var transaction: GUID?
    var role: Fact.Role
    var method: String
    var host: String?
    var path: String
    var state: ExchangeRecord.State
    /// Microseconds since 1970.
    var opened: Int64
    /// Microseconds from the opening.
    var firstByteAfter, duration: Int64?
    var status: Int?
    var sentByteCount, receivedByteCount: Int64?
    var error: RecordedError?
    /// For how many it stands, in millionths: for as many as its part.
    var weight = Weights.one
}

extension MeasuredExchange {
    static let columns = """
        l.source, l.sequence, l.at_us, l.role, l.method, l.host, l.path, l.closed_at_us, l.first_byte_us, l.state, l.status, l.sent_bytes, \
        l.received_bytes, l.error_code, s.ended, p.guid, \
        CASE WHEN l.error_code IS NOT NULL OR instr(l.closed_detail, '"mocked"') THEN l.closed_detail END, \
        CASE WHEN s.heard_us IS NOT NULL THEN p.sample_ppm END, p.sample_kept, p.slow_us, p.outcome, p.duration_us, p.timeout_us, \
        CASE WHEN p.sample_ppm IS NOT NULL AND p.outcome = 0 THEN \(SQL.lastActivity(guid: "p.guid")) ELSE 0 END
        """

    init(_ row: Row, _ sources: SourceDirectory, now wall: Int64) {
        let (source, at) = (row.int(0), row.int(2))
        // Most say nothing of interest there, and reading it would take longer than all the rest.
        let detail = DetailColumn(row.optionalText(16))
        id = Fact.ID(source: sources.entries[source]?.id ?? GUID(high: 0, low: 0), sequence: row.int(1))
        transaction = row.optionalGUID(15)
        role = Fact.Role(rawValue: row.int(3)) ?? .client
        method = row.text(4)
        host = row.optionalText(5)
        path = row.text(6)
        state = ExchangeRecord.State(
            row.optionalInt(9).flatMap(Fact.ExchangeState.init(rawValue:)), isMocked: detail.transfer.isMocked,
            hasSourceEnded: row.bool(14)
        )
        opened = sources.wall(at, in: source)
        firstByteAfter = row.optionalInt(8).map { $0 - at }
        duration = row.optionalInt(7).map { $0 - at }
        status = row.optionalInt(10)
        (sentByteCount, receivedByteCount) = (row.optionalInt(11), row.optionalInt(12))
        error = detail.error(code: row.optionalInt(13))
        guard let sampling = FactRowReader.sampling(row, from: 17) else { return }
        let outcome = TransactionOutcome(
            stored: row.int(20), lastActivity: row.int(23), timeout: row.int(22), now: wall)
        weight = sampling.weight(for: outcome, tookMicroseconds: row.optionalInt(21))
    }
}
