import WaybillReading
import WaybillStore

/// Exports what is new in a store into one more file of a folder.
package struct IncrementalExport {
    /// Where a test may end the process.
    package enum Step: String, Sendable, CaseIterable { case begun, written, noted, finished }

    package var format: TextFormat
    package var isCompressed: Bool

    package init(as format: TextFormat, isCompressed: Bool = false) {
        self.format = format
        self.isCompressed = isCompressed
    }

    /// What the names of its files end with.
    package var suffix: String { format.suffix + (isCompressed ? ".gz" : "") }

    /// Writes the file.
    ///
    /// - Returns: nil where nothing is new: then there is no file.
    package func run(
        of store: some ExportingStore, into folder: IncrementalFolder, at step: (Step) -> Void = { _ in }
    ) async throws -> ExportSummary? {
        let file = try folder.next()
        step(.begun)
        let export = try await store.export(.after(folder.cursor ?? ExportCursor().description), as: format)
        guard let factCount = try await export.write(as: format, isCompressed: isCompressed, to: file.write) else {
            return nil
        }
        step(.written)
        try folder.finish(file, cursor: export.cursor) { step(.noted) }
        step(.finished)
        return ExportSummary(file: file.file, factCount: factCount, byteCount: file.byteCount)
    }
}
