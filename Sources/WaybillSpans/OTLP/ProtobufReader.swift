/// Reads the wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/) field by field, without
/// building a tree and without a schema.
///
/// Written here rather than generated: of OTLP some forty fields are of use, each with a limit of its own, and every
/// field that is not is passed over.
struct ProtobufReader {
    private let bytes: ArraySlice<UInt8>
    private var offset: Int

    /// What is read is none of it, or is cut off.
    struct Failure: Error {
        /// In the whole message.
        var offset: Int
    }

    enum WireType: UInt8 {
        case varint = 0
        case fixed64 = 1
        case bytes = 2
        case fixed32 = 5
    }

    struct Field {
        var number: Int
        var type: WireType
    }

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        offset = bytes.startIndex
    }

    /// The next field, whose value must be read or skipped; nil at the end of the message.
    mutating func nextField() throws(Failure) -> Field? {
        guard offset < bytes.endIndex else { return nil }
        let start = offset
        let key = try varint()
        // Groups (3 and 4) are of an earlier version, and OTLP has none.
        guard let type = WireType(rawValue: UInt8(key & 7)), let number = Int(exactly: key >> 3), number > 0 else {
            throw Failure(offset: start)
        }
        return Field(number: number, type: type)
    }

    /// Seven bits a byte, the lowest first.
    mutating func varint() throws(Failure) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard offset < bytes.endIndex else { throw Failure(offset: offset) }
            let byte = bytes[offset]
            offset += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw Failure(offset: offset)
    }

    /// A number of any type, as 64 bits.
    mutating func number(_ field: Field) throws(Failure) -> UInt64 {
        switch field.type {
        case .varint: return try varint()
        case .fixed64: return try fixed(8)
        case .fixed32: return try fixed(4)
        case .bytes: throw Failure(offset: offset)
        }
    }

    /// What a length stands before: bytes, a text, a message.
    mutating func slice(_ field: Field) throws(Failure) -> ArraySlice<UInt8> {
        guard field.type == .bytes else { throw Failure(offset: offset) }
        let start = offset
        guard let count = Int(exactly: try varint()), count <= bytes.endIndex - offset else {
            throw Failure(offset: start)
        }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    /// A text; what is no UTF-8 in it is replaced.
    mutating func text(_ field: Field) throws(Failure) -> String {
        String(decoding: try slice(field), as: UTF8.self)
    }

    mutating func skip(_ field: Field) throws(Failure) {
        switch field.type {
        case .varint: _ = try varint()
        case .fixed64: _ = try fixed(8)
        case .fixed32: _ = try fixed(4)
        case .bytes: _ = try slice(field)
        }
    }

    private mutating func fixed(_ count: Int) throws(Failure) -> UInt64 {
        guard bytes.endIndex - offset >= count else { throw Failure(offset: offset) }
        var value: UInt64 = 0
        for index in (0..<count).reversed() { value = value << 8 | UInt64(bytes[offset + index]) }
        offset += count
        return value
    }
}
