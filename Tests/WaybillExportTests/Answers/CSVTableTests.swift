import Testing

@testable import WaybillExport

/// Tables for programs.
@Suite(.timeLimit(.minutes(5))) struct CSVTableTests {
    @Test func cellsAreQuotedByRFC4180() {
        var table = CSVTable(columns: ["a", "b"])
        table.rows = [[.text("x,\"y\"\r\n"), .integer(nil)], [.text(nil), .integer(-5)]]
        #expect(String(decoding: table.bytes, as: UTF8.self) == "a,b\r\n\"x,\"\"y\"\"\r\n\",\r\n,-5\r\n")
    }
}
