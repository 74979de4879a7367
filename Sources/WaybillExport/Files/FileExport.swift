public import Foundation
package import WaybillCore
package import WaybillQueries
package import WaybillStore

extension URL {
    /// Whether what is written there is compressed, where nothing else is said: the name ends with `.gz`.
    package var endsInGzip: Bool { pathExtension.lowercased() == "gz" }
}

/// An export into one file, which appears whole or not at all.
package struct FileExport: Sendable {
    package var format: ExportFormat
    package var isCompressed: Bool
    package var redactor: Redactor

    /// - Parameter isCompressed: Whether text is compressed (RFC 1952); nil: where the file's name ends with `.gz`.
    package init(as format: ExportFormat, to file: URL, isCompressed: Bool? = nil, redactor: Redactor = Redactor())
        throws(WaybillError)
    {
        self.format = format
        self.isCompressed = isCompressed ?? file.endsInGzip
        self.redactor = redactor
        guard format.text != nil || !self.isCompressed else {
            throw WaybillError(
                .setting,
                "An SQLite file cannot be compressed as it is written. Leave gzip out, or choose ndjson or csv.")
        }
    }

    /// Writes the file, in place of one of that name.
    ///
    /// - Parameter now: Microseconds since 1970.
    /// - Throws: `.setting` where it cannot be written, `.notFound` where there is nothing to export: then there is no
    ///   file.
    package func run(_ scope: ExportScope, of reader: StoreReader, to file: URL, now: Int64) throws -> ExportSummary {
        guard let text = format.text else {
            return try SQLiteExport(redactor: redactor).run(scope, of: reader, to: file, now: now)
        }
        return try write(text, scope, of: reader, to: file)
    }

    private func write(_ format: TextFormat, _ scope: ExportScope, of reader: StoreReader, to file: URL) throws
        -> ExportSummary
    {
        let partial = try PartialFile(file)
        let gzip = isCompressed ? try Gzip() : nil
        let export = try reader.export(scope, as: format, redactor: redactor) { piece in
            try partial.write(gzip?.compress(piece) ?? piece)
        }
        guard export.factCount > 0 else { throw try reader.nothingToExport(scope, as: format) }
        if let gzip { try partial.write(gzip.finish()) }
        try partial.finish()
        return ExportSummary(file: file, factCount: export.factCount, byteCount: partial.byteCount)
    }
}

extension StoreReader {
    /// Why an export is empty, as an error.
    package func nothingToExport(_ scope: ExportScope, as format: TextFormat? = nil) throws -> WaybillError {
        let why =
            switch scope {
            case .transactions(let filter, let now): try whyEmpty(filter, now: now)
            case .everything: try whyEmpty(TransactionFilter(), now: 0)
            case .transaction(let id): "There is no transaction \(id) here."
            case .after, .since: "Nothing has come since then."
            case .quarantine: "Nothing is in quarantine."
            }
        let hint = format == .otlp ? " Only parts that were closed are spans." : ""
        return WaybillError(.notFound, "Nothing was exported. \(why)\(hint)")
    }
}

/// What an export is written as; `Schemas/README.md` describes each.
public enum ExportFormat: String, Sendable, CaseIterable {
    /// One fact a line, as a JSON object: for DuckDB, `jq` and programs.
    case ndjson
    /// One fact a line, the same columns: for spreadsheets and data frames.
    case csv
    /// Spans of OpenTelemetry, some dozens a line, each of which is a request of OTLP/HTTP in JSON: for tracing
    /// backends.
    case otlp
    /// A store in one file: for `waybill`, `sqlite3` and everything else that reads one.
    case sqlite

    /// nil for a format that is not text.
    package var text: TextFormat? { TextFormat(rawValue: rawValue) }
}

/// What an export has written.
public struct ExportSummary: Sendable, Hashable {
    /// The file.
    public var file: URL
    /// Facts in it.
    public var factCount: Int
    /// Its length in bytes.
    public var byteCount: Int64

    /// Makes a summary.
    public init(file: URL, factCount: Int, byteCount: Int64) {
        self.file = file
        self.factCount = factCount
        self.byteCount = byteCount
    }
}

/// An export as a store of its own, in one file: facts go through the front door, as a collector's do.
struct SQLiteExport {
    var redactor: Redactor

    /// Writes the file, in place of one of that name.
    ///
    /// - Parameter now: Microseconds since 1970, when the store in it has heard of everything.
    func run(_ scope: ExportScope, of reader: StoreReader, to file: URL, now: Int64) throws -> ExportSummary {
        // Holds the name and shows early whether it can be written.
        let partial = try PartialFile(file)
        let work = try partial.makeFolder()
        defer { withExtendedLifetime(partial) {} }
        let store = try Store(.folder(work))
        var factCount = 0
        try reader.export(scope, redactor: redactor) { set in
            factCount += try store.ingest(DecodedSet(set: set), receivedAt: now, isVouchedFor: true)
                .acceptedCount
        }
        guard factCount > 0 else { throw try reader.nothingToExport(scope) }
        let copy = work.appending(path: "copy.sqlite")
        try store.snapshot(to: copy)
        let byteCount = try partial.finish(with: copy)
        return ExportSummary(file: file, factCount: factCount, byteCount: byteCount)
    }
}

/// Bytes that become a file at once, which only its owner may read: whole and on the disk, or not at all.
package enum WholeFile {
    /// Reads a file that says what we do; nil where there is none.
    ///
    /// - Throws: `.setting` where it cannot be read, or where somebody else may have put it there.
    package static func read(_ file: URL) throws(WaybillError) -> [UInt8]? {
        let path = file.path(percentEncoded: false)
        do { return try DurableFile.trustedBytes(of: path) } catch {
            let code = (error as? POSIXError)?.code
            throw WaybillError(
                .setting,
                code == .EPERM || code == .ELOOP
                    ? "\(path) is not used: others can write to its folder, and it is a link, or another user's. Move it away."
                    : "\(path) cannot be read. Check its permissions.", cause: error.localizedDescription)
        }
    }

    /// Checks that nobody else can have put a folder there.
    ///
    /// - Throws: `.setting`
    package static func checkFolder(_ folder: URL) throws(WaybillError) {
        guard let reason = DurableFile.reasonToDistrust(folder: folder) else { return }
        throw WaybillError(
            .setting, "The folder \(folder.path(percentEncoded: false)) \(reason). Name another place.")
    }

    /// Writes it in place of one of that name.
    ///
    /// - Parameter bytes: Called when no other writer can come in between.
    /// - Throws: `.setting` where it cannot be written.
    package static func write(to file: URL, _ bytes: () throws(WaybillError) -> [UInt8]) throws(WaybillError) {
        let partial = try PartialFile(file)
        try partial.write(bytes())
        try partial.finish()
    }
}

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
