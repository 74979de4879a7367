import CWaybillZlib
package import WaybillCore

/// Pieces of bodies that wait for the store; and how many bytes may wait, over all exchanges under way, so that memory
/// is bounded even where the disk is slow.
package final class WaitingBodies: Sendable {
    private struct State {
        var pieces: [BodyPiece] = []
        var byteCount = 0
        /// Bodies of which something was left out for want of room.
        var refusedCount: Int64 = 0
        var isAnnounced = false
    }

    /// Bytes that may wait.
    package static let usualLimit = 8 << 20

    private let limit: Int
    private let state = Locked(State())

    package init(limit: Int = usualLimit) { self.limit = limit }

    /// Takes room for bytes; false, and counted, where there is none.
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

    /// Corrects what was reserved, when it is known how much is really kept.
    package func adjust(by byteCount: Int) { state.withLock { $0.byteCount += byteCount } }

    /// Times that there was no room.
    package var refusedCount: Int64 { state.withLock { $0.refusedCount } }

    /// Whether so much waits that it should be stored at once.
    var isPressing: Bool { byteCount > limit / 4 }

    /// Bytes that wait, or are about to.
    package var byteCount: Int { state.withLock { $0.byteCount } }

    /// Has a piece wait for whose bytes there is room.
    ///
    /// - Returns: Whether the writer has to be told that there is something to store.
    func add(_ piece: BodyPiece) -> Bool {
        state.withLock { state in
            state.pieces.append(piece)
            defer { state.isAnnounced = true }
            return !state.isAnnounced
        }
    }

    /// All pieces that wait.
    func take() -> [BodyPiece] {
        state.withLock { state in
            defer { (state.pieces, state.isAnnounced) = ([], false) }
            return state.pieces
        }
    }

    /// Has pieces wait again which could not be stored yet.
    func giveBack(_ pieces: [BodyPiece]) {
        guard !pieces.isEmpty else { return }
        state.withLock { $0.pieces = pieces + $0.pieces }
    }
}

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

/// Bodies of exchanges, for readers of this very file: they are in no set, no export and no snapshot.
extension StoreReader {
    /// What was kept of a body.
    ///
    /// - Returns: nil where nothing is known of one: none was asked for, or the room went to newer ones.
    package func body(of exchange: FactID, _ direction: ExchangeBody.Direction) throws(WaybillError) -> ExchangeBody? {
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

/// Bytes in the format of RFC 1950, which the functions of SQLite's own shell read:
/// `sqlar_uncompress(bytes, kept_bytes)`.
package enum Zlib {
    /// - Throws: Where there is no memory for it.
    static func compressed(_ bytes: [UInt8]) throws(WaybillError) -> [UInt8] {
        var count = compressBound(UInt(bytes.count))
        var result = [UInt8](repeating: 0, count: Int(count))
        // The fastest level: half of what the slowest gains, in a fifth of its time.
        guard compress2(&result, &count, bytes, UInt(bytes.count), Z_BEST_SPEED) == Z_OK else {
            throw WaybillError(.store, "There was no memory left to compress a body.")
        }
        result.removeSubrange(Int(count)...)
        return result
    }

    /// nil where the bytes are not what was compressed, in a damaged store.
    ///
    /// - Parameter byteCount: How many they were.
    package static func decompressed(_ bytes: [UInt8], byteCount: Int) -> [UInt8]? {
        guard (0...BodyRows.pieceLimit).contains(byteCount) else { return nil }
        var count = UInt(byteCount)
        // One more than none: an empty buffer may have no address.
        var result = [UInt8](repeating: 0, count: max(1, byteCount))
        guard uncompress(&result, &count, bytes, UInt(bytes.count)) == Z_OK, count == byteCount else { return nil }
        result.removeSubrange(byteCount...)
        return result
    }
}
