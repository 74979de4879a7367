import CWaybillZlib
package import WaybillCore

/// Pieces of bodies that wait for the store. Their size is limited.
package final class WaitingBodies: Sendable {
    private struct State {
        var pieces: [BodyPiece] = []
        var byteCount = 0
        var refusedCount: Int64 = 0
        var isAnnounced = false
    }

    package static let usualLimit = 8 << 20

    private let limit: Int
    private let state = Locked(State())

    package init(limit: Int = usualLimit) { self.limit = limit }

    /// Counts a refusal if there is no room.
    package func reserve(_ byteCount: Int) -> Bool {
        state.withLock { state in
            guard state.byteCount + byteCount <= limit else {
                state.refusedCount += 1
                return false
            }
            state.byteCount += byteCount
            return true
        }
    }

    package func adjust(by byteCount: Int) { state.withLock { $0.byteCount += byteCount } }

    package var refusedCount: Int64 { state.withLock { $0.refusedCount } }

    var isPressing: Bool { byteCount > limit / 4 }

    package var byteCount: Int { state.withLock { $0.byteCount } }

    /// Queues a piece whose room is reserved; returns whether to wake the writer.
    func add(_ piece: BodyPiece) -> Bool {
        state.withLock { state in
            state.pieces.append(piece)
            return !exchange(&state.isAnnounced, with: true)
        }
    }

    func take() -> [BodyPiece] {
        state.withLock { state in
            defer { (state.pieces, state.isAnnounced) = ([], false) }
            return state.pieces
        }
    }

    func giveBack(_ pieces: [BodyPiece]) {
        guard !pieces.isEmpty else { return }
        state.withLock { $0.pieces = pieces + $0.pieces }
    }
}

extension Store {
    /// Writes pieces of bodies, deletes the oldest bodies beyond `limit` bytes, and discards pieces of erased
    /// exchanges.
    ///
    /// - Returns: The pieces whose exchange is not written yet.
    package func append(_ pieces: [BodyPiece], of source: GUID, limit: Int64) throws(WaybillError) -> [BodyPiece] {
        var compressed: [[UInt8]] = []
        // Compress before taking the lock between processes.
        for piece in pieces { compressed.append(try Zlib.compressed(piece.bytes)) }
        return try write { () throws(WaybillError) in
            guard let row = try connection.sourceRow(source) else { return [] }
            let bodies = BodyRows(connection: connection)
            var byteCount = if let bodyByteCount { bodyByteCount } else { try bodies.byteCount() }
            for (piece, bytes) in zip(pieces, compressed) where piece.exchange <= row.recorded {
                byteCount += try bodies.insert(piece, compressed: bytes, of: row.id)
            }
            if byteCount > limit {
                // This leaves some room, to avoid shrinking at every write.
                try bodies.shrink(to: limit - limit / 8)
                byteCount = try bodies.byteCount()
            }
            bodyByteCount = byteCount
            return pieces.filter { $0.exchange > row.recorded }
        }
    }
}

/// Sets, exports and snapshots omit bodies.
extension StoreReader {
    /// Returns a stored body; `nil` if it was not recorded or made room for newer ones.
    package func body(of exchange: FactID, _ direction: ExchangeBody.Direction) throws(WaybillError) -> ExchangeBody? {
        try read { () throws(WaybillError) in
            var body: ExchangeBody?
            var pieceCount = 0
            try connection.statement(
                """
                SELECT b.content_type, b.kept_bytes, b.bytes, b.byte_count, b.omission, b.hash, b.piece FROM bodies b \
                WHERE b.source = (SELECT id FROM sources WHERE uuid = ?) AND b.exchange = ? AND b.direction = ? ORDER BY b.piece
                """
            ).forEachRow(exchange.source, exchange.sequence, direction.rawValue) { row in
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

/// Compression in the format of RFC 1950, which the SQLite shell's `sqlar_uncompress(bytes, kept_bytes)` reads.
package enum Zlib {
    static func compressed(_ bytes: [UInt8]) throws(WaybillError) -> [UInt8] {
        var count = compressBound(UInt(bytes.count))
        var result = [UInt8](repeating: 0, count: Int(count))
        // The fastest level saves half as much as the slowest in a fifth of the time.
        guard compress2(&result, &count, bytes, UInt(bytes.count), Z_BEST_SPEED) == Z_OK else {
            throw WaybillError(.store, "There was no memory left to compress a body.")
        }
        result.removeSubrange(Int(count)...)
        return result
    }

    /// Returns `nil` for damaged bytes.
    package static func decompressed(_ bytes: [UInt8], byteCount: Int) -> [UInt8]? {
        guard (0...BodyRows.pieceLimit).contains(byteCount) else { return nil }
        var count = UInt(byteCount)
        // An empty buffer may have no address.
        var result = [UInt8](repeating: 0, count: max(1, byteCount))
        guard uncompress(&result, &count, bytes, UInt(bytes.count)) == Z_OK, count == byteCount else { return nil }
        result.removeSubrange(byteCount...)
        return result
    }
}
