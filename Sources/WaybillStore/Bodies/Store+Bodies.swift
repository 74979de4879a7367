package import WaybillCore

/// Bodies of this process's exchanges go in.
extension Store {
    /// Writes pieces of bodies, in one SQLite transaction, and keeps all bodies within their limit: the oldest go.
    ///
    /// A piece whose exchange is gone, erased or given up, is not written.
    ///
    /// - Parameter limit: Bytes that bodies may take, compressed.
    /// - Returns: Pieces whose exchange has not been written yet.
    package func append(_ pieces: [BodyPiece], of source: GUID, limit: Int64) throws(WaybillError) -> [BodyPiece] {
        var compressed: [[UInt8]] = []
        // Before the lock between processes is taken.
        for piece in pieces { compressed.append(try Zlib.compressed(piece.bytes)) }
        return try write { () throws(WaybillError) in
            guard let row = try SourceRows(connection: connection).find(source) else { return [] }
            let bodies = BodyRows(connection: connection)
            var byteCount = if let bodyByteCount { bodyByteCount } else { try bodies.byteCount() }
            for (piece, bytes) in zip(pieces, compressed) where piece.exchange <= row.recorded {
                byteCount += try bodies.insert(piece, compressed: bytes, of: row.id)
            }
            if byteCount > limit {
                // A little further, so that it is not looked at every time.
                try bodies.shrink(to: limit - limit / 8)
                byteCount = try bodies.byteCount()
            }
            bodyByteCount = byteCount
            return pieces.filter { $0.exchange > row.recorded }
        }
    }
}
