#if Collector
package import WaybillCore
package import WaybillExport
package import WaybillReading
package import WaybillStore

/// An export that is read a piece at a time, with the connection that it reads from; confined to its thread.
package final class StreamedExport {
    private var reader: StoreReader?
    private var export: TextExport?
    private var gzip: Gzip?

    package init() {}

    /// Decides what the export takes.
    ///
    /// - Returns: The cursor behind it.
    package func begin(_ scope: ExportScope, as format: TextFormat, of place: ResolvedLocation, isCompressed: Bool) throws(WaybillError)
        -> ExportCursor
    {
        let reader = try StoreReader(place)
        let export = try reader.export(scope, as: format)
        gzip = isCompressed ? try Gzip() : nil
        self.reader = reader
        self.export = export
        return export.cursor
    }

    /// The next piece, empty where the compressor has kept it for now; nil after the last.
    package func piece() throws(WaybillError) -> [UInt8]? {
        if let piece = try export?.piece() { return gzip?.compress(piece) ?? piece }
        defer { gzip = nil }
        return gzip?.finish()
    }
}
#endif
