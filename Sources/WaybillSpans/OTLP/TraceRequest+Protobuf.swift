import Foundation
package import WaybillCore

/// The numbers of the fields are those of opentelemetry/proto: collector/trace/v1/trace_service.proto,
/// trace/v1/trace.proto, resource/v1/resource.proto, common/v1/common.proto.
extension TraceRequest {
    /// Reads a request in Protocol Buffers.
    ///
    /// - Parameter limit: Spans and events of spans; of those beyond only the number is told.
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
    /// A number of 32 bits.
    fileprivate mutating func count(_ field: Field) throws(Failure) -> Int {
        Int(UInt32(truncatingIfNeeded: try number(field)))
    }

    /// Adds one `KeyValue`.
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
