/// The ChaCha stream cipher (RFC 8439, but for 8 rounds) as a generator of random words: one key from the system makes
/// many of them.
///
/// The same choice as Go's runtime and, with 12 rounds, Rust's `StdRng`. The system's own bytes cost several times as
/// much.
enum ChaCha8 {
    /// Section 2.3: 16 words of the stream.
    static func block(key: SIMD8<UInt32>, counter: UInt32, rounds: Int = 8) -> SIMD16<UInt32> {
        // "expand 32-byte k", the key, the counter, and a nonce of zeros.
        let start = SIMD16(
            lowHalf: SIMD8(lowHalf: SIMD4(0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574), highHalf: key.lowHalf),
            highHalf: SIMD8(lowHalf: key.highHalf, highHalf: SIMD4(counter, 0, 0, 0)))
        // Variables rather than lanes: the compiler takes vectors apart for want of a vector rotation, and is twice as
        // slow.
        var (x0, x1, x2, x3) = (start[0], start[1], start[2], start[3])
        var (x4, x5, x6, x7) = (start[4], start[5], start[6], start[7])
        var (x8, x9, x10, x11) = (start[8], start[9], start[10], start[11])
        var (x12, x13, x14, x15) = (start[12], start[13], start[14], start[15])
        for _ in 0..<(rounds / 2) {
            // Columns, then diagonals.
            quarterRound(&x0, &x4, &x8, &x12)
            quarterRound(&x1, &x5, &x9, &x13)
            quarterRound(&x2, &x6, &x10, &x14)
            quarterRound(&x3, &x7, &x11, &x15)
            quarterRound(&x0, &x5, &x10, &x15)
            quarterRound(&x1, &x6, &x11, &x12)
            quarterRound(&x2, &x7, &x8, &x13)
            quarterRound(&x3, &x4, &x9, &x14)
        }
        return start &+ SIMD16(x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15)
    }

    /// Section 2.1.
    @inline(__always)
    private static func quarterRound(_ a: inout UInt32, _ b: inout UInt32, _ c: inout UInt32, _ d: inout UInt32) {
        a &+= b
        d = rotated(d ^ a, by: 16)
        c &+= d
        b = rotated(b ^ c, by: 12)
        a &+= b
        d = rotated(d ^ a, by: 8)
        c &+= d
        b = rotated(b ^ c, by: 7)
    }

    @inline(__always)
    private static func rotated(_ word: UInt32, by count: UInt32) -> UInt32 { word &<< count | word &>> (32 - count) }
}
