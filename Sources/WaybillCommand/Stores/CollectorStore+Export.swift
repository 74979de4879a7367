#if Collector
import Foundation
import WaybillCore
import WaybillExport
import WaybillReading

/// The collector's answer is kept in a file without a name until it is whole.
extension CollectorStore: ExportingStore {
    func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
        var query = ExportQuery()
        query.format = format
        switch facts {
        case .of(let request): query.filter = try request.expression()?.description
        case .after(let cursor): query.after = cursor
        case .since(let time): query.since = "\(max(0, time.microseconds))"
        case .transaction(let id): query.transaction = id.description
        }
        let (file, cursor) = try await download(query)
        return ExportStream(cursor: cursor, pieces: FilePieces(file).next)
    }
}

/// A file of whole lines, piece by piece.
private final class FilePieces: Sendable {
    private let file: FileHandle
    private let rest = Locked<[UInt8]>([])

    init(_ file: FileHandle) { self.file = file }

    @Sendable func next() throws -> ExportStream.Piece? {
        try rest.withLock { rest in
            while let piece = try file.read(upToCount: TextExport.pieceByteCount), !piece.isEmpty {
                rest += piece
                guard let end = rest.lastIndex(of: 0x0A) else { continue }
                defer { rest.removeFirst(end + 1) }
                return ExportStream.Piece(bytes: Array(rest[...end]))
            }
            defer { rest = [] }
            return rest.isEmpty ? nil : ExportStream.Piece(bytes: rest)
        }
    }
}
#endif
