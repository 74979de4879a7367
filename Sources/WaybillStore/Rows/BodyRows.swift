package import WaybillCore

/// The table `bodies`. A trigger deletes bodies with their row of `exchanges`.
struct BodyRows {
    let connection: Connection

    /// No piece is as large; a damaged store may claim more.
    static let pieceLimit = 16 << 20
    private static let chunk = 16

    /// Adds a piece and returns its stored size; 0 if its exchange or an earlier piece is gone.
    func insert(_ piece: BodyPiece, compressed: [UInt8], of source: Int64) throws(WaybillError) -> Int64 {
        try connection.statement(Self.insert).run(
            source, piece.exchange, piece.direction.rawValue, piece.number, piece.contentType, piece.bytes.count,
            ColumnValue.blob(compressed), piece.end?.byteCount, piece.end?.omission?.rawValue,
            try piece.end?.hash.map { hash throws(WaybillError) in ColumnValue.blob(try keyed(hash)) }, piece.part)
        return connection.changeCount > 0 ? Int64(compressed.count) : 0
    }

    /// Deletes a few of the oldest bodies; returns `false` if there are none.
    func removeOldest() throws(WaybillError) -> Bool {
        var count = 0
        return try removeOldest { _ in
            count += 1
            return count <= Self.chunk
        }
    }

    func shrink(to byteCount: Int64) throws(WaybillError) {
        var excess = try self.byteCount() - byteCount
        _ = try removeOldest { pieceByteCount in
            defer { excess -= pieceByteCount }
            return excess > 0
        }
    }

    /// Deletes the oldest bodies while `isNeeded`, which receives a piece's size.
    private func removeOldest(while isNeeded: (Int64) -> Bool) throws(WaybillError) -> Bool {
        var oldest: [(source: Int64, exchange: Int64, direction: Int)] = []
        try connection.statement("SELECT source, exchange, direction, length(bytes) FROM bodies ORDER BY id").forRows {
            row in
            guard isNeeded(row.int(3)) else { return false }
            oldest.append((row.int(0), row.int(1), row.int(2)))
            return true
        }
        // A body is unreadable without its beginning, so all pieces are deleted.
        let delete = try connection.statement("DELETE FROM bodies WHERE source = ? AND exchange = ? AND direction = ?")
        for body in oldest { try delete.run(body.source, body.exchange, body.direction) }
        return !oldest.isEmpty
    }

    func byteCount() throws(WaybillError) -> Int64 {
        try connection.integer("SELECT ifnull(sum(length(bytes)), 0) FROM bodies")
    }

    // MARK: The key

    static let keySetting = "body_key"

    private func keyed(_ hash: SipHash.Value) throws(WaybillError) -> [UInt8] {
        var keyed = SipHash(key: try key())
        keyed.update(hash.0)
        keyed.update(hash.1)
        let (first, second) = keyed.value
        return [first, second].flatMap { withUnsafeBytes(of: $0.littleEndian, Array.init) }
    }

    private func key() throws(WaybillError) -> SipHash.Value {
        if let known = try connection.setting(Self.keySetting), let first = UInt64(known.prefix(16), radix: 16),
            let second = UInt64(known.dropFirst(16), radix: 16)
        {
            return (first, second)
        }
        let key = (UInt64.random(in: 0...(.max)), UInt64.random(in: 0...(.max)))
        try connection.set(Self.keySetting, to: key.0.hexadecimalDigits + key.1.hexadecimalDigits)
        return key
    }

    private static let insert = """
        INSERT OR IGNORE INTO bodies(source, exchange, direction, piece, content_type, kept_bytes, bytes, byte_count, omission, hash) \
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 \
        WHERE EXISTS(SELECT 1 FROM exchanges WHERE source = ?1 AND part = ?11 AND sequence = ?2 AND method IS NOT NULL) \
        AND (?4 = 0 OR EXISTS(SELECT 1 FROM bodies WHERE source = ?1 AND exchange = ?2 AND direction = ?3 AND piece = ?4 - 1))
        """
}

package struct BodyPiece: Sendable {
    package struct End: Sendable {
        package var byteCount: Int64
        package var omission: ExchangeBody.Omission?
        /// The hash under a public key, which the store hashes again under its own; `nil` unless the body was cut.
        package var hash: SipHash.Value?

        package init(byteCount: Int64, omission: ExchangeBody.Omission?, hash: SipHash.Value?) {
            self.byteCount = byteCount
            self.omission = omission
            self.hash = hash
        }
    }

    package var part: Int64
    package var exchange: Int64
    package var direction: ExchangeBody.Direction
    /// The number of the piece, from 0.
    package var number: Int64
    package var contentType: String?
    package var bytes: [UInt8]
    package var end: End?

    package init(
        part: Int64, exchange: Int64, direction: ExchangeBody.Direction, number: Int64, contentType: String?,
        bytes: [UInt8],
        end: End?
    ) {
        self.part = part
        self.exchange = exchange
        self.direction = direction
        self.number = number
        self.contentType = contentType
        self.bytes = bytes
        self.end = end
    }
}
