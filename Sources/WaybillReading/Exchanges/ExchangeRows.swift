import WaybillCore
import WaybillStore

/// Where an exchange's row is, and when it was opened.
struct ExchangeKey {
    /// Microseconds since 1970.
    var opened: Int64
    /// The `sources.id` of its source.
    var source: Int64
    var part: Int64
    var sequence: Int64

    /// The order of lists, newest first; ties by source and sequence.
    static func follows(_ left: ExchangeKey, _ right: ExchangeKey) -> Bool {
        (left.opened, left.source, left.sequence) > (right.opened, right.source, right.sequence)
    }
}

/// Reads the rows of exchanges as records, within one read of the store.
final class ExchangeRows {
    private let connection: Connection
    private var clocks: [Int64: WallClock] = [:]

    init(_ connection: Connection) { self.connection = connection }

    /// nil where the row is gone.
    func record(at key: ExchangeKey) throws(WaybillError) -> ExchangeRecord? {
        let clock = try clock(of: key.source)
        return try connection.statement(Self.query).first(key.source, key.part, key.sequence) { row in
            Self.record(row, clock)
        } ?? nil
    }

    private func clock(of source: Int64) throws(WaybillError) -> WallClock {
        if let known = clocks[source] { return known }
        let clock = try WallClock(of: source, connection)
        clocks[source] = clock
        return clock
    }

    private static let query = """
        SELECT \(FactRowReader.exchangeOpenedColumns), \(FactRowReader.exchangeClosedColumns), \
        s.uuid, s.app, s.app_version, s.device, s.os, s.os_version, s.ended, p.guid, p.use_case, \
        \(SQL.name(useCase: "p.use_case", event: "-1", otherwise: "'use case ' || p.use_case")), \
        \(SQL.endedBy("s")) \
        FROM network_logs l JOIN sources s ON s.id = l.source LEFT JOIN parts p ON p.source = l.source AND p.sequence = l.part \
        WHERE l.source = ? AND l.part = ? AND l.sequence = ? AND l.method IS NOT NULL
        """

    private static func record(_ row: Row, _ clock: WallClock) -> ExchangeRecord? {
        let rest = row.dropFirst(19)
        let source = TransactionRecord.Source(
            id: rest.guid(0), app: rest.text(1), appVersion: rest.text(2), device: rest.text(3), os: rest.text(4),
            osVersion: rest.text(5), endedBy: rest.sourceEnd(10))
        let closed = row.isNull(8) ? nil : FactRowReader.exchangeClosed(row.dropFirst(8))
        guard
            let exchange = TransactionRecord.Exchange(
                FactRowReader.exchangeOpened(row), closed: closed, source: source.id, clock: clock)
        else {
            return nil
        }
        let transaction = rest.optionalGUID(7)
        return ExchangeRecord(
            exchange: exchange,
            state: ExchangeRecord.State(
                exchange.state, isMocked: exchange.transfer.isMocked, hasSourceEnded: rest.bool(6)),
            source: source, transaction: transaction, useCase: transaction.map { _ in rest.int(8) },
            useCaseName: transaction.map { _ in rest.text(9) })
    }
}
