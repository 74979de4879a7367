import WaybillCore

extension Span {
    /// A part as a span: its events are the span's, its outcome is the status.
    ///
    /// A joined part is the child of the exchange that caused it; where none was told, of the span that its request named,
    /// else of the part that began the transaction. One that began a transaction below another is the child of the part that it was begun in.
    init(_ part: ClosedPart) {
        let (start, closing) = (part.openedMicroseconds, part.closed.content)
        self.init(
            trace: part.root, id: SpanID(part.id), traceState: part.traceState, parent: Self.parent(of: part),
            name: part.useCaseName,
            kind: .internal,
            startMicroseconds: start, endMicroseconds: max(start, part.time(of: part.closed)),
            attributes: part.opened.content.attributes.merging(closing.attributes) { $1 })
        attributes["waybill.use_case"] = .integer(part.useCase)
        if part.root != part.transaction { attributes["waybill.transaction"] = .string(part.transaction.description) }
        attributes["waybill.outcome"] = .string(closing.outcome.name)
        attributes["waybill.sequence"] = .integer(part.opened.sequence)
        if let sampling = part.opened.content.sampling {
            attributes["waybill.sample_ppm"] = .integer(sampling.perMillion)
            if !sampling.isChosen { attributes["waybill.sample_kept"] = true }
        }
        attributes.add(closing.error)
        switch closing.outcome {
        case .succeeded: status = .ok
        case .failed: status = .error
        default: status = nil
        }
        statusMessage = status == .error ? closing.error?.text : nil
        events = part.events.filter { part.spans[$0.entry.sequence] == nil }.map { Event($0, in: part) }
        if let original = part.original {
            take(original)
            if let exchange = part.exchanges.first(where: part.isOwn) {
                attributes.merge(Span(exchange, of: part).attributes) { own, _ in own }
            }
        }
        if let traceParent = part.opened.content.traceParent, traceParent.parent != parent?.id {
            links = [Link(traceParent)]
        }
    }

    private static func parent(of part: ClosedPart) -> Parent? {
        guard part.opened.content.isJoined else {
            return part.parent.map { Parent(id: SpanID($0), isRemote: $0.source != part.source.id) }
        }
        // Joined by W3C Trace Context alone: by a span that is not ours.
        if part.opened.content.cause == nil, let told = part.opened.content.traceParent, told.trace == part.root {
            return Parent(id: told.parent, isRemote: true)
        }
        return (part.opened.content.cause ?? part.beginner).map { Parent(id: SpanID($0), isRemote: true) }
    }
}

extension Fact.Opened {
    /// What the request that it was joined by said of its trace; nil where that was nothing new.
    fileprivate var traceParent: TraceParent? {
        guard isJoined, case .string(let text)? = attributes[TraceParent.fieldName] else { return nil }
        return TraceParent(parsing: text)
    }
}

extension Span.Event {
    fileprivate init(_ event: ClosedPart.Event, in part: ClosedPart) {
        let (entry, content) = (event.entry, event.entry.content)
        self.init(name: event.name, timeMicroseconds: part.time(of: entry), attributes: content.attributes)
        attributes["waybill.event"] = .integer(content.code)
        attributes["waybill.sequence"] = .integer(entry.sequence)
        if entry.sequence > part.closed.sequence { attributes["waybill.late"] = true }
        attributes.add(content.error)
    }
}
