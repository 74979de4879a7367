import Foundation
package import WaybillCore
import WaybillStore

/// Where exports go that name no file.
package enum StandardOutput {
    /// Whether a person reads it, on a terminal, and no program.
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes text as it is; on a terminal without what it would obey.
    ///
    /// - Parameter bytes: Whole characters: what is no UTF-8 shows as U+FFFD on a terminal.
    /// - Throws: `.setting` where it is not read any more, or has no room.
    @Sendable package static func write(_ bytes: [UInt8]) throws(WaybillError) {
        try writePainted(isTerminal ? Array(shown(bytes).utf8) : bytes)
    }

    /// Writes what has its colours already, of text that was made printable before.
    package static func writePainted(_ bytes: [UInt8]) throws(WaybillError) {
        do {
            try DurableFile.write(bytes, to: STDOUT_FILENO)
        } catch {
            throw WaybillError(.setting, "Standard output cannot be written.", cause: "\(error)")
        }
    }

    /// Lines of CSV end with CR LF, which is one end of a line on a terminal, too.
    static func shown(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n").printableLines
    }
}
