import WaybillCore

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
