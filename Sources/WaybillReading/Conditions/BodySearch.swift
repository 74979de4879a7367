import WaybillCore
import WaybillStore

/// Finds the exchanges in whose kept bodies words stand, before a list is read: bodies are compressed, so that SQL
/// cannot look into them.
struct BodySearch {
    let connection: Connection

    /// Bytes of bodies, uncompressed, that a page of a list looks through: some tenths of a second.
    static let pageLimit: Int64 = 64 << 20

    /// Whether a word, by its number, stands in a body of `network_logs l`.
    static func condition(word: Int) -> String {
        "EXISTS(SELECT 1 FROM temp.mentions m WHERE m.word = \(word) AND m.source = l.source AND m.exchange = l.sequence)"
    }

    /// Fills the temporary table `mentions`, from the newest body on.
    ///
    /// Words are found as they were sent, and in any case as far as ASCII goes.
    ///
    /// - Parameter limit: Bytes of bodies, uncompressed.
    /// - Returns: Whether there are older bodies that were not looked through.
    func find(_ words: [String], limit: Int64) throws(WaybillError) -> Bool {
        guard !words.isEmpty else { return false }
        try connection.execute(
            """
            CREATE TEMP TABLE IF NOT EXISTS mentions(word INTEGER, source INTEGER, exchange INTEGER, PRIMARY KEY(word, source, exchange)) \
            WITHOUT ROWID; DELETE FROM temp.mentions
            """)
        // An older store has no such table.
        guard try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'bodies'") != 0 else {
            return false
        }
        let patterns = words.map { FoldedBytes($0.utf8) }
        let bodies = try connection.statement(
            "SELECT source, exchange, direction, sum(kept_bytes) FROM bodies GROUP BY source, exchange, direction ORDER BY max(id) DESC"
        ).rows { row in (source: row.int(0), exchange: row.int(1), direction: row.int(2), byteCount: row.int(3)) }
        var rest = limit
        for body in bodies {
            rest -= max(0, body.byteCount)
            guard rest >= 0 else { return true }
            let bytes = try bytes(body.source, body.exchange, body.direction)
            for (number, pattern) in patterns.enumerated() where bytes.contains(pattern) {
                try connection.statement("INSERT OR IGNORE INTO temp.mentions VALUES (?, ?, ?)").run(
                    number, body.source, body.exchange)
            }
        }
        return false
    }

    private func bytes(_ source: Int64, _ exchange: Int64, _ direction: Int64) throws(WaybillError) -> FoldedBytes {
        var bytes: [UInt8] = []
        try connection.statement(
            "SELECT kept_bytes, bytes FROM bodies WHERE source = ? AND exchange = ? AND direction = ? ORDER BY piece"
        ).forEachRow(source, exchange, direction) { row in
            if case .blob(let compressed) = row.value(1) {
                bytes += Zlib.decompressed(compressed, byteCount: row.int(0)) ?? []
            }
        }
        return FoldedBytes(bytes)
    }
}

/// Bytes in which the capitals of ASCII are small.
private struct FoldedBytes {
    private let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Whether others stand in it.
    func contains(_ other: FoldedBytes) -> Bool {
        let pattern = other.bytes
        guard let first = pattern.first, pattern.count <= bytes.count else { return pattern.isEmpty }
        return bytes.withUnsafeBufferPointer { bytes in
            let last = bytes.count - pattern.count
            var start = 0
            while start <= last {
                if bytes[start] == first, pattern.indices.allSatisfy({ bytes[start + $0] == pattern[$0] }) {
                    return true
                }
                start += 1
            }
            return false
        }
    }
}
