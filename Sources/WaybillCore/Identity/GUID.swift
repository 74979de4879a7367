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
