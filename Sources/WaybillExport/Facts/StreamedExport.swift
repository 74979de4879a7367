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
    func begin(_ scope: ExportScope, as format: TextFormat, of place: ResolvedLocation, _ redactor: Redactor)
        throws(WaybillError)
        -> ExportCursor
    {
        let reader = try StoreReader(place)
        let export = try reader.export(scope, as: format, redactor: redactor)
        (self.reader, self.export) = (reader, export)
        return export.cursor
    }

    /// The next piece; nil after the last.
    func piece() throws(WaybillError) -> ExportStream.Piece? {
        guard let export else { return nil }
        let before = export.factCount
        return try export.piece().map { ExportStream.Piece(bytes: $0, factCount: export.factCount - before) }
    }
}
