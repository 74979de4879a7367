/// SipHash-2-4 with 128 bits (Aumasson and Bernstein, 2012), of bytes that come in pieces: without its key it cannot be
/// told what was hashed.
///
/// Ten times as fast as HMAC-SHA256 without help from the processor, which matters where every byte of a download is
/// hashed.
package struct SipHash: Sendable {
    /// 128 bits.
    package typealias Value = (UInt64, UInt64)

    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    /// The bytes of a word that is not complete.
    private var word: UInt64 = 0
    private var byteCount = 0

    package init(key: Value) {
        v0 = key.0 ^ 0x736f_6d65_7073_6575
        v1 = key.1 ^ 0x646f_7261_6e64_6f6d ^ 0xee
        v2 = key.0 ^ 0x6c79_6765_6e65_7261
        v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index < bytes.count, byteCount % 8 != 0 {
            append(bytes[index])
            index += 1
        }
        while index + 8 <= bytes.count {
            compress(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
            byteCount += 8
            index += 8
        }
        while index < bytes.count {
            append(bytes[index])
            index += 1
        }
    }

    package mutating func update(_ value: UInt64) { withUnsafeBytes(of: value.littleEndian) { update($0) } }

    /// The hash of everything so far.
    package var value: Value {
        var copy = self
        copy.compress(word | UInt64(truncatingIfNeeded: byteCount) << 56)
        copy.v2 ^= 0xee
        for _ in 0..<4 { copy.round() }
        let first = copy.v0 ^ copy.v1 ^ copy.v2 ^ copy.v3
        copy.v1 ^= 0xdd
        for _ in 0..<4 { copy.round() }
        return (first, copy.v0 ^ copy.v1 ^ copy.v2 ^ copy.v3)
    }

    private mutating func append(_ byte: UInt8) {
        word |= UInt64(byte) << UInt64(byteCount % 8 * 8)
        byteCount += 1
        guard byteCount % 8 == 0 else { return }
        compress(word)
        word = 0
    }

    @inline(__always)
    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        round()
        round()
        v0 ^= word
    }

    @inline(__always)
    private mutating func round() {
        v0 &+= v1
        v1 = v1 << 13 | v1 >> 51
        v1 ^= v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = v3 << 16 | v3 >> 48
        v3 ^= v2
        v0 &+= v3
        v3 = v3 << 21 | v3 >> 43
        v3 ^= v0
        v2 &+= v1
        v1 = v1 << 17 | v1 >> 47
        v1 ^= v2
        v2 = v2 << 32 | v2 >> 32
    }
}
