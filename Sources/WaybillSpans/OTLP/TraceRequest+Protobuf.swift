import Foundation
package import WaybillCore

/// The field numbers are those of opentelemetry/proto: collector/trace/v1/trace_service.proto,
/// trace/v1/trace.proto, resource/v1/resource.proto, common/v1/common.proto.
extension TraceRequest {
    /// Only counts spans beyond `limit`.
    package static func decode(protobuf bytes: [UInt8], limit: Int) throws(SetDecodingFailure) -> TraceRequest {
        var request = TraceRequest()
        do throws(ProtobufReader.Failure) {
            var reader = ProtobufReader(bytes[...])
            while let field = try reader.nextField() {
                if field.number == 1 { try request.readResourceSpans(try field.slice(), limit) }
            }
        } catch {
            throw SetDecodingFailure(
                kind: .malformed, pointer: "",
                message: "not Protocol Buffers, or not whole, at byte \(error.offset)")
        }
        return request
    }

    private mutating func readResourceSpans(_ message: ArraySlice<UInt8>, _ limit: Int) throws(ProtobufReader.Failure) {
        var resource = ReceivedResource()
        var attributes = SpanAttributes()
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1:
                var inner = ProtobufReader(try field.slice())
                while let field = try inner.nextField() {
                    if field.number == 1 { try field.add(to: &attributes) }
                }
            case 2:
                var inner = ProtobufReader(try field.slice())
                var scope = SpanFields.Scope()
                let first = resource.spans.count
                while let field = try inner.nextField() {
                    switch field.number {
                    case 1: scope = try SpanFields.Scope(try field.slice())
                    case 2: add(try SpanFields(try field.slice()), to: &resource, limit: limit)
                    default: break
                    }
                }
                resource.setScope(scope, ofSpansFrom: first)
            default: break
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
            case 1: trace = Array(try field.slice().prefix(17))
            case 2: id = Array(try field.slice().prefix(9))
            case 3: traceState = try field.text()
            case 4: parent = Array(try field.slice().prefix(9))
            case 5: name = try field.text()
            case 6: kind = Int(truncatingIfNeeded: try field.integer())
            case 7: startNanoseconds = try field.integer()
            case 8: endNanoseconds = try field.integer()
            case 9: try field.add(to: &attributes)
            case 10: attributes.droppedCount += try field.count()
            case 11: add(try Event(try field.slice()))
            case 12: droppedEventCount += try field.count()
            case 13: add(try Link(try field.slice()))
            case 14: droppedLinkCount += try field.count()
            case 15: try readStatus(try field.slice())
            case 16: flags = try field.count()
            default: break
            }
        }
    }

    private mutating func readStatus(_ message: ArraySlice<UInt8>) throws(ProtobufReader.Failure) {
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 2: statusMessage = try field.text()
            case 3: statusCode = Int(truncatingIfNeeded: try field.integer())
            default: break
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
            case 1: nanoseconds = try field.integer()
            case 2: name = try field.text()
            case 3: try field.add(to: &attributes)
            case 4: attributes.droppedCount += try field.count()
            default: break
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
            case 1: trace = Array(try field.slice().prefix(17))
            case 2: span = Array(try field.slice().prefix(9))
            case 3: traceState = try field.text()
            case 4: try field.add(to: &attributes)
            case 5: attributes.droppedCount += try field.count()
            case 6: flags = try field.count()
            default: break
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
            case 1: name = try field.text()
            case 2: version = try field.text()
            case 3: try field.add(to: &attributes)
            case 4: attributes.droppedCount += try field.count()
            default: break
            }
        }
    }
}

extension ProtobufReader.Field {
    fileprivate func count() throws(ProtobufReader.Failure) -> Int { Int(UInt32(truncatingIfNeeded: try integer())) }

    fileprivate func add(to attributes: inout SpanAttributes) throws(ProtobufReader.Failure) {
        attributes.add(try Self.keyValue(try slice(), depth: 0))
    }

    private static func keyValue(
        _ message: ArraySlice<UInt8>, depth: Int
    ) throws(ProtobufReader.Failure) -> SpanAttribute {
        var attribute = SpanAttribute(name: "", value: .none)
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1: attribute.name = try field.text()
            case 2: attribute.value = try Self.value(try field.slice(), depth: depth)
            default: break
            }
        }
        return attribute
    }

    private static func value(_ message: ArraySlice<UInt8>, depth: Int) throws(ProtobufReader.Failure) -> SpanValue {
        guard depth < SpanValue.depthLimit else { return .none }
        var value = SpanValue.none
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1: value = .scalar(.string(try field.text()))
            case 2: value = .scalar(.bool(try field.integer() != 0))
            case 3: value = .scalar(.integer(Int(truncatingIfNeeded: try field.integer())))
            case 4: value = .scalar(.double(Double(bitPattern: try field.integer())))
            case 5:
                var (list, inner): ([SpanValue], ProtobufReader) = ([], ProtobufReader(try field.slice()))
                while let field = try inner.nextField() {
                    guard field.number == 1, list.count < SpanValue.limit else { continue }
                    list.append(try Self.value(try field.slice(), depth: depth + 1))
                }
                value = .list(list)
            case 6:
                var members: [SpanAttribute] = []
                var inner = ProtobufReader(try field.slice())
                while let field = try inner.nextField() {
                    guard field.number == 1, members.count < SpanValue.limit else { continue }
                    members.append(try keyValue(try field.slice(), depth: depth + 1))
                }
                value = .map(members)
            case 7: value = .bytes(Data(try field.slice()).base64EncodedString())
            default: break
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

    struct Field {
        enum Value { case integer(UInt64), slice(ArraySlice<UInt8>) }

        let number: Int
        fileprivate let offset: Int
        fileprivate let value: Value

        func integer() throws(Failure) -> UInt64 {
            guard case .integer(let integer) = value else { throw Failure(offset: offset) }
            return integer
        }

        /// A value after its length: bytes, a text, or a message.
        func slice() throws(Failure) -> ArraySlice<UInt8> {
            guard case .slice(let slice) = value else { throw Failure(offset: offset) }
            return slice
        }

        /// Invalid UTF-8 is replaced.
        func text() throws(Failure) -> String { String(decoding: try slice(), as: UTF8.self) }
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
