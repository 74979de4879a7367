import WaybillCore
import WaybillReading
import WaybillStore

/// A part that has its outcome, with all that was recorded of it: what becomes spans, once it is redacted.
struct ClosedPart {
    var source: RecordedSource
    var transaction: GUID
    /// The topmost transaction above it, as far as they name each other: all below that are one trace.
    var root: GUID
    /// The part below which it was begun; nil where it stands by itself, was joined, or that has not arrived.
    var parent: Fact.ID?
    var useCase: Int
    var useCaseName: String
    var opened: Entry<Fact.Opened>
    var closed: Entry<Fact.Closed>
    /// In order of sequence.
    var events: [Event] = []
    /// Those that have ended, in order of sequence.
    var exchanges: [Exchange] = []
    /// The part that began the transaction, where this one was joined without being told by which exchange; nil where
    /// that has not arrived.
    var beginner: Fact.ID?
    /// Whether others of its use case may have been kept from coming here: they were, if any, where it was recorded
    /// elsewhere.
    var isReceived = false
    /// Its opening in microseconds since 1970.
    var openedMicroseconds: Int64
    /// The spans that came by OTLP, by the first of their facts. They go out as they came, under their own IDs.
    var spans: [Int64: SpanRows.Span] = [:]
    /// What is to be added to the times of its source to get those of the transaction's leading part; `nil` for that part,
    /// and if it is not known.
    var clockOffset: ClockAlignment.Offset?
    /// Whether the part itself is to become a span, rather than only exchanges that ended after it.
    var isWanted = true

    /// A fact of one kind.
    struct Entry<Content: Redactable> {
        var sequence: Int64
        var atMicroseconds: Int64
        var content: Content

        init(_ fact: Fact, _ content: Content) {
            (sequence, atMicroseconds, self.content) = (fact.sequence, fact.atMicroseconds, content)
        }
    }

    struct Event {
        var entry: Entry<Fact.Event>
        var name: String
    }

    struct Exchange {
        var opened: Entry<Fact.ExchangeOpened>
        var closed: Entry<Fact.ExchangeClosed>
    }

    var id: Fact.ID { id(of: opened) }

    /// The span that the part came as; nil: it was recorded as a part.
    var original: SpanRows.Span? { spans[opened.sequence] }

    /// Whether an exchange is told by the part's own span: it came as one span.
    func isOwn(_ exchange: Exchange) -> Bool { original != nil && spans[exchange.opened.sequence] == nil }

    /// What its spans say of sampling; nil: nothing.
    var traceState: String? {
        guard isReceived else { return nil }
        return opened.content.sampling?.traceState(
            root: root, outcome: closed.content.outcome,
            tookMicroseconds: closed.atMicroseconds - opened.atMicroseconds)
    }

    func id<Content>(of entry: Entry<Content>) -> Fact.ID { Fact.ID(source: source.id, sequence: entry.sequence) }

    /// When a fact happened, in microseconds since 1970: counted from the part's opening by the source's own clock, so
    /// that a wall clock that is set meanwhile makes no span longer, shorter or end before its start.
    func time<Content>(of entry: Entry<Content>) -> Int64 {
        openedMicroseconds + max(0, entry.atMicroseconds - opened.atMicroseconds)
    }
}

extension ClosedPart: Redactable {
    func redacted(by redactor: Redactor) -> ClosedPart {
        var part = self
        part.source = source.redacted(by: redactor)
        part.useCaseName = useCaseName.redacted(by: redactor)
        part.opened = opened.redacted(by: redactor)
        part.closed = closed.redacted(by: redactor)
        part.events = events.redacted(by: redactor)
        part.exchanges = exchanges.redacted(by: redactor)
        part.spans = spans.mapValues { span in
            var span = span
            span.original = span.original.flatMap { OriginalSpan.redacting($0, by: redactor) }
            return span
        }
        return part
    }
}

extension ClosedPart.Entry: Redactable {
    func redacted(by redactor: Redactor) -> Self {
        var entry = self
        entry.content = content.redacted(by: redactor)
        return entry
    }
}

extension ClosedPart.Event: Redactable {
    func redacted(by redactor: Redactor) -> Self {
        Self(entry: entry.redacted(by: redactor), name: name.redacted(by: redactor))
    }
}

extension ClosedPart.Exchange: Redactable {
    func redacted(by redactor: Redactor) -> Self {
        Self(opened: opened.redacted(by: redactor), closed: closed.redacted(by: redactor))
    }
}
