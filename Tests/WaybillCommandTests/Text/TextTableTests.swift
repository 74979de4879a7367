#if Collector
import Testing
@testable import WaybillCommand

@Suite(.timeLimit(.minutes(5))) struct TextTableTests {
    private var table: TextTable {
        var table = TextTable(columns: [("NAME", .left), ("COUNT", .right), ("", .left)])
        table.rows = [["a", Cell("5", .red), ""], ["longer", "1234567", "remark"]]
        return table
    }

    @Test func columnsLineUpAndLinesHaveNoSpacesAtTheEnd() {
        #expect(
            table.lines(Palette(isColored: false)) == [
                "NAME      COUNT",
                "a             5",
                "longer  1234567  remark",
            ])
    }

    @Test func coloursDoNotCountAsWidth() {
        let lines = table.lines(Palette(isColored: true))
        #expect(lines[1] == "a             \u{1B}[31m5\u{1B}[0m")
        #expect(lines[2] == "longer  1234567  remark")
    }

    @Test(arguments: ["\u{1B}[2J", "a\nb", "\u{7}", "\u{9B}31m", "\u{202E}evil"])
    func recordedTextCannotCommandTheTerminal(text: String) {
        var table = TextTable(columns: [("", .left)], hasTitles: false)
        table.rows = [[Cell(text)]]
        let line = table.lines(Palette(isColored: false)).joined()
        #expect(line.contains("\u{FFFD}"))
        #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{202E}" })
    }
}

@Suite(.timeLimit(.minutes(5))) struct PaletteTests {
    @Test func onlyATerminalThatWantsColoursGetsThem() {
        #expect(Palette.standardOutput(environment: ["TERM": "xterm"], isTerminal: true).isColored)
        #expect(Palette.standardOutput(environment: ["NO_COLOR": ""], isTerminal: true).isColored)
        #expect(!Palette.standardOutput(environment: [:], isTerminal: false).isColored)
        #expect(!Palette.standardOutput(environment: ["NO_COLOR": "1"], isTerminal: true).isColored)
        #expect(!Palette.standardOutput(environment: ["TERM": "dumb"], isTerminal: true).isColored)
    }
}
#endif
