#if Collector
import Foundation
import WaybillCollector

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
#endif
