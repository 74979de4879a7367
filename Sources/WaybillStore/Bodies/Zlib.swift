import CWaybillZlib
import WaybillCore

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
