import WaybillCore

/// A span as it came, for the exports: facts keep what Waybill understands of it.
extension SpanFields {
    /// The bytes of attributes, events and links that are kept of a span, at most.
    static let keptByteLimit = 32 << 10
    /// Exceptions are kept without their stack, which has paths and values of the service.
    private static let stack = "exception.stacktrace"

    /// The span as an object of OTLP's JSON, redacted and within the limits. It has no IDs, which have columns of their
    /// own, and it has its scope.
    ///
    /// Whatever there is no room for is counted where OTLP counts what a sender has left out.
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
        writer.json.member("kind", kind)
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
            writer.json.member("traceId", GUID(traceID: link.trace)?.traceID)
            writer.json.member("spanId", SpanID(bytes: link.span)?.description)
            writer.json.member("traceState", writer.text(link.traceState))
            if link.flags != 0 { writer.json.member("flags", link.flags) }
            writer.write(link.attributes)
        }
        writer.json.endObject()
        return writer.json.bytes
    }
}

/// Writes a span's parts as long as there is room for them.
private struct KeptSpanWriter {
    var json = JSONWriter()
    private let redactor: Redactor
    /// Bytes that the elements of lists may still take.
    private var room: Int

    init(redactor: Redactor, room: Int) { (self.redactor, self.room) = (redactor, room) }

    func text(_ text: String) -> String {
        let redacted = redactor.text(text)
        return redacted.cut(to: Limits.textLength) ?? redacted
    }

    /// Writes a list, and how many elements it lacks.
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

    /// Writes attributes, but for one name.
    mutating func write(_ attributes: SpanAttributes, without name: String? = nil) {
        let list = attributes.list.filter { $0.name != name }
        let dropped = attributes.droppedCount + attributes.list.count - list.count
        write("attributes", list, dropped: dropped, "droppedAttributesCount") { attribute, writer in
            writer.json.member("key", attribute.name.cut(to: Limits.nameLength) ?? attribute.name)
            writer.json.key("value")
            writer.write(attribute.value, named: attribute.name)
        }
    }

    /// Writes an `AnyValue`, which goes by the name that it stands under.
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
            json.string(redacted.cut(to: Limits.fieldLength) ?? redacted)
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

    /// Writes a text of a type of its own, or what is left of it as a string.
    private mutating func write(_ text: String, as type: StaticString, named name: String) {
        let redacted = redactor.value(text, named: name)
        json.key(redacted == text ? type : "stringValue")
        json.string(redacted)
    }
}

extension Redactor {
    /// The value of a span's attribute. A URL, or a part of one, is redacted as that.
    fileprivate func spanText(_ text: String, named name: String) -> String {
        switch name {
        case "url.full", "http.url", "http.target": wholeURL(text)
        case "url.path": path(text)
        case "url.query": form(text)
        default: value(text, named: name)
        }
    }
}

/// What became of the spans of a request.
package struct SpanVerdict: Hashable, Sendable {
    /// Spans that were new and taken.
    package var acceptedCount = 0
    /// Spans that had been received before.
    package var knownCount = 0
    /// Spans that were refused, by reason.
    package var refusals: [String: Int] = [:]
    /// Facts that were made of those that were taken, and of earlier ones that had waited for them.
    package var factCount = 0

    package init() {}

    /// Spans that were refused, for any reason.
    package var refusedCount: Int { refusals.values.reduce(0, +) }

    mutating func refuse(_ count: Int = 1, because reason: String) { refusals[reason, default: 0] += count }

    /// The reasons in one sentence, the most frequent first; nil where nothing was refused.
    package var message: String? {
        guard refusedCount > 0 else { return nil }
        let reasons = refusals.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.value) span\($0.value == 1 ? "" : "s"): \($0.key)" }
        return reasons.joined(separator: "; ") + "."
    }
}

/// `ExportTraceServiceResponse` of opentelemetry/proto/collector/trace/v1/trace_service.proto: empty where all spans were
/// taken, else how many were not, and why.
extension SpanVerdict {
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        if refusedCount > 0 {
            writer.key("partialSuccess")
            writer.beginObject()
            // An integer of 64 bits is a string.
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
