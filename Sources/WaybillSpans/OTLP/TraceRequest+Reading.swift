import WaybillCore

protocol MessageReader: SendableMetatype {
    associatedtype Failure: Error

    /// Passes on the fields with a case, which has their number in Protocol Buffers and their name in JSON.
    mutating func fields<Field: CodingKey>(
        _ body: (Field, inout Self) throws(Failure) -> Void
    ) throws(Failure)
    /// Passes on the values of a repeated field.
    mutating func elements(_ body: (inout Self) throws(Failure) -> Void) throws(Failure)
    mutating func skip() throws(Failure)

    mutating func span() throws(Failure) -> Result<ReceivedSpan, SpanFault>
    mutating func text() throws(Failure) -> String
    mutating func id() throws(Failure) -> [UInt8]
    mutating func base64() throws(Failure) -> String
    mutating func bool() throws(Failure) -> Bool
    mutating func integer() throws(Failure) -> AttributeValue
    mutating func double() throws(Failure) -> AttributeValue
    mutating func nanoseconds() throws(Failure) -> UInt64
    mutating func count32() throws(Failure) -> Int
    /// The names in trace.proto are by number.
    mutating func enumeration(_ names: [String]) throws(Failure) -> Int
}

/// The field numbers are those of opentelemetry/proto: collector/trace/v1/trace_service.proto,
/// trace/v1/trace.proto, resource/v1/resource.proto, common/v1/common.proto.
extension TraceRequest {
    private enum Field: Int, CodingKey { case resourceSpans = 1 }
    private enum ResourceSpans: Int, CodingKey { case resource = 1, scopeSpans }
    private enum Resource: Int, CodingKey { case attributes = 1 }
    private enum ScopeSpans: Int, CodingKey { case scope = 1, spans }

    init<Reader: MessageReader>(_ reader: inout Reader, limit: Int) throws(Reader.Failure) {
        self.init()
        try reader.fields { (_: Field, reader) throws(Reader.Failure) in
            try reader.elements { reader throws(Reader.Failure) in try readResourceSpans(&reader, limit) }
        }
    }

    private mutating func readResourceSpans<Reader: MessageReader>(
        _ reader: inout Reader, _ limit: Int
    ) throws(Reader.Failure) {
        var resource = ReceivedResource()
        var attributes = SpanAttributes()
        try reader.fields { (field: ResourceSpans, reader) throws(Reader.Failure) in
            switch field {
            case .resource:
                try reader.fields { (_: Resource, reader) throws(Reader.Failure) in try attributes.read(&reader) }
            case .scopeSpans:
                try reader.elements { reader throws(Reader.Failure) in
                    try readScopeSpans(&reader, to: &resource, limit)
                }
            }
        }
        resource.attributes = attributes.flat
        resources.append(resource)
    }

    private mutating func readScopeSpans<Reader: MessageReader>(
        _ reader: inout Reader, to resource: inout ReceivedResource, _ limit: Int
    ) throws(Reader.Failure) {
        var scope = ReceivedSpan.Scope()
        let first = resource.spans.count
        try reader.fields { (field: ScopeSpans, reader) throws(Reader.Failure) in
            switch field {
            case .scope: scope = try ReceivedSpan.Scope(&reader)
            case .spans:
                try reader.elements { reader throws(Reader.Failure) in
                    add(try reader.span(), to: &resource, limit: limit)
                }
            }
        }
        // A request may contain the scope after its spans.
        for index in resource.spans.indices.dropFirst(first) { resource.spans[index].scope = scope }
    }
}

extension ReceivedSpan {
    private enum Field: Int, CodingKey {
        case traceId = 1, spanId, traceState, parentSpanId, name, kind, startTimeUnixNano, endTimeUnixNano, attributes
        case droppedAttributesCount, events, droppedEventsCount, links, droppedLinksCount, status, flags
    }
    private enum Status: Int, CodingKey { case message = 2, code }

    private static let kinds = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"].map {
        "SPAN_KIND_\($0)"
    }
    private static let statusCodes = ["UNSET", "OK", "ERROR"].map { "STATUS_CODE_\($0)" }

    /// Fails for a span without its IDs or its start.
    static func read<Reader: MessageReader>(
        _ reader: inout Reader
    ) throws(Reader.Failure) -> Result<ReceivedSpan, SpanFault> {
        var (transaction, id): (GUID?, SpanID?)
        let nothing = FactID(source: GUID(high: 0, low: 0), sequence: 0)
        var span = ReceivedSpan(transaction: nothing.source, id: SpanID(nothing))
        try reader.fields { (field: Field, reader) throws(Reader.Failure) in
            switch field {
            case .traceId: transaction = GUID(traceID: try reader.id())
            case .spanId: id = SpanID(bytes: try reader.id())
            case .traceState: span.traceState = try reader.text()
            case .parentSpanId: span.parent = SpanID(bytes: try reader.id())
            case .name: span.name = try reader.text()
            case .kind: span.kindNumber = try reader.enumeration(Self.kinds)
            case .startTimeUnixNano: span.startNanoseconds = try reader.nanoseconds()
            case .endTimeUnixNano: span.endNanoseconds = try reader.nanoseconds()
            case .attributes: try span.attributes.read(&reader)
            case .droppedAttributesCount: span.attributes.droppedCount += try reader.count32()
            case .events: try reader.elements { reader throws(Reader.Failure) in span.add(try Event(&reader)) }
            case .droppedEventsCount: span.droppedEventCount += try reader.count32()
            case .links: try reader.elements { reader throws(Reader.Failure) in span.add(try Link(&reader)) }
            case .droppedLinksCount: span.droppedLinkCount += try reader.count32()
            case .status:
                try reader.fields { (field: Status, reader) throws(Reader.Failure) in
                    switch field {
                    case .message: span.statusMessage = try reader.text()
                    case .code: span.statusCode = try reader.enumeration(Self.statusCodes)
                    }
                }
            case .flags: span.flags = try reader.count32()
            }
        }
        func fault(_ reason: String) -> Result<ReceivedSpan, SpanFault> {
            .failure(SpanFault(reason: reason, eventCount: span.events.count))
        }
        guard let transaction else { return fault("no trace ID of 16 bytes") }
        guard let id else { return fault("no span ID of 8 bytes") }
        guard (1...Limits.largestInteger).contains(span.startMicroseconds) else { return fault("no start time") }
        (span.transaction, span.id) = (transaction, id)
        return .success(span)
    }
}

extension ReceivedSpan.Event {
    private enum Field: Int, CodingKey { case timeUnixNano = 1, name, attributes, droppedAttributesCount }

    fileprivate init<Reader: MessageReader>(_ reader: inout Reader) throws(Reader.Failure) {
        self.init()
        try reader.fields { (field: Field, reader) throws(Reader.Failure) in
            switch field {
            case .timeUnixNano: nanoseconds = try reader.nanoseconds()
            case .name: name = try reader.text()
            case .attributes: try attributes.read(&reader)
            case .droppedAttributesCount: attributes.droppedCount += try reader.count32()
            }
        }
    }
}

extension ReceivedSpan.Link {
    private enum Field: Int, CodingKey {
        case traceId = 1, spanId, traceState, attributes, droppedAttributesCount, flags
    }

    fileprivate init<Reader: MessageReader>(_ reader: inout Reader) throws(Reader.Failure) {
        self.init()
        try reader.fields { (field: Field, reader) throws(Reader.Failure) in
            switch field {
            case .traceId: trace = GUID(traceID: try reader.id())
            case .spanId: span = SpanID(bytes: try reader.id())
            case .traceState: traceState = try reader.text()
            case .attributes: try attributes.read(&reader)
            case .droppedAttributesCount: attributes.droppedCount += try reader.count32()
            case .flags: flags = try reader.count32()
            }
        }
    }
}

extension ReceivedSpan.Scope {
    private enum Field: Int, CodingKey { case name = 1, version, attributes, droppedAttributesCount }

    fileprivate init<Reader: MessageReader>(_ reader: inout Reader) throws(Reader.Failure) {
        self.init()
        try reader.fields { (field: Field, reader) throws(Reader.Failure) in
            switch field {
            case .name: name = try reader.text()
            case .version: version = try reader.text()
            case .attributes: try attributes.read(&reader)
            case .droppedAttributesCount: attributes.droppedCount += try reader.count32()
            }
        }
    }
}

extension SpanAttributes {
    fileprivate mutating func read<Reader: MessageReader>(_ reader: inout Reader) throws(Reader.Failure) {
        try reader.elements { reader throws(Reader.Failure) in add(try SpanAttribute(&reader, depth: 0)) }
    }
}

extension SpanAttribute {
    private enum Field: Int, CodingKey { case key = 1, value }

    fileprivate init<Reader: MessageReader>(_ reader: inout Reader, depth: Int) throws(Reader.Failure) {
        self.init(name: "", value: .none)
        try reader.fields { (field: Field, reader) throws(Reader.Failure) in
            switch field {
            case .key: name = try reader.text()
            case .value: value = try SpanValue(&reader, depth: depth)
            }
        }
    }
}

extension SpanValue {
    private enum Field: Int, CodingKey {
        case stringValue = 1, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue
    }
    private enum List: Int, CodingKey { case values = 1 }

    fileprivate init<Reader: MessageReader>(_ reader: inout Reader, depth: Int) throws(Reader.Failure) {
        self = .none
        guard depth < Self.depthLimit else {
            try reader.skip()
            return
        }
        try reader.fields { (field: Field, reader) throws(Reader.Failure) in
            switch field {
            case .stringValue: self = .scalar(.string(try reader.text()))
            case .boolValue: self = .scalar(.bool(try reader.bool()))
            case .intValue: self = .scalar(try reader.integer())
            case .doubleValue: self = .scalar(try reader.double())
            case .arrayValue: self = .list(try Self.values(&reader, depth, SpanValue.init))
            case .kvlistValue: self = .map(try Self.values(&reader, depth, SpanAttribute.init))
            case .bytesValue: self = .bytes(try reader.base64())
            }
        }
    }

    private static func values<Reader: MessageReader, Value>(
        _ reader: inout Reader, _ depth: Int, _ value: (inout Reader, Int) throws(Reader.Failure) -> Value
    ) throws(Reader.Failure) -> [Value] {
        var values: [Value] = []
        try reader.fields { (_: List, reader) throws(Reader.Failure) in
            try reader.elements { reader throws(Reader.Failure) in
                guard values.count < limit else { return try reader.skip() }
                values.append(try value(&reader, depth + 1))
            }
        }
        return values
    }
}
