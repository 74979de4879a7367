public import Foundation
package import WaybillCore
package import WaybillQueries
package import WaybillStore

extension URL {
    package var endsInGzip: Bool { pathExtension.lowercased() == "gz" }
}

package struct FileExport: Sendable {
    package var format: ExportFormat
    package var isCompressed: Bool
    package var redactor: Redactor

    /// - Parameter isCompressed: Whether to compress text; `nil` compresses if the file name ends with `.gz`.
    package init(as format: ExportFormat, to file: URL, isCompressed: Bool? = nil, redactor: Redactor = Redactor())
        throws(WaybillError)
    {
        self.format = format
        self.isCompressed = isCompressed ?? file.endsInGzip
        self.redactor = redactor
        guard format != .sqlite || !self.isCompressed else {
            throw WaybillError(
                .setting,
                "An SQLite file cannot be compressed as it is written. Leave gzip out, or choose another format.")
        }
    }

    /// - Throws: `.setting` if the file can't be written, `.notFound` if there is nothing to export.
    package func run(_ scope: ExportScope, of reader: StoreReader, to file: URL, now: Int64) throws -> ExportSummary {
        guard format != .sqlite else { return try writeStore(scope, of: reader, to: file, now: now) }
        let output = try ExportOutput(to: file, isCompressed: isCompressed)
        let factCount =
            if let text = format.text {
                try reader.export(scope, as: text, redactor: redactor, to: output.write).factCount
            } else {
                try writeTrace(scope, of: reader, to: output, now: now)
            }
        guard factCount > 0 else { throw try reader.nothingToExport(scope, as: format.text) }
        return ExportSummary(file: file, factCount: factCount, byteCount: try output.finish())
    }
}

/// A file, which appears when it is complete, or a function to write to.
package struct ExportOutput: Sendable {
    private struct State {
        var put: ([UInt8]) throws -> Void
        var gzip: Gzip?
        var file: PartialFile?
        var byteCount: Int64 = 0

        mutating func add(_ bytes: [UInt8]) throws {
            try put(bytes)
            byteCount += Int64(bytes.count)
        }
    }

    private let state: Locked<State>

    /// - Parameter isCompressed: `nil` compresses if the file name ends with `.gz`.
    package init(to file: URL, isCompressed: Bool? = nil) throws(WaybillError) {
        let gzip = isCompressed ?? file.endsInGzip ? try Gzip() : nil
        if let put = try Self.device(file) {
            state = Locked(State(put: put, gzip: gzip))
            return
        }
        let partial = try PartialFile(file)
        state = Locked(State(put: partial.write, gzip: gzip, file: partial))
    }

    package init(isCompressed: Bool = false, to put: @escaping ([UInt8]) throws -> Void) throws(WaybillError) {
        state = Locked(State(put: put, gzip: isCompressed ? try Gzip() : nil))
    }

    package func write(_ bytes: [UInt8]) throws {
        try state.withLock { state in try state.add(state.gzip?.compress(bytes) ?? bytes) }
    }

    /// No file may replace a device or a pipe, such as `/dev/stdout`.
    private static func device(_ file: URL) throws(WaybillError) -> (([UInt8]) throws -> Void)? {
        let path = file.path(percentEncoded: false)
        var status = stat()
        guard stat(path, &status) == 0, [S_IFCHR, S_IFIFO].contains(status.st_mode & S_IFMT) else { return nil }
        guard let device = FileHandle(forWritingAtPath: path) else {
            throw WaybillError(.setting, "\(path) cannot be written. Check its permissions.")
        }
        return { bytes in
            let isTerminal = isatty(device.fileDescriptor) == 1
            do {
                let shown = isTerminal ? Array(StandardOutput.shown(bytes).utf8) : bytes
                try DurableFile.write(shown, to: device.fileDescriptor)
            } catch { throw WaybillError(.setting, "\(path) cannot be written.", cause: "\(error)") }
        }
    }

    /// Returns the number of written bytes.
    package func finish() throws -> Int64 {
        try state.withLock { state in
            if let gzip = state.gzip { try state.add(gzip.finish()) }
            try state.file?.finish()
            return state.byteCount
        }
    }
}

extension StoreReader {
    package func nothingToExport(_ scope: ExportScope, as format: TextFormat? = nil) throws -> WaybillError {
        let why =
            switch scope {
            case .transactions(let filter, let now): try whyEmpty(filter, now: now)
            case .everything: try whyEmpty(TransactionFilter(), now: 0)
            case .some(let ids): "There is no transaction \(ids.first.map(\.description) ?? "") here."
            case .after, .since: "Nothing has come since then."
            case .quarantine: "Nothing is in quarantine."
            }
        return .nothingExported(why, format == .otlp ? "Only parts that were closed are spans." : nil)
    }
}

extension WaybillError {
    static func nothingExported(_ reasons: String?...) -> WaybillError {
        WaybillError(.notFound, (["Nothing was exported."] + reasons.compactMap(\.self)).joined(separator: " "))
    }
}

/// A format of exports, described in `Schemas/README.md`.
public enum ExportFormat: String, Sendable, CaseIterable {
    /// One JSON object per fact and line, for DuckDB, `jq` and programs.
    case ndjson
    /// One row per fact with fixed columns, for spreadsheets and data frames.
    case csv
    /// OpenTelemetry spans for tracing backends: each line is an OTLP/HTTP request in JSON with some dozens of spans.
    case otlp
    /// A trace for ui.perfetto.dev and `chrome://tracing`.
    case perfetto
    /// A store in one SQLite file, for `waybill`, `sqlite3` and other SQLite tools.
    case sqlite

    package var text: TextFormat? { TextFormat(rawValue: rawValue) }
}

/// The result of an export.
public struct ExportSummary: Sendable, Hashable {
    /// The written file.
    public var file: URL
    /// The number of exported facts.
    public var factCount: Int
    /// The length of the file in bytes.
    public var byteCount: Int64

    /// Creates a summary.
    public init(file: URL, factCount: Int, byteCount: Int64) {
        self.file = file
        self.factCount = factCount
        self.byteCount = byteCount
    }
}

extension FileExport {
    /// Writes a one-file store, which ingests facts like a collector does.
    ///
    /// - Parameter now: The receive time of all facts in the new store, in microseconds since 1970.
    func writeStore(_ scope: ExportScope, of reader: StoreReader, to file: URL, now: Int64) throws -> ExportSummary {
        // Reserves the name, and fails early if the file can't be written.
        let partial = try PartialFile(file)
        let work = try partial.makeFolder()
        defer { withExtendedLifetime(partial) {} }
        let store = try Store(.folder(work))
        var factCount = 0
        try reader.export(scope, redactor: redactor) { set in
            factCount += try store.ingest(set, receivedAt: now, isVouchedFor: true).acceptedCount
        }
        guard factCount > 0 else { throw try reader.nothingToExport(scope) }
        let copy = work.appending(path: "copy.sqlite")
        try store.snapshot(to: copy)
        let byteCount = try partial.finish(with: copy)
        return ExportSummary(file: file, factCount: factCount, byteCount: byteCount)
    }
}

/// Files that are written atomically and readable only by their owner.
package enum WholeFile {
    /// Reads a configuration file; `nil` if it is missing. Throws `.setting` if another user may have placed it there.
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

    package static func checkFolder(_ folder: URL) throws(WaybillError) {
        guard let reason = DurableFile.reasonToDistrust(folder: folder) else { return }
        throw WaybillError(
            .setting, "The folder \(folder.path(percentEncoded: false)) \(reason). Name another place.")
    }

    /// - Parameter bytes: Called while no other process can write the file.
    package static func write(to file: URL, _ bytes: () throws(WaybillError) -> [UInt8]) throws(WaybillError) {
        let partial = try PartialFile(file)
        try partial.write(bytes())
        try partial.finish()
    }
}

extension [UInt8] {
    /// The bytes as one gzip member (RFC 1952); `nil` if there is no memory left.
    package var gzipped: [UInt8]? { try? Gzip.compressed(self) }
}

package enum StandardOutput {
    package static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes text, on a terminal without control characters. Throws `.setting` if standard output is closed or full.
    @Sendable package static func write(_ bytes: [UInt8]) throws(WaybillError) {
        try writePainted(isTerminal ? Array(shown(bytes).utf8) : bytes)
    }

    /// Writes text with color codes, without other control characters.
    package static func writePainted(_ bytes: [UInt8]) throws(WaybillError) {
        do {
            try DurableFile.write(bytes, to: STDOUT_FILENO)
        } catch {
            let hasReader = (error as? POSIXError)?.code != .EPIPE
            throw hasReader
                ? WaybillError(.setting, "Standard output cannot be written.", cause: "\(error)") : withoutReader
        }
    }

    package static let withoutReader = WaybillError(
        .setting, "Standard output cannot be written.", cause: "It has no reader.")

    /// CSV lines end with CR LF, which a terminal shows as one line end.
    static func shown(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n").printableLines
    }
}
