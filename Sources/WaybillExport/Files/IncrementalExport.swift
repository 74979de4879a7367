package import WaybillCore
import WaybillReading
package import WaybillStore

/// Exports what is new in a store into one more file of a folder.
package struct IncrementalExport {
    /// Where a test may end the process.
    package enum Step: String, Sendable, CaseIterable { case begun, written, noted, finished }

    package var format: TextFormat
    package var isCompressed: Bool
    package var redactor: Redactor

    package init(as format: TextFormat, isCompressed: Bool = false, redactor: Redactor = Redactor()) {
        self.format = format
        self.isCompressed = isCompressed
        self.redactor = redactor
    }

    /// What the names of its files end with.
    package var suffix: String { format.suffix + (isCompressed ? ".gz" : "") }

    /// Writes the file.
    ///
    /// - Returns: nil where nothing is new: then there is no file.
    package func run(
        of reader: StoreReader, into folder: IncrementalFolder, at step: (Step) -> Void = { _ in }
    ) throws -> ExportSummary? {
        let cursor = try folder.cursor.map { text throws(WaybillError) in try ExportCursor(text) } ?? ExportCursor()
        let file = try folder.next()
        let gzip = isCompressed ? try Gzip() : nil
        step(.begun)
        let export = try reader.export(.after(cursor), as: format, redactor: redactor) { piece in
            try file.write(gzip?.compress(piece) ?? piece)
        }
        guard export.factCount > 0 else { return nil }
        if let gzip { try file.write(gzip.finish()) }
        step(.written)
        try folder.finish(file, cursor: export.cursor.description) { step(.noted) }
        step(.finished)
        return ExportSummary(file: file.file, factCount: export.factCount, byteCount: file.byteCount)
    }
}
