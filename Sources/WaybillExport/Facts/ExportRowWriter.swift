package import WaybillCore
import WaybillReading
package import WaybillStore

/// Writes each fact as one row that needs no other: with what its source, its part and its opening say of it, redacted
/// once more.
struct ExportRowWriter<Format: RowFormat>: FactVisitor {
    private(set) var rows = Format()
    private(set) var count = 0
    var isFull: Bool { rows.bytes.count >= limit }

    private let limit: Int
    private let redactor: Redactor
    private let eventName: EventName
    private var source = ScannedSource(
        share: ScannedShare(row: 0), source: RecordedSource(id: GUID(high: 0, low: 0)), clock: WallClock([]))
    /// The source as rows tell it.
    private var described: Redacted<RecordedSource>
    private var useCase: Int?
    /// Of the part's transaction.
    private var supportCode: String?
    private var eventNames: [EventCode: Redacted<String>] = [:]
    /// The columns that all facts of a part share.
    private var head: [UInt8] = []

    private struct EventCode: Hashable {
        var useCase: Int
        var event: Int
    }

    /// What a source calls an event of a use case; -1 is a use case that is not known.
    typealias EventName = (_ code: Int, _ useCase: Int, _ source: RecordedSource) throws(WaybillError) -> String

    /// - Parameter limit: Bytes after which it is full.
    init(limit: Int, redactor: Redactor, eventName: @escaping EventName) {
        self.limit = limit
        self.redactor = redactor
        self.eventName = eventName
        described = redactor.redacted(source.source)
    }

    /// Names events as the store does.
    init(limit: Int, redactor: Redactor, _ connection: Connection) {
        let names = NameTable(connection)
        self.init(limit: limit, redactor: redactor) { code, useCase, source throws(WaybillError) in
            try names.event(code, of: useCase, app: source.app, version: source.appVersion)
        }
    }

    /// Takes what was written away.
    mutating func removeAll() { rows.removeAll() }

    mutating func enter(_ source: ScannedSource) {
        self.source = source
        described = redactor.redacted(source.source)
        eventNames = [:]
    }

    mutating func enter(_ part: ScannedPart) {
        var opened: Fact.Opened?
        if case .opened(let content) = part.opened?.content { opened = content }
        useCase = opened?.useCase
        supportCode = opened?.transaction.supportCode.description
        let source = described.value
        var row = Format()
        row.guid("transaction_id", opened?.transaction)
        row.integer("use_case", useCase)
        row.text("use_case_name", redactor.redacted(part.useCaseName).value)
        row.guid("source", source.id)
        row.text("app", text(source.app))
        row.text("app_version", text(source.appVersion))
        row.text("device", text(source.device))
        row.text("os", text(source.os))
        row.text("os_version", text(source.osVersion))
        row.guid("installation", source.installation)
        row.attributes("source_attributes", source.attributes)
        row.integer("part", part.sequence)
        row.bool("is_joined", opened?.isJoined)
        head = row.bytes
    }

    mutating func visit(_ fact: Fact, closing opening: Fact?) throws(WaybillError) {
        var row = ExportRow(redactor.redacted(fact), opening: redactor.redacted(opening), in: source.clock)
        if row.setsAttributes {
            row.name = redactor.redacted("attributes set")
        } else if let code = row.code {
            row.name = try name(ofEvent: Int(clamping: code))
        }
        rows.beginRow(head)
        row.write(to: &rows)
        rows.text("support_code", supportCode)
        row.writeLater(to: &rows)
        rows.text("ended_by", source.endedBy?.name)
        row.writeSampling(to: &rows)
        rows.guid("parent", row.parent)
        rows.integer("parent_part", row.parentPart)
        rows.integer("timeout_us", row.timeout)
        rows.bool("ended", source.hasEnded ? true : nil)
        rows.endRow()
        count += 1
    }

    private mutating func name(ofEvent code: Int) throws(WaybillError) -> Redacted<String> {
        let key = EventCode(useCase: useCase ?? -1, event: code)
        if let name = eventNames[key] { return name }
        let name = redactor.redacted(try eventName(code, key.useCase, source.source))
        eventNames[key] = name
        return name
    }

    private func text(_ text: String) -> String? { text.isEmpty ? nil : text }
}

extension TextFormat {
    /// Facts as lines of NDJSON, redacted once more, in the order in which they are given: for a store that has them at
    /// hand and not in SQLite.
    ///
    /// - Parameters:
    ///   - facts: Each with what a line says of its source, of its part, and of what it closes.
    ///   - eventName: What a source calls an event of a use case; -1 is a use case that is not known.
    package static func ndjson(
        _ facts: [(source: ScannedSource, part: ScannedPart, fact: Fact, opening: Fact?)],
        eventName: @escaping (_ code: Int, _ useCase: Int, _ source: RecordedSource) -> String
    ) throws(WaybillError) -> [UInt8] {
        var writer = ExportRowWriter<NDJSONFormat>(limit: .max, redactor: Redactor(), eventName: eventName)
        for (source, part, fact, opening) in facts {
            writer.enter(source)
            writer.enter(part)
            try writer.visit(fact, closing: opening)
        }
        return writer.rows.bytes
    }
}
