public import Foundation

/// The 128-bit ID of a transaction, a source, an installation or a set: a UUIDv7 (RFC 9562, section 5.7).
///
/// Sorting by bytes sorts by the millisecond of creation. Written in lower case; read in either case. `GUID(uuid)` and
/// `UUID(guid)` convert it.
///
/// One type for all four, as JSON and SQL have one form for them: a type for each would have to be converted wherever a
/// fact, a row or a header field is read, and the names of parameters already say which is meant.
public struct GUID: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Makes a new ID from the system's wall clock and its random source.
    public init() {
        self = GUIDGenerator.shared.next(millisecondsSince1970: SystemClock().wallMicroseconds() / 1000)
    }

    /// Reads the canonical form of 36 characters, `01890a5d-ac96-774b-bcce-b302099a8057`; nil for anything else.
    public init?(_ text: some StringProtocol) {
        var copy = String(text)
        guard let guid = copy.withUTF8({ GUID(utf8: $0) }) else { return nil }
        self = guid
    }

    /// Reads 36 bytes of text; nil unless they are hexadecimal digits with hyphens at 8, 13, 18 and 23.
    package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count == 36 else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for index in 0..<36 {
            let byte = bytes[index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let nibble = byte.hexadecimalValue else { return nil }
            if digits < 16 { words.0 = words.0 << 4 | UInt64(nibble) } else { words.1 = words.1 << 4 | UInt64(nibble) }
            digits += 1
        }
        self.init(high: words.0, low: words.1)
    }

    /// Reads 16 bytes, most significant first; nil for any other number of bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    /// Hands over the 16 bytes, most significant first.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { try body($0) }
    }

    /// The 36 bytes of the canonical form, handed to `append` one at a time.
    package func writeText(_ append: (UInt8) -> Void) {
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 { append(UInt8(ascii: "-")) }
            let word = index < 8 ? high : low
            let byte = UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * (index % 8)))
            append(Self.hexadecimalDigits[Int(byte >> 4)])
            append(Self.hexadecimalDigits[Int(byte & 15)])
        }
    }

    private static let hexadecimalDigits = Array("0123456789abcdef".utf8)

    /// The wall clock's milliseconds since 1970 that a UUIDv7 carries; meaningless for other versions.
    package var millisecondsSince1970: Int64 { Int64(high >> 16) }
}

extension GUID: CustomStringConvertible, LosslessStringConvertible {
    /// 36 characters, in small letters and with hyphens (RFC 9562, section 4).
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var count = 0
            writeText { byte in
                buffer[count] = byte
                count += 1
            }
            return count
        }
    }
}

extension GUID: Comparable {
    /// By the 16 bytes, as unsigned numbers.
    public static func < (left: GUID, right: GUID) -> Bool { (left.high, left.low) < (right.high, right.low) }
}

extension GUID: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let guid = GUID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "Not a UUID of 36 characters.")
        }
        self = guid
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension GUID {
    /// The same 128 bits; of any version.
    public init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) { bytes in GUID(bytes: bytes) } ?? GUID(high: 0, low: 0)
    }
}

extension UUID {
    /// The same 128 bits.
    public init(_ guid: GUID) {
        self = guid.withBytes { bytes in UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) }
    }
}

/// A short code for a transaction that people can read out over the telephone: `K7QD-3M2X`.
///
/// The last 40 bits of the GUID, which are random, in Crockford's base 32: no I, L, O or U; when read, `i` and `l`
/// count as 1 and `o` as 0. Two of a million transactions share a code with a chance of about one in three; a search by
/// code returns all that match.
public struct SupportCode: Hashable, Sendable, CustomStringConvertible {
    package let tail: UInt64

    /// The code of a transaction.
    public init(_ transaction: GUID) { tail = transaction.low & 0xFF_FFFF_FFFF }

    /// Reads eight characters of the alphabet, in either case, with or without the hyphen; nil for anything else.
    public init?(_ text: some StringProtocol) {
        var tail: UInt64 = 0
        var count = 0
        for scalar in text.uppercased().unicodeScalars where scalar != "-" && scalar != " " {
            let canonical: Unicode.Scalar =
                switch scalar {
                case "I", "L": "1"
                case "O": "0"
                default: scalar
                }
            guard let digit = Self.alphabet.firstIndex(of: canonical), count < 8 else { return nil }
            tail = tail << 5 | UInt64(digit)
            count += 1
        }
        guard count == 8 else { return nil }
        self.tail = tail
    }

    /// Two groups of four characters, in capitals: `K7QD-3M2X`.
    public var description: String {
        var text = ""
        for index in (0..<8).reversed() {
            text.unicodeScalars.append(Self.alphabet[Int(tail >> UInt64(5 * index) & 31)])
            if index == 4 { text += "-" }
        }
        return text
    }

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".unicodeScalars)
}

extension GUID {
    /// The short code that people can read out; see ``SupportCode``.
    public var supportCode: SupportCode { SupportCode(self) }
}

/// Makes UUIDv7 values from random bytes drawn in blocks: `UUID()` costs a system call for each.
final class GUIDGenerator: Sendable {
    static let shared = GUIDGenerator()

    private struct Block {
        /// Three for each ID.
        var words = [UInt32](repeating: 0, count: 768)
        var used = 768
        var generation = 0

        mutating func refill() {
            let key = randomKey()
            for start in stride(from: 0, to: words.count, by: 16) {
                let block = ChaCha8.block(key: key, counter: UInt32(start / 16))
                for index in 0..<16 { words[start + index] = block[index] }
            }
            used = 0
            generation = ProcessGeneration.current
        }
    }

    private let block = Locked(Block())

    /// The next ID for a wall-clock time in milliseconds since 1970.
    func next(millisecondsSince1970: Int64) -> GUID {
        let random: (UInt32, UInt32, UInt32) = block.withLock { block in
            // A forked child holds a copy of the block: used again, both processes would hand out the same IDs.
            if block.used == block.words.count || block.generation != ProcessGeneration.current { block.refill() }
            defer { block.used += 3 }
            return (block.words[block.used], block.words[block.used + 1], block.words[block.used + 2])
        }
        // RFC 9562, 5.7: 48 bits of milliseconds, version 7, 12 random bits, variant 0b10, 62 random bits.
        let milliseconds = UInt64(max(0, millisecondsSince1970)) & 0xFFFF_FFFF_FFFF
        return GUID(
            high: milliseconds << 16 | 0x7000 | UInt64(random.2 & 0x0FFF),
            low: 1 << 63 | UInt64(random.0 & 0x3FFF_FFFF) << 32 | UInt64(random.1))
    }
}

/// 32 bytes from the system.
private func randomKey() -> SIMD8<UInt32> {
    var key = SIMD8<UInt32>()
    #if canImport(Darwin)
    // It never fails; `getentropy` is not public there but on Macs, and the App Store refuses an app that calls it.
    arc4random_buf(&key, MemoryLayout.size(ofValue: key))
    #else
    if getentropy(&key, MemoryLayout.size(ofValue: key)) != 0 {
        // A kernel without it: slower, and never a reason to stop.
        var system = SystemRandomNumberGenerator()
        key = .random(in: .min ... .max, using: &system)
    }
    #endif
    return key
}

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
