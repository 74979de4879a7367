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
    var opened: Int
    /// Microseconds from the opening.
    var firstByteAfter, duration: Int?
    var status: Int?
    var sentByteCount, receivedByteCount: Int?
    var error: RecordedError?
}

extension MeasuredExchange {
    static let columns = """
        l.source, l.sequence, l.at_us, l.role, l.method, l.host, l.path, l.closed_at_us, l.first_byte_us, l.state, l.status, l.sent_bytes, \
        l.received_bytes, l.error_code, s.ended, p.guid, \
        CASE WHEN l.error_code IS NOT NULL OR instr(l.closed_detail, '"mocked"') THEN l.closed_detail END
        """

    init(_ row: Row, _ sources: SourceDirectory) {
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
    }
}
