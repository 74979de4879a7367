#if Collector
import ArgumentParser
import Foundation
import WaybillCollector

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
#endif
