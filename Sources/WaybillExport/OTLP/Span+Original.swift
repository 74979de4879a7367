import WaybillCore
import WaybillStore

extension Span {
    /// A span that came by OTLP and has become an event goes out as the span that it was.
    init(_ event: ClosedPart.Event, as original: SpanRows.Span, of part: ClosedPart) {
        let (start, content) = (part.time(of: event.entry), event.entry.content)
        var (attributes, duration) = (content.attributes, Int64(0))
        if case .integer(let microseconds) = attributes["duration_us"] { duration = microseconds }
        attributes["duration_us"] = nil
        self.init(
            trace: part.root, id: original.id, traceState: part.traceState, name: event.name, kind: .internal,
            startMicroseconds: start, endMicroseconds: start + max(0, duration), attributes: attributes)
        self.attributes["waybill.event"] = .integer(content.code)
        self.attributes["waybill.sequence"] = .integer(event.entry.sequence)
        self.attributes.add(content.error)
        if content.error != nil {
            status = .error
            statusMessage = content.error?.text
        }
        take(original)
    }

    /// Goes by the IDs and the kind under which it came, and by all that was kept of it.
    mutating func take(_ original: SpanRows.Span) {
        id = original.id
        parent = original.parent.map { Parent(id: $0, isRemote: original.part == original.fact) }
        kind = Kind(rawValue: original.kind) ?? kind
        self.original = original.original.flatMap { OriginalSpan($0) }
    }
}
