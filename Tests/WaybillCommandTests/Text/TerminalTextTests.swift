#if Collector
import Foundation
import Testing

@testable import WaybillCommand

@Suite(.timeLimit(.minutes(5))) struct TerminalTextTests {
    @Test(arguments: [
        ("login", 5), ("", 0), ("登録", 4), ("ログイン", 8), ("한국", 4), ("été", 3), ("e\u{301}", 1), ("👩‍👩‍👧", 2), ("❤️", 2),
        ("ｆｕｌｌ", 8),
        ("\u{200B}", 0),
        ("│─", 2),
    ])
    func wideCharactersTakeTwoColumns(text: String, columns: Int) {
        #expect(text.columnCount == columns)
    }

    @Test(arguments: [
        ("requestSent", 11, "requestSent"), ("requestSent", 8, "request…"), ("登録登録", 6, "登録…"), ("ab", 1, "…"),
        ("ab", 0, ""),
    ])
    func whatIsCutHasRoom(text: String, columns: Int, cut: String) {
        #expect(text.cut(toColumns: columns) == cut)
        #expect(cut.columnCount <= columns)
    }

    @Test func aTableWithWideNamesLinesUp() {
        var table = TextTable(columns: [("NAME", .left), ("COUNT", .right)])
        table.rows = [["登録", "1"], ["login", "12"]]
        #expect(table.lines(Palette(isColored: false)) == ["NAME   COUNT", "登録       1", "login     12"])
    }

    #if os(Linux)
    /// Breaks when a full disk crashes the command.
    @Test func aFullDiskIsAnError() async throws {
        let run = try await Command.waybill(["serve", "nowhere", "--print-config"], to: URL(filePath: "/dev/full"))
        #expect(run.status == 1 && run.errors.contains("Standard output cannot be written."), "\(run.errors)")
    }
    #endif

    @Test func aBarIsAsLongAsItsShare() {
        #expect(Bars.bar(10, of: 10, width: 4) == "████")
        #expect(Bars.bar(5, of: 10, width: 4) == "██")
        #expect(Bars.bar(1, of: 1_000_000, width: 4) == "▏", "What is there is seen.")
        #expect(Bars.bar(0, of: 10, width: 4).isEmpty)
        #expect(Bars.bar(3, of: 16, width: 2) == "▍")
        #expect(Bars.bar(Int.max, of: Int.max, width: 3) == "███")
    }

    @Test func aSparklineHasAColumnForEachNumber() {
        #expect(Bars.sparkline([1, 2, 3, 4, 5, 6, 7, 8]) == "▁▂▃▄▅▆▇█")
        #expect(Bars.sparkline([0, 100, 1]) == " █▁")
        #expect(Bars.sparkline([0, 0]) == "  ")
        #expect(Bars.sparkline([]).isEmpty)
    }

    @Test func whatIsDrawnInASCIIIsAsWide() {
        let picture = "├─●──✕┤ ▒▓░█ ▁▂▃▄▅▆▇█ ▏▎▍▌▋▊▉ │ ┌ └ ▶ ◀ ╌ 12 µs · … “x” › •"
        #expect(picture.plain.utf8.allSatisfy { $0 < 0x80 }, "\(picture.plain)")
        #expect(picture.plain.count == picture.count)
        #expect("登録".plain == "登録", "What was recorded stays as it is.")
    }

    @Test(arguments: [
        ([:], true), (["LANG": "de_AT.UTF-8"], true), (["LANG": "C.utf8"], true), (["LANG": "C"], false),
        (["LC_ALL": "POSIX", "LANG": "C.UTF-8"], false),
        (["LC_ALL": "", "LC_CTYPE": "en_US.ISO-8859-1"], false), (["LC_CTYPE": "C.UTF-8", "LANG": "C"], true),
    ])
    func theLocaleSaysWhatTheTerminalShows(environment: [String: String], isUTF8: Bool) {
        #expect(PlainText.isUTF8(environment) == isUTF8)
    }
}
#endif
