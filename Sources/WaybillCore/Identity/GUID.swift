public import Foundation

/// The 128-bit ID of a transaction, a source, an installation or a set: a UUIDv7 (RFC 9562, section 5.7).
///
/// IDs sort by their millisecond of creation. They are written in lowercase and read in either case.
public struct GUID: Hashable, Sendable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates a new ID from the wall clock and the system's random source.
    public init() {
        self = GUIDGenerator.shared.next(millisecondsSince1970: SystemClock().wallMicroseconds() / 1000)
    }

    /// Parses the canonical form of 36 characters, `01890a5d-ac96-774b-bcce-b302099a8057`; `nil` for other text.
    public init?(_ text: some StringProtocol) {
        var copy = String(text)
        guard let guid = copy.withUTF8({ GUID(utf8: $0) }) else { return nil }
        self = guid
    }

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

    /// An ID made of a hash: a UUIDv8 (RFC 9562, section 5.8).
    init(_ digest: [UInt8], number: Int) {
        let words = digest.prefix(16).reduce((high: UInt64(0), low: UInt64(0))) { words, byte in
            (words.high << 8 | words.low >> 56, words.low << 8 | UInt64(byte))
        }
        self.init(
            high: words.high & ~0xF000 | 0x8000,
            low: (words.low ^ UInt64(truncatingIfNeeded: number)) & ~(3 << 62) | 2 << 62)
    }

    /// Reads 16 bytes, most significant first; nil for any other number of bytes.
    package init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { try body($0) }
    }

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

    package var millisecondsSince1970: Int64 { Int64(high >> 16) }
}

extension GUID: CustomStringConvertible, LosslessStringConvertible {
    /// 36 characters, in lowercase with hyphens (RFC 9562, section 4).
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
    /// Compares the 16 bytes as unsigned numbers.
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

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension GUID {
    /// Creates an ID with the same 128 bits. The UUID can have any version.
    public init(_ uuid: UUID) {
        self = withUnsafeBytes(of: uuid.uuid) { bytes in GUID(bytes: bytes) } ?? GUID(high: 0, low: 0)
    }
}

extension UUID {
    /// Creates a UUID with the same 128 bits.
    public init(_ guid: GUID) {
        self = guid.withBytes { bytes in UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) }
    }
}

/// A short code for a transaction that is easy to read aloud: `K7QD-3M2X`.
///
/// The code is the last 40 bits of the GUID, which are random, in Crockford's base 32. It has no I, L, O or U; the
/// parser reads `i` and `l` as 1 and `o` as 0. Among a million transactions, the chance of a shared code is about one
/// in three. A search by code returns all matches.
public struct SupportCode: Hashable, Sendable, CustomStringConvertible {
    package let tail: UInt64

    /// Creates the code of a transaction.
    public init(_ transaction: GUID) { tail = transaction.low & 0xFF_FFFF_FFFF }

    /// Parses eight characters of the alphabet, ignoring case, spaces and hyphens; `nil` for other text.
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

    /// Two groups of four characters, in uppercase: `K7QD-3M2X`.
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
    /// The short code for reading aloud; see ``SupportCode``.
    public var supportCode: SupportCode { SupportCode(self) }
}

/// Creates UUIDv7 values from blocks of random bytes, because `UUID()` makes a system call for each.
final class GUIDGenerator: Sendable {
    static let shared = GUIDGenerator()

    private struct Block {
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

    func next(millisecondsSince1970: Int64) -> GUID {
        let random: (UInt32, UInt32, UInt32) = block.withLock { block in
            // A forked child has a copy of the block, and would create its parent's IDs.
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

private func randomKey() -> SIMD8<UInt32> {
    var key = SIMD8<UInt32>()
    #if canImport(Darwin)
    // `arc4random_buf` never fails. `getentropy` is public on Macs only, and the App Store rejects its callers.
    arc4random_buf(&key, MemoryLayout.size(ofValue: key))
    #else
    if getentropy(&key, MemoryLayout.size(ofValue: key)) != 0 {
        // Kernels without `getentropy` use a slower source.
        var system = SystemRandomNumberGenerator()
        key = .random(in: .min ... .max, using: &system)
    }
    #endif
    return key
}

/// A random generator from ChaCha8 (RFC 8439), like Go's. The system's bytes cost several times as much.
enum ChaCha8 {
    /// Section 2.3: 16 words of the stream.
    static func block(key: SIMD8<UInt32>, counter: UInt32, rounds: Int = 8) -> SIMD16<UInt32> {
        // "expand 32-byte k", the key, the counter, and a nonce of zeros.
        let start = SIMD16(
            lowHalf: SIMD8(lowHalf: SIMD4(0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574), highHalf: key.lowHalf),
            highHalf: SIMD8(lowHalf: key.highHalf, highHalf: SIMD4(counter, 0, 0, 0)))
        // Scalars, because the compiler splits vectors for lack of a vector rotation, which is twice as slow.
        var (x0, x1, x2, x3) = (start[0], start[1], start[2], start[3])
        var (x4, x5, x6, x7) = (start[4], start[5], start[6], start[7])
        var (x8, x9, x10, x11) = (start[8], start[9], start[10], start[11])
        var (x12, x13, x14, x15) = (start[12], start[13], start[14], start[15])
        for _ in 0..<(rounds / 2) {
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
