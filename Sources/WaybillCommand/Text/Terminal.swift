#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport

/// Where lines go: results to standard output, everything else to standard error.
///
/// A terminal obeys what is among the characters, and nothing that was recorded, or that a collector answers, may be
/// for it: cells of lines are made printable where they are made, for they have colours of ours; everything else here.
enum Terminal {
    static func write(_ lines: [String]) {
        FileHandle.standardOutput.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }

    /// Values for a program, in the keys of a collector's answers.
    static func write(json value: some Encodable & Redactable) throws {
        let encoder = JSONEncoder.waybill()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardOutput.write(try encoder.encode(Redactor.command.redacted(value)) + Array("\n".utf8))
    }

    /// Columns for what has to fit where there is no terminal.
    static let usualWidth = 80

    /// Columns of standard output; nil where it is no terminal, and nothing has to fit.
    static func width() -> Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// A question, without the end of its line.
    static func ask(_ question: String) { FileHandle.standardError.write(Data(question.utf8)) }

    static func warn(_ sentence: String) {
        FileHandle.standardError.write(Data((sentence.printable + "\n").utf8))
    }

    /// An error as it may be shown.
    static func printable(_ error: any Error) -> any Error {
        guard let error = error as? WaybillError else { return error }
        return WaybillError(error.code, error.message.printableLines, cause: error.cause?.printableLines)
    }
}

/// The few kinds of emphasis that the output knows.
enum Ink: Int {
    case bold = 1
    case dim = 2
    case red = 31
    case green = 32
    case yellow = 33
    case blue = 34
    case magenta = 35
    case cyan = 36
}

/// Colours text where the output is a terminal that wants colours.
struct Palette {
    let isColored: Bool

    /// What standard output takes: no colours in a pipe or file, none for `NO_COLOR` (no-color.org), none on a dumb
    /// terminal.
    static func standardOutput(
        environment: [String: String] = ProcessInfo.processInfo.environment,
        isTerminal: Bool = isatty(STDOUT_FILENO) == 1
    ) -> Palette {
        Palette(isColored: isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb")
    }

    func paint(_ text: String, _ ink: Ink?) -> String {
        guard isColored, let ink, !text.isEmpty else { return text }
        return "\u{1B}[\(ink.rawValue)m\(text)\u{1B}[0m"
    }
}

/// What the terminal can show.
struct TextOptions: ParsableArguments {
    @Flag(help: "Draw with ASCII alone, as a locale without UTF-8 gets it anyway.")
    var ascii = false

    /// Writes lines of a table or a picture.
    func write(_ lines: [String], environment: [String: String] = ProcessInfo.processInfo.environment) {
        Terminal.write(ascii || !PlainText.isUTF8(environment) ? lines.map(\.plain) : lines)
    }
}

/// Pictures of characters that every terminal has.
enum PlainText {
    /// Whether the locale's character set is UTF-8 (POSIX.1-2024, section 8.2: the first of the three that is set
    /// decides); without any it is taken for so, as containers and services set none.
    static func isUTF8(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale = locale?.lowercased() else { return true }
        return locale.contains("utf-8") || locale.contains("utf8")
    }

    /// One character for one, so that columns stay where they are.
    fileprivate static let substitutes: [Character: Character] = [
        "│": "|", "┌": "+", "└": "+", "├": "+", "┤": "+", "─": "-", "╌": ".", "▶": ">", "◀": "<", "┊": ":",
        "●": "*", "✕": "x", "█": "#", "▓": "=", "▒": "%", "░": "-", "▏": "|", "▎": "|", "▍": "|", "▌": "|", "▋": "#",
        "▊": "#", "▉": "#",
        "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "µ": "u", "·": "-", "…": "~", "“": "\"",
        "”": "\"",
    ]
}

extension String {
    /// With ASCII in place of what lines and bars are drawn with.
    var plain: String { String(map { PlainText.substitutes[$0] ?? $0 }) }
}

/// Says on a terminal that something goes on, where it takes longer than a second.
enum Progress {
    /// What `body` returns; meanwhile a line of standard error counts the seconds, and is gone afterwards.
    ///
    /// - Parameters:
    ///   - isTerminal: Otherwise nothing is said.
    ///   - second: Lets one go by.
    ///   - say: Where the line goes.
    static func shown<Value: Sendable>(
        isTerminal: Bool = isatty(STDERR_FILENO) == 1,
        second: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) },
        say: @escaping @Sendable (String) -> Void = { Terminal.ask($0) }, _ body: () async throws -> Value
    ) async throws -> Value {
        guard isTerminal else { return try await body() }
        let line = Task {
            var seconds = 0
            while true {
                try await second()
                seconds += 1
                say("\r" + text(after: seconds))
            }
        }
        let value = await Result { try await body() }
        line.cancel()
        _ = await line.result
        say(clearLine)
        return try value.get()
    }

    /// `reading … 12 s`.
    static func text(after seconds: Int) -> String { "reading … \(seconds) s" }

    /// To the line's beginning, and away with it (ECMA-48, EL).
    private static let clearLine = "\r\u{1B}[K"
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// Small pictures of numbers, in a line of text.
enum Bars {
    /// A bar as long as the share of the greatest, to an eighth of a column; something for every number above zero.
    static func bar<Number: BinaryInteger>(_ value: Number, of greatest: Number, width: Int) -> String {
        guard value > 0, greatest > 0, width > 0 else { return "" }
        let eighths = max(1, Int((Double(value) / Double(greatest) * Double(width * 8)).rounded()))
        let (whole, rest) = min(eighths, width * 8).quotientAndRemainder(dividingBy: 8)
        return String(repeating: "█", count: whole) + (rest > 0 ? eighth[rest - 1] : "")
    }

    /// A column for each number, as high as its share of the greatest; a space for zero.
    static func sparkline(_ values: [Int]) -> String {
        guard let greatest = values.max(), greatest > 0 else { return String(repeating: " ", count: values.count) }
        return values.map { value in value <= 0 ? " " : levels[(value * levels.count - 1) / greatest] }.joined()
    }

    private static let eighth = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    private static let levels = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
}

extension Redactor {
    /// What a verb writes goes through this: it knows the names of `WAYBILL_SECRET_NAMES` and `WAYBILL_VISIBLE_NAMES`,
    /// which `waybill serve` obeys, too.
    static let command = Redactor(environment: ProcessInfo.processInfo.environment)

    init(environment: [String: String]) {
        self.init(
            additionalNames: Self.names(in: environment["WAYBILL_SECRET_NAMES"]),
            visibleNames: Self.names(in: environment["WAYBILL_VISIBLE_NAMES"]))
    }

    /// Names with commas between them.
    static func names(in list: String?) -> [String] {
        (list ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
#endif
