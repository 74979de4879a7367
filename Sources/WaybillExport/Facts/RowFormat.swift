import WaybillCore

/// Writes rows, column by column, always in the same order; what is nil or empty is a column without a value.
protocol RowFormat: Sendable {
    /// What stands before the first row.
    static func header(_ columns: [StaticString]) -> [UInt8]

    init()
    /// What was written so far.
    var bytes: [UInt8] { get }
    mutating func removeAll()

    /// Begins a row with columns that were written before, by ``bytes`` of a row that was not ended.
    mutating func beginRow(_ first: [UInt8])
    mutating func endRow()
    /// Columns that were written before, by ``bytes`` of a row that was not begun.
    mutating func columns(_ written: [UInt8])
    /// What was written before, as it is to stand there: a whole row, or columns behind others.
    mutating func copy(_ written: ArraySlice<UInt8>)

    mutating func integer(_ column: StaticString, _ value: Int64?)
    mutating func bool(_ column: StaticString, _ value: Bool?)
    mutating func guid(_ column: StaticString, _ value: GUID?)
    mutating func text(_ column: StaticString, _ value: String?)
    mutating func attributes(_ column: StaticString, _ value: Attributes)
    mutating func texts(_ column: StaticString, _ value: [String])
    mutating func headerFields(_ column: StaticString, _ value: [HeaderField])
    mutating func redirects(_ column: StaticString, _ value: [Fact.Redirect])
    mutating func underlying(_ column: StaticString, _ value: [RecordedError.Underlying])
}

extension RowFormat {
    mutating func integer(_ column: StaticString, _ value: Int?) { integer(column, value.map { Int64($0) }) }
}

/// One JSON object a line: https://github.com/ndjson/ndjson-spec.
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
    mutating func attributes(_ column: StaticString, _ value: Attributes) { writer.member(column, value) }
    mutating func texts(_ column: StaticString, _ value: [String]) { writer.member(column, value) }
    mutating func headerFields(_ column: StaticString, _ value: [HeaderField]) { writer.member(column, value) }

    mutating func redirects(_ column: StaticString, _ value: [Fact.Redirect]) {
        guard !value.isEmpty else { return }
        writer.key(column)
        writer.redirects(value)
    }

    mutating func underlying(_ column: StaticString, _ value: [RecordedError.Underlying]) {
        guard !value.isEmpty else { return }
        writer.key(column)
        writer.underlying(value)
    }
}

/// RFC 4180, with a header line; JSON where a column has several values, `""` for a text that is empty rather than
/// absent.
///
/// Spreadsheets compute a cell that begins with one of a few characters, and a formula may send what the other cells
/// hold to somebody: a text that begins so, or with an apostrophe, has an apostrophe before it. A reader takes away the
/// one that a text begins with, and has what was recorded. Numbers are left as they are.
package struct CSVFormat: RowFormat {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init() {}

    static func header(_ columns: [StaticString]) -> [UInt8] {
        Array((columns.map(\.description).joined(separator: ",") + "\r\n").utf8)
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    package mutating func beginRow(_ first: [UInt8]) {
        bytes += first
        needsComma = !first.isEmpty
    }

    package mutating func endRow() {
        bytes.append(0x0D)
        bytes.append(0x0A)
        needsComma = false
    }

    mutating func columns(_ written: [UInt8]) {
        separate()
        bytes += written
    }

    mutating func copy(_ written: ArraySlice<UInt8>) { bytes.append(contentsOf: written) }

    package mutating func integer(_ column: StaticString, _ value: Int64?) {
        separate()
        if let value { bytes.append(decimal: value) }
    }

    package mutating func number(_ column: StaticString, _ value: Double?) {
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

    package mutating func text(_ column: StaticString, _ value: String?) {
        separate()
        guard var value else { return }
        value.withUTF8 { append($0, isMarked: $0.first.map(Self.marked.contains) ?? false) }
    }

    /// What a text begins with that has an apostrophe put before it (OWASP, "CSV Injection").
    private static let marked: [UInt8] = Array("=+-@\t\r\n'".utf8)

    mutating func attributes(_ column: StaticString, _ value: Attributes) {
        json(value.isEmpty) { $0.attributes(value) }
    }

    mutating func texts(_ column: StaticString, _ value: [String]) {
        json(value.isEmpty) { $0.texts(value) }
    }

    mutating func headerFields(_ column: StaticString, _ value: [HeaderField]) {
        json(value.isEmpty) { $0.headerFields(value) }
    }

    mutating func redirects(_ column: StaticString, _ value: [Fact.Redirect]) {
        json(value.isEmpty) { $0.redirects(value) }
    }

    mutating func underlying(_ column: StaticString, _ value: [RecordedError.Underlying]) {
        json(value.isEmpty) { $0.underlying(value) }
    }

    private mutating func json(_ isEmpty: Bool, _ write: (inout JSONWriter) -> Void) {
        separate()
        guard !isEmpty else { return }
        var writer = JSONWriter()
        write(&writer)
        writer.bytes.withUnsafeBufferPointer { append($0) }
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Whether a text of such bytes stands without quotation marks.
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

/// How a CSV is written for the program that reads it.
package struct CSVStyle: Sendable, Hashable {
    /// Whether the file begins with a byte order mark, without which Excel does not read UTF-8. Default: false.
    package var hasByteOrderMark = false
    /// Whether a moment is a text in ISO 8601, in UTC, rather than microseconds since 1970, of whose 16 digits Excel keeps
    /// 15. The column's name is then without `_us`. Default: false.
    package var hasISOTimes = false

    package init() {}

    /// The bytes that a file begins with.
    var beginning: [UInt8] { hasByteOrderMark ? [0xEF, 0xBB, 0xBF] : [] }
}

/// Writes the facts of a CSV in another style: any store's, piece by piece, wherever the pieces are cut.
struct StyledFacts {
    private let style: CSVStyle
    private var isBegun = false
    private var isHeader = true
    private var isQuoted = false
    private var column = 0
    /// What the cell of a moment has so far.
    private var cell: [UInt8] = []

    private static let timeColumn = ExportColumns.all.firstIndex { $0.description == "time_us" }

    init(_ style: CSVStyle) { self.style = style }

    /// The next bytes in this style.
    mutating func next(_ piece: [UInt8]) -> [UInt8] {
        var bytes = isBegun ? [] : style.beginning
        isBegun = true
        guard style.hasISOTimes else { return bytes + piece }
        bytes.reserveCapacity(piece.count + piece.count / 8)
        for byte in piece {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            let endsCell = !isQuoted && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n"))
            if column != Self.timeColumn {
                bytes.append(byte)
            } else if endsCell {
                bytes += moment
                bytes.append(byte)
                cell = []
            } else {
                cell.append(byte)
            }
            guard endsCell else { continue }
            if byte == UInt8(ascii: ",") {
                column += 1
            } else {
                (column, isHeader) = (0, false)
            }
        }
        return bytes
    }

    private var moment: [UInt8] {
        if isHeader { return Array("time".utf8) }
        return Int64(String(decoding: cell, as: UTF8.self)).map { Array(Words.iso8601($0).utf8) } ?? cell
    }
}
