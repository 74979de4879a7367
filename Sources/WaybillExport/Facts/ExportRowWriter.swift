import WaybillCore
import WaybillReading
import WaybillStore

/// Writes each fact as one row that needs no other: with what its source, its part and its opening say of it, redacted once more.
struct ExportRowWriter<Format: RowFormat>: FactVisitor {
    private(set) var rows = Format()
    private(set) var count = 0
    var isFull: Bool { rows.bytes.count >= limit }

    private let limit: Int
    private let redactor: Redactor
    private let names: NameTable
    private var source = ScannedSource(share: ScannedShare(row: 0), source: RecordedSource(id: GUID(high: 0, low: 0)), clock: WallClock([]))
    private var useCase: Int?
    /// Of the part's transaction; it is the last column, as later versions of the format have theirs at the end.
    private var supportCode: String?
    private var eventNames: [EventCode: String] = [:]
    /// The columns that all facts of a part share.
    private var head: [UInt8] = []

    private struct EventCode: Hashable {
        var useCase: Int
        var event: Int
    }

    /// - Parameter limit: Bytes after which it is full.
    init(limit: Int, redactor: Redactor, _ connection: Connection) {
        self.limit = limit
        self.redactor = redactor
        names = NameTable(connection)
    }

    /// Takes what was written away.
    mutating func removeAll() { rows.removeAll() }

    mutating func enter(_ source: ScannedSource) {
        self.source = source
        eventNames = [:]
    }

    mutating func enter(_ part: ScannedPart) {
        var opened: Fact.Opened?
        if case .opened(let content) = part.opened?.content { opened = content }
        useCase = opened?.useCase
        supportCode = opened?.transaction.supportCode.description
        let source = source.source
        var row = Format()
        row.guid("transaction_id", opened?.transaction)
        row.integer("use_case", useCase)
        row.text("use_case_name", part.useCaseName.map(redactor.text))
        row.guid("source", source.id)
        row.text("app", redacted(source.app))
        row.text("app_version", redacted(source.appVersion))
        row.text("device", redacted(source.device))
        row.text("os", redacted(source.os))
        row.text("os_version", redacted(source.osVersion))
        row.guid("installation", source.installation)
        row.attributes("source_attributes", redactor.attributes(source.attributes).0)
        row.integer("part", part.sequence)
        row.bool("is_joined", opened?.isJoined)
        head = row.bytes
    }

    mutating func visit(_ fact: Fact, closing opening: Fact?) throws(WaybillError) {
        var row = ExportRow(redactor.redacted(fact), opening: redactor.redacted(opening), in: source.clock)
        if let code = row.code { row.name = try name(ofEvent: code) }
        rows.beginRow(head)
        row.write(to: &rows)
        rows.text("support_code", supportCode)
        rows.endRow()
        count += 1
    }

    private mutating func name(ofEvent code: Int) throws(WaybillError) -> String {
        let key = EventCode(useCase: useCase ?? -1, event: code)
        if let name = eventNames[key] { return name }
        let source = source.source
        let name = redactor.text(
            try names.event(
                code, of: key.useCase,
                in: TransactionRecord.Source(
                    id: source.id, app: source.app, appVersion: source.appVersion, device: source.device, os: source.os,
                    osVersion: source.osVersion)))
        eventNames[key] = name
        return name
    }

    private func redacted(_ text: String) -> String? { text.isEmpty ? nil : redactor.text(text) }
}
