import WaybillCore
import WaybillReading
import WaybillStore

/// An export that is read a piece at a time, with the connection that it reads from; confined to its thread.
final class StreamedExport {
    private var reader: StoreReader?
    private var export: TextExport?

    /// Decides what the export takes.
    ///
    /// - Returns: The cursor behind it.
    func begin(
        _ scope: ExportScope, as format: TextFormat, of place: ResolvedLocation, _ redactor: Redactor,
        until interruption: Interruption
    ) throws -> ExportCursor {
        let reader = try StoreReader(place)
        let export = try reader.reading(until: interruption) {
            try reader.export(scope, as: format, redactor: redactor)
        }
        (self.reader, self.export) = (reader, export)
        return export.cursor
    }

    /// The next piece; nil after the last.
    func piece(until interruption: Interruption) throws -> ExportStream.Piece? {
        guard let reader, let export else { return nil }
        let before = export.factCount
        return try reader.reading(until: interruption) { try export.piece() }
            .map { ExportStream.Piece(bytes: $0, factCount: export.factCount - before) }
    }
}
