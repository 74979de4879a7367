import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillExport
@testable import WaybillQueries

/// CSV for common spreadsheet programs.
@Suite(.timeLimit(.minutes(5))) struct CSVStyleTests {
    private func style(bom: Bool = false, iso: Bool = false) -> CSVStyle {
        var style = CSVStyle()
        (style.hasByteOrderMark, style.isForPeople) = (bom, iso)
        return style
    }

    /// Rows with a value in every column before the time. One value contains separators and line breaks.
    private static let facts: String = {
        let columns = ExportColumns.all.map(\.description)
        let time = columns.firstIndex(of: "time_us") ?? 0
        let rows = ["1772366400000017", "-1", "0"].map { moment in
            columns.indices.map { index in
                index == time ? moment : index == 2 ? "\"a,b\r\n\"\"c\"\",,\n,\"" : index == 4 ? "\"\"" : "v\(index)"
            }.joined(separator: ",")
        }
        return ([columns.joined(separator: ",")] + rows).map { $0 + "\r\n" }.joined()
    }()

    /// Pieces of a collector's answer end at any line feed, even inside a cell. This test cuts them anywhere.
    @Test(arguments: [1, 2, 7, 100, 100_000]) func timesAreTextsWhereverPiecesAreCut(count: Int) {
        var facts = StyledFacts(style(iso: true))
        var bytes: [UInt8] = []
        var rest = Array(Self.facts.utf8)[...]
        while !rest.isEmpty {
            bytes += facts.next(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        let expected = Self.facts.replacing(",time_us,", with: ",time,")
            .replacing(",1772366400000017,", with: ",2026-03-01T12:00:00.000017Z,")
            .replacing(",-1,", with: ",1969-12-31T23:59:59.999999Z,").replacing(
                ",0,", with: ",1970-01-01T00:00:00.000000Z,")
        #expect(String(decoding: bytes, as: UTF8.self) == expected)
    }

    /// Breaks when a file of events contains other facts, or shifts a cell into another column.
    @Test(arguments: [1, 3, 100_000]) func eventsAloneHaveTheirColumns(count: Int) {
        let columns = ExportColumns.all.map(\.description)
        let rows = [("event", "9", "\"a,\r\n\""), ("begun", "", ""), ("event", "10", "sent")].map { kind, code, name in
            columns.map {
                $0 == "kind" ? kind : $0 == "code" ? code : $0 == "name" ? name : $0 == "is_joined" ? "false" : ""
            }
        }
        let facts = Array(([columns] + rows).map { $0.joined(separator: ",") + "\r\n" }.joined().utf8)
        var style = CSVStyle()
        style.hasOnlyEvents = true
        var styled = StyledFacts(style)
        let bytes = stride(from: 0, to: facts.count, by: count).flatMap {
            styled.next(Array(facts[$0..<min($0 + count, facts.count)]))
        }
        #expect(
            String(decoding: bytes, as: UTF8.self) == """
                transaction_id,support_code,use_case,use_case_name,time_us,app,app_version,source,sequence,code,name,\
                error_domain,error_code,error_name,error_text,attributes\r
                ,,,,,,,,,9,"a,\r
                ",,,,,\r
                ,,,,,,,,,10,sent,,,,,\r

                """)
    }

    /// Breaks when an empty line from a collector, or one without a carriage return, ends the program that reads it.
    @Test func linesOfAnotherServerAreRead() {
        let columns = ExportColumns.all.map(\.description)
        var styled = StyledFacts(style(iso: true))
        let bytes = styled.next(Array("\n\(columns.joined(separator: ","))\nlast\n".utf8))
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4 && lines[2].hasPrefix("last,"))
    }

    @Test func aByteOrderMarkStandsOnceAtTheBeginning() {
        var facts = StyledFacts(style(bom: true))
        #expect(facts.next(Array("a".utf8)) + facts.next(Array("b".utf8)) == [0xEF, 0xBB, 0xBF] + "ab".utf8)
        var plain = StyledFacts(style())
        #expect(plain.next(Array(Self.facts.utf8)) == Array(Self.facts.utf8))
    }

    private static let summary = TransactionSummary(
        id: SampleExchange.transaction, useCase: 0, useCaseName: "log, in", outcome: .failed,
        begunMicroseconds: SampleExchange.opened, durationMicroseconds: 250,
        error: RecordedError(domain: "Shop", code: -1, text: "mail to ada@example.com"),
        attributes: ["variant": "B", "password": "hunter2"], sourceCount: 2, eventCount: 3, exchangeCount: 4,
        isWaitingForBeginner: false)

    @Test(arguments: [true, false]) func aTransactionIsARow(isISO: Bool) throws {
        var summary = Self.summary
        let style = style(iso: isISO)
        func row(_ summary: TransactionSummary) -> String {
            let table = TransactionSummary.table(Redactor().redacted([summary]), style)
            return String(decoding: table.csvRows, as: UTF8.self)
        }
        let columns = TransactionSummary.table(Redactor().redacted([TransactionSummary]()), style).columns.compactMap(
            \.name)
        #expect(columns.count == 19 && columns[5] == (isISO ? "begun" : "begun_us"))
        let code = SampleExchange.transaction.supportCode
        let begun = isISO ? "2026-03-01T12:00:00.000017Z" : "1772366400000017"
        let expected =
            "\(summary.id),\(code),0,\"log, in\",failed,\(begun),250,,Shop,-1,,mail to [redacted],"
            + "\"{\"\"password\"\":\"\"[redacted]\"\",\"\"variant\"\":\"\"B\"\"}\",2,3,4,,,\r\n"
        #expect(row(summary) == expected)
        (summary.error, summary.durationMicroseconds, summary.isWaitingForBeginner) = (nil, nil, true)
        summary.attributes = [:]
        #expect(row(summary).hasSuffix(",\(begun),,,,,,,,2,3,4,,,true\r\n"))
    }

    private func rows(_ pages: [RecordPage<TransactionSummary>]) async throws -> String {
        let written = Locked<[UInt8]>([])
        let output = try ExportOutput { bytes in written.withLock { $0 += bytes } }
        let list = ListPages(ListRequest()) { request in pages[request[.cursor].flatMap { Int($0) } ?? 0] }
        let count = try await output.write(list, style: style(), redactor: Redactor())
        #expect(count == pages.reduce(0) { $0 + $1.rows.count })
        return String(decoding: written.withLock { $0 }, as: UTF8.self)
    }

    @Test func aFirstPageWithoutRowsIsNotTheLast() async throws {
        let row = Self.summary
        let found = RecordPage(rows: [row, row], next: "2")
        let text = try await rows([RecordPage(rows: [], next: "1"), found, RecordPage(rows: [], next: nil)])
        #expect(text.split(separator: "\r\n").count == 3 && text.hasPrefix("transaction_id,support_code,"))
        await #expect(throws: WaybillError.self) { try await rows([RecordPage(rows: [], next: nil)]) }
    }

    @Test func rowsOfAListThatNeverEndsAreGivenUp() async throws {
        await #expect(throws: WaybillError.self) { try await rows([RecordPage(rows: [], next: "0")]) }
    }
}
