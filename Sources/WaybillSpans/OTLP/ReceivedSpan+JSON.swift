import WaybillCore

/// The form of spans that is kept for exports, because facts contain only what Waybill understands.
extension ReceivedSpan {
    /// The maximum bytes of a span's attributes, events and links.
    static let keptByteLimit = 32 << 10
    /// Stacks are not kept, because they contain paths and values of the service.
    private static let stack = "exception.stacktrace"

    /// The span in OTLP's JSON, redacted, with its scope, and without its IDs, which are in columns.
    /// The counts of dropped items include data beyond the limits.
    func json(redactedBy redactor: Redactor) -> [UInt8] {
        var writer = KeptSpanWriter(redactor: redactor, room: Self.keptByteLimit)
        writer.json.beginObject()
        if scope != Scope() {
            writer.json.key("scope")
            writer.json.beginObject()
            writer.json.member("name", redactor.label(scope.name))
            writer.json.member("version", redactor.label(scope.version))
            writer.write(scope.attributes)
            writer.json.endObject()
        }
        writer.json.member("traceState", writer.text(traceState))
        if flags != 0 { writer.json.member("flags", flags) }
        writer.json.member("name", name.isEmpty ? "unnamed" : redactor.label(name))
        writer.json.member("kind", kindNumber)
        writer.json.member("startTimeUnixNano", "\(startNanoseconds)")
        writer.json.member("endTimeUnixNano", "\(max(startNanoseconds, endNanoseconds))")
        if statusCode != 0 || !statusMessage.isEmpty {
            writer.json.key("status")
            writer.json.beginObject()
            if statusCode != 0 { writer.json.member("code", statusCode) }
            writer.json.member("message", writer.text(statusMessage))
            writer.json.endObject()
        }
        writer.write(attributes)
        writer.write("events", events, dropped: droppedEventCount, "droppedEventsCount") { event, writer in
            writer.json.member("timeUnixNano", "\(event.nanoseconds)")
            writer.json.member("name", redactor.label(event.name))
            writer.write(event.attributes, without: Self.stack)
        }
        writer.write("links", links, dropped: droppedLinkCount, "droppedLinksCount") { link, writer in
            writer.json.member("traceId", link.trace?.traceID)
            writer.json.member("spanId", link.span?.description)
            writer.json.member("traceState", writer.text(link.traceState))
            if link.flags != 0 { writer.json.member("flags", link.flags) }
            writer.write(link.attributes)
        }
        writer.json.endObject()
        return writer.json.bytes
    }
}

private struct KeptSpanWriter {
    var json = JSONWriter()
    private let redactor: Redactor
    private var room: Int

    init(redactor: Redactor, room: Int) { (self.redactor, self.room) = (redactor, room) }

    func text(_ text: String) -> String { redactor.text(text).cut(to: Limits.textLength) }

    mutating func write<Element>(
        _ name: StaticString, _ elements: [Element], dropped: Int, _ droppedName: StaticString,
        _ body: (Element, inout KeptSpanWriter) -> Void
    ) {
        var (kept, droppedCount) = ([[UInt8]](), dropped)
        for element in elements {
            var inner = KeptSpanWriter(redactor: redactor, room: room)
            inner.json.beginObject()
            body(element, &inner)
            inner.json.endObject()
            if inner.json.bytes.count <= room {
                room -= inner.json.bytes.count
                kept.append(inner.json.bytes)
            } else {
                droppedCount += 1
            }
        }
        if !kept.isEmpty {
            json.key(name)
            json.beginArray()
            for bytes in kept { json.members(bytes) }
            json.endArray()
        }
        if droppedCount > 0 { json.member(droppedName, Int(UInt32(clamping: droppedCount))) }
    }

    mutating func write(_ attributes: SpanAttributes, without name: String? = nil) {
        let list = attributes.list.filter { $0.name != name }
        let dropped = attributes.droppedCount + attributes.list.count - list.count
        write("attributes", list, dropped: dropped, "droppedAttributesCount") { attribute, writer in
            writer.json.member("key", attribute.name.cut(to: Limits.nameLength))
            writer.json.key("value")
            writer.write(attribute.value, named: attribute.name)
        }
    }

    private mutating func write(_ value: SpanValue, named name: String) {
        json.beginObject()
        switch value {
        case .none: break
        case .scalar(.bool(let value)):
            json.key("boolValue")
            json.bool(value)
        case .scalar(.integer(let value)): write("\(value)", as: "intValue", named: name)
        case .scalar(.double(let value)):
            let text = "\(value)"
            if redactor.value(text, named: name) != text {
                json.member("stringValue", Redactor.placeholder)
            } else {
                json.key("doubleValue")
                json.protobufDouble(value)
            }
        case .scalar(.string(let text)):
            json.key("stringValue")
            let redacted = redactor.spanText(text, named: name)
            json.string(redacted.cut(to: Limits.fieldLength))
        case .bytes(let base64): write(base64, as: "bytesValue", named: name)
        case .list(let values):
            json.key("arrayValue")
            json.beginObject()
            json.key("values")
            json.beginArray()
            for value in values { write(value, named: name) }
            json.endArray()
            json.endObject()
        case .map(let members):
            json.key("kvlistValue")
            json.beginObject()
            json.key("values")
            json.beginArray()
            for member in members {
                json.beginObject()
                json.member("key", member.name)
                json.key("value")
                write(member.value, named: redactor.isSensitive(name) ? name : member.name)
                json.endObject()
            }
            json.endArray()
            json.endObject()
        }
        json.endObject()
    }

    /// Writes a text as its type, or as a string if it is redacted.
    private mutating func write(_ text: String, as type: StaticString, named name: String) {
        let redacted = redactor.value(text, named: name)
        json.key(redacted == text ? type : "stringValue")
        json.string(redacted)
    }
}

extension Redactor {
    /// Redacts an attribute of a span. URLs and their parts have special rules.
    fileprivate func spanText(_ text: String, named name: String) -> String {
        switch name {
        case "url.full", "http.url", "http.target": wholeURL(text)
        case "url.path": path(text)
        case "url.query": form(text)
        default: value(text, named: name)
        }
    }
}

package struct SpanVerdict: Hashable, Sendable {
    package var acceptedCount = 0
    /// Spans that were received before.
    package var knownCount = 0
    package var refusals: [String: Int] = [:]
    /// Facts from accepted spans, and from earlier ones that waited for them.
    package var factCount = 0

    package var refusedCount: Int { refusals.values.reduce(0, +) }

    mutating func refuse(_ count: Int = 1, because reason: String) { refusals[reason, default: 0] += count }

    /// The reasons, the most frequent first; `nil` if all spans were accepted.
    package var message: String? {
        guard refusedCount > 0 else { return nil }
        let reasons = refusals.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value) span\($0.value == 1 ? "" : "s"): \($0.key)" }
        return reasons.joined(separator: "; ") + "."
    }
}

/// `ExportTraceServiceResponse` of opentelemetry/proto/collector/trace/v1/trace_service.proto.
extension SpanVerdict {
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if refusedCount > 0 {
            writer.key("partialSuccess")
            writer.beginObject()
            // OTLP's JSON has integers of 64 bits as strings.
            writer.member("rejectedSpans", "\(refusedCount)")
            writer.member("errorMessage", message)
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }

    package var protobuf: [UInt8] {
        guard refusedCount > 0 else { return [] }
        let partial = ProtobufWriter.integer(refusedCount, field: 1) + ProtobufWriter.text(message ?? "", field: 2)
        return ProtobufWriter.bytes(partial, field: 1)
    }
}
