package import WaybillCore

/// Bodies of exchanges, for readers of this very file: they are in no set, no export and no snapshot.
extension StoreReader {
    /// What was kept of a body.
    ///
    /// - Returns: nil where nothing is known of one: none was asked for, or the room went to newer ones.
    package func body(of exchange: Fact.ID, _ direction: BodyDirection) throws(WaybillError) -> ExchangeBody? {
        try read { () throws(WaybillError) in
            // An older store has no such table.
            guard try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'bodies'") != 0 else {
                return nil
            }
            var body: ExchangeBody?
            var pieceCount = 0
            try connection.statement(
                """
                SELECT b.content_type, b.kept_bytes, b.bytes, b.byte_count, b.omission, b.hash, b.piece FROM bodies b \
                WHERE b.source = (SELECT id FROM sources WHERE uuid = ?) AND b.exchange = ? AND b.direction = ? ORDER BY b.piece
                """
            ).forEachRow(exchange.source, exchange.sequence, direction.rawValue) { row in
                // Without a piece before it, in a damaged store, the rest cannot be read.
                guard row.int(6) == pieceCount else { return }
                pieceCount += 1
                var known = body ?? ExchangeBody(contentType: row.optionalText(0), bytes: [], byteCount: nil)
                if case .blob(let compressed) = row.value(2) {
                    known.bytes += Zlib.decompressed(compressed, byteCount: row.int(1)) ?? []
                }
                known.byteCount = row.optionalInt(3)
                known.omission = row.optionalText(4).flatMap(ExchangeBody.Omission.init)
                if case .blob(let hash) = row.value(5) { known.hash = hash }
                body = known
            }
            return body
        }
    }
}
