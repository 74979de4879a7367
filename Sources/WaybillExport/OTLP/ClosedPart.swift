import WaybillCore

/// A part that has its outcome, with all that was recorded of it, redacted: what becomes spans.
struct ClosedPart {
    var source: RecordedSource
    var transaction: GUID
    var useCase: Int
    var useCaseName: String
    var opened: Fact
    var opening: Fact.Opened
    var closed: Fact
    var closing: Fact.Closed
    /// In order of sequence.
    var events: [Event] = []
    /// Those that have ended, in order of sequence.
    var exchanges: [Exchange] = []
    /// The part that began the transaction, where this one was joined without being told by which exchange; nil where that has not arrived.
    var beginner: Fact.ID?
    /// Its opening in microseconds since 1970.
    var openedMicroseconds: Int
    /// Whether the part itself is to become a span, rather than only exchanges that ended after it.
    var isWanted = true

    struct Event {
        var fact: Fact
        var content: Fact.Event
        var name: String
    }

    struct Exchange {
        var opened: Fact
        var opening: Fact.ExchangeOpened
        var closed: Fact
        var closing: Fact.ExchangeClosed
    }

    var id: Fact.ID { id(of: opened) }

    func id(of fact: Fact) -> Fact.ID { Fact.ID(source: source.id, sequence: fact.sequence) }

    /// When a fact happened, in microseconds since 1970: counted from the part's opening by the source's own clock, so that a wall clock that is
    /// set meanwhile makes no span longer, shorter or end before its start.
    func time(of fact: Fact) -> Int { openedMicroseconds + max(0, fact.atMicroseconds - opened.atMicroseconds) }
}
