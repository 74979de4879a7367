#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport

/// Writes results to standard output, and everything else to standard error.
///
/// Recorded texts may contain control characters, which terminals obey. Table cells remove them when they are made,
/// because our colors are control characters, too.
enum Terminal {
    static func write(_ lines: [String]) throws(WaybillError) {
        Progress.makeRoom()
        try StandardOutput.writePainted(Array(lines.map { $0 + "\n" }.joined().utf8))
    }

    /// Writes values with the keys of a collector's answers.
    static func write(json value: some Encodable & Redactable) throws {
        let encoder = JSONEncoder.waybill()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try StandardOutput.write(try encoder.encode(Redactor.command.redacted(value)) + Array("\n".utf8))
    }

    /// Columns of pictures if there is no terminal.
    static let usualWidth = 80

    /// Columns of standard output, or those of the variable `COLUMNS` (POSIX.1-2024, section 8.3); `nil` without both.
    static func width(environment: [String: String] = ProcessInfo.processInfo.environment) -> Int? {
        if let columns = environment["COLUMNS"].flatMap({ Int($0) }), (20...10_000).contains(columns) { return columns }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Without a reader, `FileHandle.write(_:)` would crash.
    static func ask(_ question: String) { try? FileHandle.standardError.write(contentsOf: Data(question.utf8)) }

    static func warn(_ sentence: String) {
        Progress.makeRoom()
        ask(sentence.printable + "\n")
    }

    static func printable(_ error: any Error) -> any Error {
        guard let error = error as? WaybillError else { return error }
        return WaybillError(error.code, error.message.printableLines, cause: error.cause?.printableLines)
    }
}

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

struct Palette {
    let isColored: Bool

    /// No colors in pipes and files, with `NO_COLOR` (no-color.org), or on a dumb terminal.
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

struct TextOptions: ParsableArguments {
    @Flag(help: "Draw only with ASCII, as in a locale without UTF-8.")
    var ascii = false

    func write(_ lines: [String], environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        try Terminal.write(ascii || !PlainText.isUTF8(environment) ? lines.map(\.plain) : lines)
    }
}

enum PlainText {
    /// Whether the locale uses UTF-8 (POSIX.1-2024, section 8.2). A missing locale counts, as containers have none.
    static func isUTF8(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale = locale?.lowercased() else { return true }
        return locale.contains("utf-8") || locale.contains("utf8")
    }

    /// One character for each, which keeps columns aligned.
    fileprivate static let substitutes: [Character: Character] = [
        "│": "|", "┌": "+", "└": "+", "├": "+", "┤": "+", "─": "-", "╌": ".", "▶": ">", "◀": "<", "┊": ":",
        "●": "*", "✕": "x", "█": "#", "▓": "=", "▒": "%", "░": "-", "▏": "|", "▎": "|", "▍": "|", "▌": "|", "▋": "#",
        "▊": "#", "▉": "#",
        "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "µ": "u", "·": "-", "…": "~", "“": "\"",
        "”": "\"", "›": ">", "•": "*",
    ]
}

extension String {
    var plain: String { String(map { PlainText.substitutes[$0] ?? $0 }) }
}

/// Shows on a terminal that something takes longer than a second.
enum Progress {
    /// Runs `body`. Meanwhile, a line on standard error counts the seconds.
    ///
    /// - Parameter work: The first word of the line.
    static func shown<Value: Sendable>(
        _ work: String = "reading", isTerminal: Bool = isTerminal,
        second: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(1)) },
        say: @escaping @Sendable (String) -> Void = { Terminal.ask($0) }, _ body: () async throws -> Value
    ) async throws -> Value {
        guard isTerminal else { return try await body() }
        let line = Task {
            var seconds = 0
            while true {
                try await second()
                seconds += 1
                isVisible.withLock { $0 = true }
                say("\r" + text(work, after: seconds))
            }
        }
        let value = await Result { try await body() }
        line.cancel()
        _ = await line.result
        isVisible.withLock { $0 = false }
        say(clearLine)
        return try value.get()
    }

    static func text(_ work: String, after seconds: Int) -> String { "\(work) … \(seconds) s" }

    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    private static let isVisible = Locked(false)

    /// Erases the line for other text. The line appears again after a second.
    fileprivate static func makeRoom() {
        if isVisible.withLock({ exchange(&$0, with: false) }) { Terminal.ask(clearLine) }
    }

    /// Moves to the start of the line and erases it (ECMA-48, EL).
    private static let clearLine = "\r\u{1B}[K"
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

enum Bars {
    /// A bar in eighths of a column. Numbers above zero get at least one eighth.
    static func bar<Number: BinaryInteger>(_ value: Number, of greatest: Number, width: Int) -> String {
        guard value > 0, greatest > 0, width > 0 else { return "" }
        let eighths = max(1, Int((Double(value) / Double(greatest) * Double(width * 8)).rounded()))
        let (whole, rest) = min(eighths, width * 8).quotientAndRemainder(dividingBy: 8)
        return String(repeating: "█", count: whole) + (rest > 0 ? eighth[rest - 1] : "")
    }

    /// A column for each number, relative to the greatest; a space for zero.
    static func sparkline(_ values: [Int]) -> String {
        guard let greatest = values.max(), greatest > 0 else { return String(repeating: " ", count: values.count) }
        return values.map { value in value <= 0 ? " " : levels[(value * levels.count - 1) / greatest] }.joined()
    }

    private static let eighth = ["▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    private static let levels = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
}

extension Redactor {
    /// Redacts all output. Like `waybill serve`, it reads `WAYBILL_SECRET_NAMES` and `WAYBILL_VISIBLE_NAMES`.
    static let command = Redactor(environment: ProcessInfo.processInfo.environment)

    init(environment: [String: String]) {
        self.init(
            additionalNames: Self.names(in: environment["WAYBILL_SECRET_NAMES"]),
            visibleNames: Self.names(in: environment["WAYBILL_VISIBLE_NAMES"]))
    }

    static func names(in list: String?) -> [String] {
        (list ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
#endif
