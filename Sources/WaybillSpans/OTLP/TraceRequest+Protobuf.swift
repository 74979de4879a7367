import Foundation
package import WaybillCore

/// The field numbers are those of opentelemetry/proto: collector/trace/v1/trace_service.proto,
/// trace/v1/trace.proto, resource/v1/resource.proto, common/v1/common.proto.
extension TraceRequest {
    /// Only counts spans beyond `limit`.
    package static func decode(protobuf bytes: [UInt8], limit: Int) throws(SetDecodingFailure) -> TraceRequest {
        var request = TraceRequest()
        do throws(ProtobufReader.Failure) {
            try request.read(bytes[...], limit)
        } catch {
            throw SetDecodingFailure(
                kind: .malformed, pointer: "",
                message: "not Protocol Buffers, or not whole, at byte \(error.offset)")
        }
        return request
    }

    private mutating func read(_ message: ArraySlice<UInt8>, _ limit: Int) throws(ProtobufReader.Failure) {
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            guard field.number == 1 else {
                try reader.skip(field)
                continue
            }
            try readResourceSpans(try reader.slice(field), limit)
        }
    }

    private mutating func readResourceSpans(_ message: ArraySlice<UInt8>, _ limit: Int) throws(ProtobufReader.Failure) {
        var resource = ReceivedResource()
        var attributes = SpanAttributes()
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1:
                var inner = ProtobufReader(try reader.slice(field))
                while let field = try inner.nextField() {
                    if field.number == 1 {
                        try inner.attribute(field, &attributes)
                    } else {
                        try inner.skip(field)
                    }
                }
            case 2:
                var inner = ProtobufReader(try reader.slice(field))
                var scope = SpanFields.Scope()
                let first = resource.spans.count
                while let field = try inner.nextField() {
                    switch field.number {
                    case 1: scope = try SpanFields.Scope(try inner.slice(field))
                    case 2: add(try SpanFields(try inner.slice(field)), to: &resource, limit: limit)
                    default: try inner.skip(field)
                    }
                }
                resource.setScope(scope, ofSpansFrom: first)
            default: try reader.skip(field)
            }
        }
        resource.attributes = attributes.flat
        resources.append(resource)
    }
}

extension SpanFields {
    fileprivate init(_ message: ArraySlice<UInt8>) throws(ProtobufReader.Failure) {
        self.init()
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1: trace = Array(try reader.slice(field).prefix(17))
            case 2: id = Array(try reader.slice(field).prefix(9))
            case 3: traceState = try reader.text(field)
            case 4: parent = Array(try reader.slice(field).prefix(9))
            case 5: name = try reader.text(field)
            case 6: kind = Int(truncatingIfNeeded: try reader.number(field))
            case 7: startNanoseconds = try reader.number(field)
            case 8: endNanoseconds = try reader.number(field)
            case 9: try reader.attribute(field, &attributes)
            case 10: attributes.droppedCount = try reader.count(field)
            case 11: add(try Event(try reader.slice(field)))
            case 12: droppedEventCount = try reader.count(field)
            case 13: add(try Link(try reader.slice(field)))
            case 14: droppedLinkCount = try reader.count(field)
            case 15: try readStatus(try reader.slice(field))
            case 16: flags = try reader.count(field)
            default: try reader.skip(field)
            }
        }
    }

    private mutating func readStatus(_ message: ArraySlice<UInt8>) throws(ProtobufReader.Failure) {
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 2: statusMessage = try reader.text(field)
            case 3: statusCode = Int(truncatingIfNeeded: try reader.number(field))
            default: try reader.skip(field)
            }
        }
    }
}

extension SpanFields.Event {
    fileprivate init(_ message: ArraySlice<UInt8>) throws(ProtobufReader.Failure) {
        self.init()
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1: nanoseconds = try reader.number(field)
            case 2: name = try reader.text(field)
            case 3: try reader.attribute(field, &attributes)
            case 4: attributes.droppedCount = try reader.count(field)
            default: try reader.skip(field)
            }
        }
    }
}

extension SpanFields.Link {
    fileprivate init(_ message: ArraySlice<UInt8>) throws(ProtobufReader.Failure) {
        self.init()
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1: trace = Array(try reader.slice(field).prefix(17))
            case 2: span = Array(try reader.slice(field).prefix(9))
            case 3: traceState = try reader.text(field)
            case 4: try reader.attribute(field, &attributes)
            case 5: attributes.droppedCount = try reader.count(field)
            case 6: flags = try reader.count(field)
            default: try reader.skip(field)
            }
        }
    }
}

extension SpanFields.Scope {
    fileprivate init(_ message: ArraySlice<UInt8>) throws(ProtobufReader.Failure) {
        self.init()
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1: name = try reader.text(field)
            case 2: version = try reader.text(field)
            case 3: try reader.attribute(field, &attributes)
            case 4: attributes.droppedCount = try reader.count(field)
            default: try reader.skip(field)
            }
        }
    }
}

extension ProtobufReader {
    fileprivate mutating func count(_ field: Field) throws(Failure) -> Int {
        Int(UInt32(truncatingIfNeeded: try number(field)))
    }

    fileprivate mutating func attribute(_ field: Field, _ attributes: inout SpanAttributes) throws(Failure) {
        attributes.add(try Self.keyValue(try slice(field), depth: 0))
    }

    private static func keyValue(_ message: ArraySlice<UInt8>, depth: Int) throws(Failure) -> SpanAttribute {
        var attribute = SpanAttribute(name: "", value: .none)
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1: attribute.name = try reader.text(field)
            case 2: attribute.value = try Self.value(try reader.slice(field), depth: depth)
            default: try reader.skip(field)
            }
        }
        return attribute
    }

    private static func value(_ message: ArraySlice<UInt8>, depth: Int) throws(Failure) -> SpanValue {
        guard depth < SpanValue.depthLimit else { return .none }
        var value = SpanValue.none
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1: value = .scalar(.string(try reader.text(field)))
            case 2: value = .scalar(.bool(try reader.number(field) != 0))
            case 3: value = .scalar(.integer(Int(truncatingIfNeeded: try reader.number(field))))
            case 4: value = .scalar(.double(Double(bitPattern: try reader.number(field))))
            case 5:
                var (list, inner): ([SpanValue], ProtobufReader) = ([], ProtobufReader(try reader.slice(field)))
                while let field = try inner.nextField() {
                    guard field.number == 1, list.count < SpanValue.limit else {
                        try inner.skip(field)
                        continue
                    }
                    list.append(try Self.value(try inner.slice(field), depth: depth + 1))
                }
                value = .list(list)
            case 6:
                var members: [SpanAttribute] = []
                var inner = ProtobufReader(try reader.slice(field))
                while let field = try inner.nextField() {
                    guard field.number == 1, members.count < SpanValue.limit else {
                        try inner.skip(field)
                        continue
                    }
                    members.append(try keyValue(try inner.slice(field), depth: depth + 1))
                }
                value = .map(members)
            case 7: value = .bytes(Data(try reader.slice(field)).base64EncodedString())
            default: try reader.skip(field)
            }
        }
        return value
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

    /// The next field, whose value must be read or skipped; `nil` at the end of the message.
    mutating func nextField() throws(Failure) -> Field? {
        guard offset < bytes.endIndex else { return nil }
        let start = offset
        let key = try varint()
        // OTLP has no groups (3 and 4), which are of an earlier version.
        guard let type = WireType(rawValue: UInt8(key & 7)), let number = Int(exactly: key >> 3), number > 0 else {
            throw Failure(offset: start)
        }
        return Field(number: number, type: type)
    }

    /// Seven bits per byte, the lowest first.
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

    mutating func number(_ field: Field) throws(Failure) -> UInt64 {
        switch field.type {
        case .varint: return try varint()
        case .fixed64: return try fixed(8)
        case .fixed32: return try fixed(4)
        case .bytes: throw Failure(offset: offset)
        }
    }

    /// A value after its length: bytes, a text, or a message.
    mutating func slice(_ field: Field) throws(Failure) -> ArraySlice<UInt8> {
        guard field.type == .bytes else { throw Failure(offset: offset) }
        let start = offset
        guard let count = Int(exactly: try varint()), count <= bytes.endIndex - offset else {
            throw Failure(offset: start)
        }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    /// Invalid UTF-8 is replaced.
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
