package import WaybillCore
import WaybillQueries
package import WaybillStore

/// Writes each fact as a self-contained row with its source, part and opening, redacted again.
struct ExportRowWriter<Format: RowFormat>: FactVisitor {
    private(set) var rows = Format()
    private(set) var count = 0
    var isFull: Bool { rows.bytes.count >= limit }

    private let limit: Int
    private let redactor: Redactor
    private let nameOfEvent: NameOfEvent
    private var source = ScannedSource(
        share: ScannedShare(row: 0), source: SourceIdentity(id: GUID(high: 0, low: 0)), clock: WallClock([]))
    private var sourceColumns: [UInt8] = []
    private var useCase: Int?
    private var useCaseName: (read: String?, redacted: Redacted<String?>)
    private var supportCode: String?
    private var eventNames: [EventCode: EventName] = [:]
    /// The name columns of events with small codes, indexed by code, to speed up the lookup. Unknown columns are empty.
    private var smallCodes: (useCase: Int, columns: [[UInt8]]) = (-1, [])
    private var head: [UInt8] = []
    private var line = EventLine(as: Format.self)
    /// Columns without values, written in advance: most rows need them.
    private let empty: (exchange: ArraySlice<UInt8>, later: ArraySlice<UInt8>)
    private var plainColumns: (before: [UInt8], behind: [UInt8]) = ([], [])
    private var isLineBegun = false

    private struct EventCode: Hashable {
        var useCase: Int
        var event: Int
    }

    private struct EventName {
        var redacted: Redacted<String>
        var column: [UInt8]
    }

    /// Use case -1 is unknown.
    typealias NameOfEvent = (_ code: Int, _ useCase: Int, _ source: SourceIdentity) throws(WaybillError) -> String

    init(limit: Int, redactor: Redactor, eventName: @escaping NameOfEvent) {
        self.limit = limit
        self.redactor = redactor
        nameOfEvent = eventName
        useCaseName = (nil, redactor.redacted(nil))
        let plain = Self.plainRow(redactor, in: source.clock)
        empty = (
            Format.columns { plain.writeExchange(to: &$0) }[...], Format.columns { plain.writeLater(to: &$0) }[...]
        )
        describeSource()
    }

    private static func plainRow(_ redactor: Redactor, in clock: WallClock) -> ExportRow {
        ExportRow(
            redactor.redacted(Fact(sequence: 0, part: 0, atMicroseconds: 0, content: .event(Fact.Event(code: 0)))),
            opening: redactor.redacted(nil), in: clock)
    }

    init(limit: Int, redactor: Redactor, _ connection: Connection) {
        let names = NameTable(connection)
        self.init(limit: limit, redactor: redactor) { code, useCase, source throws(WaybillError) in
            try names.event(code, of: useCase, source: source.id, app: source.app, version: source.appVersion)
        }
    }

    mutating func removeAll() { rows.removeAll() }

    mutating func enter(_ source: ScannedSource) {
        let isOther = source.source != self.source.source
        self.source = source
        if isOther { describeSource() }
        let plain = Self.plainRow(redactor, in: source.clock)
        plainColumns.before = Format.columns { plain.write(to: &$0) } + empty.exchange
        plainColumns.behind = Format.columns {
            Self.writeLast(of: plain, source, to: &$0)
            $0.endRow()
        }
        plainColumns.behind = empty.later + plainColumns.behind
    }

    private mutating func describeSource() {
        eventNames = [:]
        smallCodes = (-1, [])
        let source = redactor.redacted(source.source).value
        var row = Format()
        row.guid("source", source.id)
        row.text("app", text(source.app))
        row.text("app_version", text(source.appVersion))
        row.text("device", text(source.device))
        row.text("os", text(source.os))
        row.text("os_version", text(source.osVersion))
        row.guid("installation", source.installation)
        row.attributes("source_attributes", source.attributes)
        sourceColumns = row.bytes
    }

    mutating func enter(_ part: ScannedPart) {
        var opened: Fact.Opened?
        if case .opened(let content) = part.opened?.content { opened = content }
        useCase = opened?.useCase
        supportCode = opened?.transaction.supportCode.description
        if useCaseName.read != part.useCaseName {
            useCaseName = (part.useCaseName, redactor.redacted(part.useCaseName))
        }
        var row = Format()
        row.guid("transaction_id", opened?.transaction)
        row.integer("use_case", useCase)
        row.text("use_case_name", useCaseName.redacted.value)
        row.columns(sourceColumns)
        row.integer("part", part.sequence)
        row.bool("is_joined", opened?.isJoined)
        head = row.bytes
        isLineBegun = false
    }

    mutating func visit(_ event: PlainEvent) throws(WaybillError) {
        if !isLineBegun { beginLine() }
        let name = try column(ofEvent: event.code)
        rows.copy(line.row(of: event, time: source.clock.wall(event.atMicroseconds), name: name))
        count += 1
    }

    private mutating func beginLine() {
        var row = Format()
        row.beginRow(head)
        line.begin(
            head: row.bytes,
            tail: plainColumns.before + Format.columns { $0.text("support_code", supportCode) } + plainColumns.behind)
        isLineBegun = true
    }

    mutating func visit(_ fact: Fact, closing opening: Fact?) throws(WaybillError) {
        var row = ExportRow(redactor.redacted(fact), opening: redactor.redacted(opening), in: source.clock)
        if let event = row.event { row.name = try name(ofEvent: event.code, useCase ?? -1).redacted }
        rows.beginRow(head)
        row.writeHeading(to: &rows)
        row.write(to: &rows)
        if row.isOfNoExchange { rows.copy(empty.exchange) } else { row.writeExchange(to: &rows) }
        rows.text("support_code", supportCode)
        if row.hasNothingLater { rows.copy(empty.later) } else { row.writeLater(to: &rows) }
        Self.writeLast(of: row, source, to: &rows)
        rows.endRow()
        count += 1
    }

    /// This is static because access to the writer while its rows change would copy all rows.
    private static func writeLast(of row: ExportRow, _ source: ScannedSource, to rows: inout Format) {
        rows.text("ended_by", source.endedBy?.name)
        row.writeSampling(to: &rows)
        rows.guid("parent", row.opened?.parent)
        rows.integer("parent_part", row.opened?.parentPart)
        rows.integer("timeout_us", row.opened?.timeoutMicroseconds)
        rows.bool("ended", source.hasEnded ? true : nil)
        rows.text("members", row.unknown?.members)
    }

    private mutating func column(ofEvent code: Int) throws(WaybillError) -> [UInt8] {
        let useCase = useCase ?? -1
        guard (0..<Self.smallCodeCount).contains(code) else { return try name(ofEvent: code, useCase).column }
        if smallCodes.useCase != useCase || smallCodes.columns.isEmpty {
            smallCodes = (useCase, Array(repeating: [], count: Self.smallCodeCount))
        }
        if smallCodes.columns[code].isEmpty { smallCodes.columns[code] = try name(ofEvent: code, useCase).column }
        return smallCodes.columns[code]
    }

    private static var smallCodeCount: Int { 64 }

    private mutating func name(ofEvent code: Int, _ useCase: Int) throws(WaybillError) -> EventName {
        let key = EventCode(useCase: useCase, event: code)
        if let name = eventNames[key] { return name }
        let redacted = redactor.redacted(try nameOfEvent(code, useCase, source.source))
        let name = EventName(redacted: redacted, column: Format.columns { $0.text("name", redacted.value) })
        eventNames[key] = name
        return name
    }

    private func text(_ text: String) -> String? { text.isEmpty ? nil : text }
}

/// A writer without generic parameters. The compiler can't specialize generic visitors across modules.
protocol RowVisitor: FactVisitor {
    associatedtype Format: RowFormat
    var writer: ExportRowWriter<Format> { get set }
    init(writer: ExportRowWriter<Format>)
}

extension RowVisitor {
    var isFull: Bool { writer.isFull }

    mutating func enter(_ source: ScannedSource) { writer.enter(source) }
    mutating func enter(_ part: ScannedPart) { writer.enter(part) }
    mutating func visit(_ event: PlainEvent) throws(WaybillError) { try writer.visit(event) }
    mutating func visit(_ fact: Fact, closing opening: Fact?) throws(WaybillError) {
        try writer.visit(fact, closing: opening)
    }
}

struct NDJSONRows: RowVisitor { var writer: ExportRowWriter<NDJSONFormat> }

struct CSVRows: RowVisitor { var writer: ExportRowWriter<CSVFormat> }

extension TextFormat {
    /// Returns facts as redacted NDJSON lines in the given order, for stores that don't use SQLite.
    package static func ndjson(
        _ facts: [(source: ScannedSource, part: ScannedPart, fact: Fact, opening: Fact?)],
        eventName: @escaping (_ code: Int, _ useCase: Int, _ source: SourceIdentity) -> String
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

/// The row of a plain event. Only its numbers and its name are written anew within a part.
struct EventLine: Sendable {
    private var row: [UInt8] = []
    /// The text around the numbers, in one array because each array access costs as much as a number.
    private var text: [UInt8] = []
    private var ends: (time: Int, at: Int, code: Int) = (0, 0, 0)
    private var head = 0
    private let between: (sequence: [UInt8], time: [UInt8], at: [UInt8], code: [UInt8])

    init<Format: RowFormat>(as format: Format.Type) {
        // A one-digit number is a placeholder, which `dropLast` removes.
        let digit: Int64 = 0
        let sequence = format.columns { $0.integer("sequence", digit) }
        let time = format.columns {
            $0.text("kind", "event")
            $0.integer("time_us", digit)
        }
        let at = format.columns { $0.integer("at_us", digit) }
        let code = format.columns { $0.integer("code", digit) }
        between = (sequence.dropLast(), time.dropLast(), at.dropLast(), code.dropLast())
    }

    /// Begins a part, with the row up to `is_joined` and the row from `outcome` to its end.
    mutating func begin(head: [UInt8], tail: [UInt8]) {
        row.removeAll(keepingCapacity: true)
        row += head
        row += between.sequence
        self.head = row.count
        text.removeAll(keepingCapacity: true)
        text += between.time
        ends.time = text.count
        text += between.at
        ends.at = text.count
        text += between.code
        ends.code = text.count
        text += tail
    }

    /// Returns the row of an event, valid until the next call.
    mutating func row(of event: PlainEvent, time: Int64, name: [UInt8]) -> ArraySlice<UInt8> {
        let most = head + text.count + name.count + 4 * DecimalDigits.mostByteCount
        if row.count < most { row.append(contentsOf: repeatElement(0, count: most - row.count)) }
        var end = head
        // Unsafe for speed: ten appends took twice as long. `most` guarantees that everything fits.
        row.withUnsafeMutableBufferPointer { row in
            text.withUnsafeBufferPointer { text in
                end = DecimalDigits.write(event.sequence, to: row, at: end)
                end = row.put(text[..<ends.time], at: end)
                end = DecimalDigits.write(time, to: row, at: end)
                end = row.put(text[ends.time..<ends.at], at: end)
                end = DecimalDigits.write(event.atMicroseconds, to: row, at: end)
                end = row.put(text[ends.at..<ends.code], at: end)
                end = DecimalDigits.write(Int64(event.code), to: row, at: end)
                end = name.withUnsafeBufferPointer { row.put($0[...], at: end) }
                end = row.put(text[ends.code...], at: end)
            }
        }
        return row[..<end]
    }
}

extension UnsafeMutableBufferPointer<UInt8> {
    fileprivate func put(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, at start: Int) -> Int {
        let end = start + bytes.count
        _ = UnsafeMutableBufferPointer(rebasing: self[start..<end]).update(fromContentsOf: bytes)
        return end
    }
}

extension RowFormat {
    static func columns(_ write: (inout Self) -> Void) -> [UInt8] {
        var row = Self()
        row.bool("is_joined", true)
        let count = row.bytes.count
        write(&row)
        return Array(row.bytes[count...])
    }
}
