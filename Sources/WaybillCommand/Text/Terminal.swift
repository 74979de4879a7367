#if Collector
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
#endif
