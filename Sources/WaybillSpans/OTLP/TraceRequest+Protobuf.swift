import Foundation
package import WaybillCore

extension TraceRequest {
    /// Only counts spans beyond `limit`.
    package static func decode(protobuf bytes: [UInt8], limit: Int) throws(SetDecodingFailure) -> TraceRequest {
        do throws(ProtobufReader.Failure) {
            var message = ProtobufReader.Field(number: 0, offset: 0, value: .slice(bytes[...]))
            return try TraceRequest(&message, limit: limit)
        } catch {
            throw SetDecodingFailure(
                kind: .malformed, pointer: "",
                message: "not Protocol Buffers, or not whole, at byte \(error.offset)")
        }
    }
}

/// Reads the wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/) field by field.
struct ProtobufReader {
    private let bytes: ArraySlice<UInt8>
    private var offset: Int

    /// The message is invalid or truncated.
    struct Failure: Error {
        var offset: Int
    }

    struct Field {
        enum Value { case integer(UInt64), slice(ArraySlice<UInt8>) }

        let number: Int
        let offset: Int
        let value: Value
    }

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        offset = bytes.startIndex
    }

    /// The next field; `nil` at the end of the message.
    mutating func nextField() throws(Failure) -> Field? {
        guard offset < bytes.endIndex else { return nil }
        let start = offset
        let key = try varint()
        guard let number = Int(exactly: key >> 3), number > 0 else { throw Failure(offset: start) }
        let place = offset
        let value: Field.Value =
            switch key & 7 {
            case 0: .integer(try varint())
            case 1: .integer(try fixed(8))
            case 2: .slice(try slice())
            case 5: .integer(try fixed(4))
            // OTLP has no groups (3 and 4), which are of an earlier version.
            default: throw Failure(offset: start)
            }
        return Field(number: number, offset: place, value: value)
    }

    /// Seven bits per byte, the lowest first.
    private mutating func varint() throws(Failure) -> UInt64 {
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

    private mutating func slice() throws(Failure) -> ArraySlice<UInt8> {
        let start = offset
        guard let count = Int(exactly: try varint()), count <= bytes.endIndex - offset else {
            throw Failure(offset: start)
        }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    private mutating func fixed(_ count: Int) throws(Failure) -> UInt64 {
        guard bytes.endIndex - offset >= count else { throw Failure(offset: offset) }
        var value: UInt64 = 0
        for index in (0..<count).reversed() { value = value << 8 | UInt64(bytes[offset + index]) }
        offset += count
        return value
    }
}

extension ProtobufReader.Field: MessageReader {
    typealias Failure = ProtobufReader.Failure

    func fields<Field: CodingKey>(_ body: (Field, inout Self) throws(Failure) -> Void) throws(Failure) {
        var reader = ProtobufReader(try slice())
        while var value = try reader.nextField() {
            if let field = Field(intValue: value.number) { try body(field, &value) }
        }
    }

    mutating func elements(_ body: (inout Self) throws(Failure) -> Void) throws(Failure) { try body(&self) }

    func skip() {}

    mutating func span() throws(Failure) -> Result<ReceivedSpan, SpanFault> { try ReceivedSpan.read(&self) }

    /// A value after its length: bytes, a text, or a message.
    private func slice() throws(Failure) -> ArraySlice<UInt8> {
        guard case .slice(let slice) = value else { throw Failure(offset: offset) }
        return slice
    }

    private func bits() throws(Failure) -> UInt64 {
        guard case .integer(let integer) = value else { throw Failure(offset: offset) }
        return integer
    }

    /// Invalid UTF-8 is replaced.
    func text() throws(Failure) -> String { String(decoding: try slice(), as: UTF8.self) }

    func id() throws(Failure) -> [UInt8] { Array(try slice().prefix(17)) }

    func base64() throws(Failure) -> String { Data(try slice()).base64EncodedString() }

    func bool() throws(Failure) -> Bool { try bits() != 0 }

    func integer() throws(Failure) -> AttributeValue { .integer(Int64(bitPattern: try bits())) }

    func double() throws(Failure) -> AttributeValue { .double(Double(bitPattern: try bits())) }

    func nanoseconds() throws(Failure) -> UInt64 { try bits() }

    func count32() throws(Failure) -> Int { Int(UInt32(truncatingIfNeeded: try bits())) }

    func enumeration(_ names: [String]) throws(Failure) -> Int { Int(truncatingIfNeeded: try bits()) }
}

/// Writes fields of Protocol Buffers (https://protobuf.dev/programming-guides/encoding).
package enum ProtobufWriter {
    package static func integer(_ value: Int, field: Int) -> [UInt8] { varint(field << 3) + varint(value) }

    package static func text(_ text: String, field: Int) -> [UInt8] { bytes(Array(text.utf8), field: field) }

    package static func bytes(_ bytes: [UInt8], field: Int) -> [UInt8] {
        varint(field << 3 | 2) + varint(bytes.count) + bytes
    }

    private static func varint(_ value: Int) -> [UInt8] {
        var (bytes, rest): ([UInt8], Int) = ([], value)
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}
