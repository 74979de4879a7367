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
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1:
                var inner = ProtobufReader(try reader.slice(field))
                while let field = try inner.nextField() {
                    if field.number == 1 {
                        try inner.attribute(field, &resource.attributes)
                    } else {
                        try inner.skip(field)
                    }
                }
            case 2:
                var scope = ProtobufReader(try reader.slice(field))
                while let field = try scope.nextField() {
                    guard field.number == 2 else {
                        try scope.skip(field)
                        continue
                    }
                    add(try SpanFields(try scope.slice(field)), to: &resource, limit: limit)
                }
            default: try reader.skip(field)
            }
        }
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
            case 4: parent = Array(try reader.slice(field).prefix(9))
            case 5: name = try reader.text(field)
            case 6: kind = Int(truncatingIfNeeded: try reader.number(field))
            case 7: startNanoseconds = try reader.number(field)
            case 8: endNanoseconds = try reader.number(field)
            case 9: try reader.attribute(field, &attributes)
            case 11: add(try ReceivedSpan.Event(try reader.slice(field)))
            case 13: try readLink(try reader.slice(field))
            case 15: try readStatus(try reader.slice(field))
            case 16: flags = Int(truncatingIfNeeded: try reader.number(field))
            default: try reader.skip(field)
            }
        }
    }

    private mutating func readLink(_ message: ArraySlice<UInt8>) throws(ProtobufReader.Failure) {
        var (trace, span): ([UInt8], [UInt8]) = ([], [])
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1: trace = Array(try reader.slice(field).prefix(17))
            case 2: span = Array(try reader.slice(field).prefix(9))
            default: try reader.skip(field)
            }
        }
        addLink(trace: trace, span: span)
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

extension ReceivedSpan.Event {
    fileprivate init(_ message: ArraySlice<UInt8>) throws(ProtobufReader.Failure) {
        self.init()
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1: atMicroseconds = try reader.number(field).microseconds
            case 2: name = try reader.text(field)
            case 3: try reader.attribute(field, &attributes)
            default: try reader.skip(field)
            }
        }
    }
}

extension ProtobufReader {
    /// Adds one `KeyValue`.
    fileprivate mutating func attribute(_ field: Field, _ attributes: inout Attributes) throws(Failure) {
        let (name, value) = try Self.keyValue(try slice(field), depth: 0)
        SpanFields.add(value.attribute, named: name, to: &attributes)
    }

    private static func keyValue(_ message: ArraySlice<UInt8>, depth: Int) throws(Failure) -> (String, SpanValue) {
        var (name, value) = ("", SpanValue.none)
        var reader = ProtobufReader(message)
        while let field = try reader.nextField() {
            switch field.number {
            case 1: name = try reader.text(field)
            case 2: value = try Self.value(try reader.slice(field), depth: depth)
            default: try reader.skip(field)
            }
        }
        return (name, value)
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
                var members: [(name: String, value: SpanValue)] = []
                var inner = ProtobufReader(try reader.slice(field))
                while let field = try inner.nextField() {
                    guard field.number == 1, members.count < SpanValue.limit else {
                        try inner.skip(field)
                        continue
                    }
                    members.append(try keyValue(try inner.slice(field), depth: depth + 1))
                }
                value = .map(members)
            case 7: value = .bytes(try reader.slice(field))
            default: try reader.skip(field)
            }
        }
        return value
    }
}
