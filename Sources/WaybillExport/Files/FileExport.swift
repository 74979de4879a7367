package import Foundation
package import WaybillCore
package import WaybillReading
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
