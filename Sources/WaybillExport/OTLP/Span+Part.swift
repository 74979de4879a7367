import WaybillCore

extension Span {
    /// A part as a span: its events are the span's, its outcome is the status.
    ///
    /// A joined part is the child of the exchange that caused it; where none was told, of the part that began the transaction.
    init(_ part: ClosedPart) {
        let start = part.openedMicroseconds
        self.init(
            trace: part.transaction, id: SpanID(part.id), parent: Self.parent(of: part), name: part.useCaseName, kind: .internal,
            startMicroseconds: start, endMicroseconds: max(start, part.time(of: part.closed)),
            attributes: part.opening.attributes.merging(part.closing.attributes) { $1 })
        attributes["waybill.use_case"] = .integer(part.useCase)
        attributes["waybill.outcome"] = .string(part.closing.outcome.name)
        attributes["waybill.sequence"] = .integer(part.opened.sequence)
        attributes.add(part.closing.error)
        switch part.closing.outcome {
        case .succeeded: status = .ok
        case .failed: status = .error
        default: status = nil
        }
        statusMessage = status == .error ? part.closing.error?.text : nil
        events = part.events.map { Event($0, in: part) }
    }

    private static func parent(of part: ClosedPart) -> Parent? {
        guard part.opening.isJoined else { return nil }
        return (part.opening.cause ?? part.beginner).map { Parent(id: SpanID($0), isRemote: true) }
    }
}

extension Span.Event {
    fileprivate init(_ event: ClosedPart.Event, in part: ClosedPart) {
        self.init(name: event.name, timeMicroseconds: part.time(of: event.fact), attributes: event.content.attributes)
        attributes["waybill.event"] = .integer(event.content.code)
        attributes["waybill.sequence"] = .integer(event.fact.sequence)
        if event.fact.sequence > part.closed.sequence { attributes["waybill.late"] = true }
        attributes.add(event.content.error)
    }
}
