import WaybillCore

/// A format of rows with columns in a fixed order. `nil` and empty values leave a column empty.
protocol RowFormat: Sendable {
    static func header(_ columns: [StaticString]) -> [UInt8]

    init()
    var bytes: [UInt8] { get }
    mutating func removeAll()

    /// Begins a row with columns that were written in advance.
    mutating func beginRow(_ first: [UInt8])
    mutating func endRow()
    /// Appends columns that were written in advance, as ``bytes`` of a row that was not begun.
    mutating func columns(_ written: [UInt8])
    /// Copies bytes that were written in advance, without a separator.
    mutating func copy(_ written: ArraySlice<UInt8>)

    mutating func integer(_ column: StaticString, _ value: Int64?)
    mutating func bool(_ column: StaticString, _ value: Bool?)
    mutating func guid(_ column: StaticString, _ value: GUID?)
    mutating func text(_ column: StaticString, _ value: String?)
    mutating func json<Value: Collection>(
        _ column: StaticString, _ value: Value, _ write: (inout JSONWriter, Value) -> Void)
}

extension RowFormat {
    mutating func integer(_ column: StaticString, _ value: Int?) { integer(column, value.map { Int64($0) }) }
    mutating func attributes(_ column: StaticString, _ value: Attributes) { json(column, value) { $0.attributes($1) } }
}

/// One JSON object per line: https://github.com/ndjson/ndjson-spec.
struct NDJSONFormat: RowFormat {
    private var writer = JSONWriter()

    static func header(_ columns: [StaticString]) -> [UInt8] { [] }

    var bytes: [UInt8] { writer.bytes }
    mutating func removeAll() { writer.removeAll() }

    mutating func beginRow(_ first: [UInt8]) {
        writer.beginObject()
        writer.members(first)
    }

    mutating func endRow() {
        writer.endObject()
        writer.endLine()
    }

    mutating func columns(_ written: [UInt8]) { writer.members(written) }
    mutating func copy(_ written: ArraySlice<UInt8>) { writer.copy(written) }

    mutating func integer(_ column: StaticString, _ value: Int64?) { writer.member(column, value) }

    mutating func bool(_ column: StaticString, _ value: Bool?) {
        guard let value else { return }
        writer.key(column)
        writer.bool(value)
    }

    mutating func guid(_ column: StaticString, _ value: GUID?) {
        guard let value else { return }
        writer.member(column, value)
    }

    mutating func text(_ column: StaticString, _ value: String?) { writer.member(column, value) }

    mutating func json<Value: Collection>(
        _ column: StaticString, _ value: Value, _ write: (inout JSONWriter, Value) -> Void
    ) {
        guard !value.isEmpty else { return }
        writer.key(column)
        write(&writer, value)
    }
}

/// CSV according to RFC 4180, with a header line. Columns with several values contain JSON. Empty texts are `""`.
///
/// Spreadsheets could run texts that look like formulas. Such texts get an apostrophe in front, which readers remove.
struct CSVFormat: RowFormat {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    static func header(_ columns: [StaticString]) -> [UInt8] {
        Array((columns.map(\.description).joined(separator: ",") + "\r\n").utf8)
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    mutating func beginRow(_ first: [UInt8]) {
        bytes += first
        needsComma = !first.isEmpty
    }

    mutating func endRow() {
        bytes.append(0x0D)
        bytes.append(0x0A)
        needsComma = false
    }

    mutating func columns(_ written: [UInt8]) {
        separate()
        bytes += written
    }

    mutating func copy(_ written: ArraySlice<UInt8>) { bytes.append(contentsOf: written) }

    mutating func integer(_ column: StaticString, _ value: Int64?) {
        separate()
        if let value { bytes.append(decimal: value) }
    }

    mutating func number(_ column: StaticString, _ value: Double?) {
        separate()
        if let value { bytes += "\(value)".utf8 }
    }

    mutating func bool(_ column: StaticString, _ value: Bool?) {
        separate()
        if let value { bytes += value ? "true".utf8 : "false".utf8 }
    }

    mutating func guid(_ column: StaticString, _ value: GUID?) {
        separate()
        value?.writeText { bytes.append($0) }
    }

    mutating func text(_ column: StaticString, _ value: String?) {
        separate()
        guard var value else { return }
        value.withUTF8 { append($0, isMarked: $0.first.map(Self.marked.contains) ?? false) }
    }

    /// First bytes of texts that get an apostrophe (OWASP, "CSV Injection").
    private static let marked: [UInt8] = Array("=+-@\t\r\n'".utf8)

    mutating func json<Value: Collection>(
        _ column: StaticString, _ value: Value, _ write: (inout JSONWriter, Value) -> Void
    ) {
        separate()
        guard !value.isEmpty else { return }
        var writer = JSONWriter()
        write(&writer, value)
        writer.bytes.withUnsafeBufferPointer { append($0) }
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: "\r"), UInt8(ascii: "\n"): false
        default: true
        }
    }

    private mutating func append(_ text: UnsafeBufferPointer<UInt8>, isMarked: Bool = false) {
        let isPlain = !text.isEmpty && text.allSatisfy(Self.isPlain)
        if !isPlain { bytes.append(UInt8(ascii: "\"")) }
        if isMarked { bytes.append(UInt8(ascii: "'")) }
        guard !isPlain else { return bytes.append(contentsOf: text) }
        for byte in text {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

/// The contents and the form of a CSV file of facts.
package struct CSVStyle: Sendable, Hashable {
    /// Whether the file begins with a byte order mark, which Excel needs to detect UTF-8.
    package var hasByteOrderMark = false
    /// Whether the file is for people and spreadsheets: times are ISO 8601 texts in UTC, and false is an empty cell.
    /// Excel keeps only 15 of the 16 digits of microseconds since 1970.
    package var isForPeople = false
    /// Whether the file has events only, without the columns of other facts.
    package var hasOnlyEvents = false

    package init() {}

    var beginning: [UInt8] { hasByteOrderMark ? [0xEF, 0xBB, 0xBF] : [] }
}

/// Converts CSV facts to another style, regardless of piece boundaries.
struct StyledFacts {
    private let style: CSVStyle
    private let columns: [Int]
    private var isBegun = false
    private var isHeader = true
    private var isQuoted = false
    /// The row so far, and where its cells end.
    private var row: [UInt8] = []
    private var ends: [Int] = []

    private static let names = ExportColumns.all.map(\.description)
    private static let timeColumn = names.firstIndex(of: "time_us")
    private static let kindColumn = names.firstIndex(of: "kind")
    private static let columnsOfEvents = [
        "transaction_id", "support_code", "use_case", "use_case_name", "time_us", "app", "app_version", "source",
        "sequence", "code", "name", "error_domain", "error_code", "error_name", "error_text", "attributes",
    ]

    init(_ style: CSVStyle) {
        self.style = style
        columns =
            style.hasOnlyEvents ? Self.columnsOfEvents.compactMap(Self.names.firstIndex) : Array(Self.names.indices)
    }

    mutating func next(_ piece: [UInt8]) -> [UInt8] {
        var bytes = isBegun ? [] : style.beginning
        isBegun = true
        guard style.isForPeople || style.hasOnlyEvents else { return bytes + piece }
        bytes.reserveCapacity(piece.count + piece.count / 8)
        for byte in piece {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            switch byte {
            case UInt8(ascii: ",") where !isQuoted: ends.append(row.count)
            case UInt8(ascii: "\n") where !isQuoted:
                // Another server's answer may have no carriage return.
                if row.last == 0x0D { row.removeLast() }
                ends.append(row.count)
                write(to: &bytes)
                row.removeAll(keepingCapacity: true)
                ends.removeAll(keepingCapacity: true)
                isHeader = false
                continue
            default: break
            }
            row.append(byte)
        }
        return bytes
    }

    private func cell(_ column: Int) -> ArraySlice<UInt8> {
        guard ends.indices.contains(column) else { return [] }
        return row[(column == 0 ? 0 : ends[column - 1] + 1)..<ends[column]]
    }

    private func write(to bytes: inout [UInt8]) {
        if style.hasOnlyEvents, !isHeader, let kind = Self.kindColumn, !cell(kind).elementsEqual("event".utf8) {
            return
        }
        for (index, column) in columns.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            let cell = cell(column)
            if style.isForPeople, column == Self.timeColumn {
                bytes += moment(cell)
            } else if !style.isForPeople || !cell.elementsEqual("false".utf8) {
                bytes += cell
            }
        }
        bytes += "\r\n".utf8
    }

    private func moment(_ cell: ArraySlice<UInt8>) -> [UInt8] {
        if isHeader { return Array("time".utf8) }
        return Int64(String(decoding: cell, as: UTF8.self)).map { Array(Words.iso8601($0).utf8) } ?? Array(cell)
    }
}
