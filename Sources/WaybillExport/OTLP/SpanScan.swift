import WaybillCore
import WaybillQueries
import WaybillStore

/// Reads new spans since the beginning of an export's scope: closed parts and their ended exchanges, each once.
///
/// A span is exported if all its facts have arrived, and at least one is in the scope.
struct SpanScan {
    private let selection: ExportSelection
    private let connection: Connection
    private let redactor: Redactor
    private let parts: Statement
    private let names: NameTable
    private let spans: SpanRows
    private var clocks: ClockOffsets
    private var share = 0
    private var nextPart = Int64.min

    init(
        _ selection: ExportSelection, redactor: Redactor, _ connection: Connection,
        alignment: @escaping (GUID) throws(WaybillError) -> ClockAlignment?
    ) throws(WaybillError) {
        clocks = ClockOffsets(alignment: alignment)
        self.selection = selection
        self.connection = connection
        self.redactor = redactor
        parts = try connection.statement(selection.isFiltered ? FactScan.chosenParts : FactScan.allParts)
        names = NameTable(connection)
        spans = SpanRows(connection)
    }

    /// Passes spans to the writer until it is full; returns false after the last span.
    mutating func run(_ writer: inout SpanWriter) throws(WaybillError) -> Bool {
        while share < selection.shares.count {
            if let source = try ScannedSource(selection.shares[share], connection) {
                let newcomers = try newcomers(of: source)
                let window = source.share.window
                try parts.forRows(
                    source.share.row, nextPart, window.upperBound, window.lowerBound,
                    while: { (row) throws(WaybillError) in
                        let part = FactScan.part(row)
                        nextPart = part.sequence + 1
                        if var part = try closedPart(part, of: source, without: newcomers) {
                            part.clockOffset = try clocks.offset(of: part)
                            writer.write(redactor.redacted(part))
                        }
                        return !writer.isFull
                    })
                if writer.isFull { return true }
            }
            share += 1
            nextPart = .min
        }
        return false
    }

    /// Returns the facts that arrived after the export began, which belong to the next one.
    private func newcomers(of source: ScannedSource) throws(WaybillError) -> SequenceRanges {
        if let recorded = selection.cursor.recorded[source.source.id] {
            return SequenceRanges([(recorded + 1)...Int64.max - 1])
        }
        return try ArrivedRanges(connection: connection).ranges(behind: selection.cursor, of: source.share.row)[
            source.share.row] ?? SequenceRanges()
    }

    /// Returns a part with its exportable exchanges; `nil` if there is nothing to export.
    private func closedPart(
        _ scanned: ScannedPart, of source: ScannedSource, without newcomers: SequenceRanges
    ) throws(WaybillError) -> ClosedPart? {
        guard scanned.opened != nil, scanned.closed != nil else { return nil }
        let facts = try PartFacts(connection: connection).facts(of: scanned.sequence, in: source.share.row)
            .filter { !newcomers.contains($0.sequence) }
        guard var part = try closedPart(of: facts, scanned, of: source) else { return nil }
        part.isWanted = source.includes(part.opened) || source.includes(part.closed)
        if source.isReceived { part.spans = try spans.spans(of: scanned.sequence, in: source.share.row) }
        if !part.isWanted {
            part.exchanges.removeAll { !source.includes($0.opened) && !source.includes($0.closed) }
            part.events.removeAll { part.spans[$0.entry.sequence] == nil || !source.includes($0.entry) }
        }
        return part.isWanted || !part.exchanges.isEmpty || !part.events.isEmpty ? part : nil
    }

    /// Returns `nil` if the part is open, or if its transaction's ID is not a valid trace ID.
    private func closedPart(
        of facts: [Fact], _ scanned: ScannedPart, of source: ScannedSource
    ) throws(WaybillError) -> ClosedPart? {
        var attributesSet: [Fact.AttributesSet] = []
        var (opened, closed): (ClosedPart.Entry<Fact.Opened>?, ClosedPart.Entry<Fact.Closed>?)
        var events: [ClosedPart.Entry<Fact.Event>] = []
        var openings: [ClosedPart.Entry<Fact.ExchangeOpened>] = []
        var closings: [Int64: ClosedPart.Entry<Fact.ExchangeClosed>] = [:]
        for fact in facts {
            switch fact.content {
            case .opened(let content): opened = .init(fact, content)
            case .closed(let content): closed = .init(fact, content)
            case .attributesSet(let content): attributesSet.append(content)
            case .unknown: break
            case .event(let content): events.append(.init(fact, content))
            case .exchangeOpened(let content): openings.append(.init(fact, content))
            case .exchangeClosed(let content): closings[content.exchange] = .init(fact, content)
            }
        }
        guard var opened, let closed, opened.content.transaction.traceID != nil else { return nil }
        // The span has the attributes at its end.
        for content in attributesSet { opened.content.attributes.apply(content) }
        let (transaction, useCase) = (opened.content.transaction, opened.content.useCase)
        var part = ClosedPart(
            source: source.source, transaction: transaction, root: try root(of: opened.content),
            parent: try parent(of: opened.content, in: source.source.id), useCase: useCase,
            useCaseName: scanned.useCaseName ?? "use case \(useCase)", opened: opened, closed: closed,
            isReceived: source.isReceived, openedMicroseconds: source.clock.wall(opened.atMicroseconds))
        for event in events {
            let name = try names.event(
                event.content.code, of: useCase, source: source.source.id, app: source.source.app,
                version: source.source.appVersion)
            part.events.append(ClosedPart.Event(entry: event, name: name))
        }
        part.exchanges = openings.compactMap { opened in
            closings[opened.sequence].map { .init(opened: opened, closed: $0) }
        }
        if opened.content.isJoined, opened.content.cause == nil { part.beginner = try beginner(of: transaction) }
        return part
    }

    /// Returns the part named as parent, or else the part that began the parent transaction.
    private func parent(of opened: Fact.Opened, in source: GUID) throws(WaybillError) -> FactID? {
        guard !opened.isJoined, let parent = opened.parent else { return nil }
        if let part = opened.parentPart { return FactID(source: source, sequence: part) }
        return try beginner(of: parent)
    }

    /// Returns the topmost transaction; the part's own transaction if there is no parent, or a cycle.
    private func root(of opened: Fact.Opened) throws(WaybillError) -> GUID {
        guard opened.isJoined || opened.parent != nil else { return opened.transaction }
        var root = opened.isJoined ? opened.transaction : opened.parent
        for _ in 0...ParentWalk.limit {
            guard let known = root, known.traceID != nil else { break }
            let above = try connection.statement(
                "SELECT p.parent FROM parts p WHERE p.guid = ? AND p.listed_us IS NOT NULL"
            ).first(known) { row in row.optionalGUID(0) }
            guard let above = above ?? nil else { return known }
            root = above
        }
        return opened.transaction
    }

    private func beginner(of transaction: GUID) throws(WaybillError) -> FactID? {
        try connection.statement(
            """
            SELECT s.uuid, p.sequence FROM parts p JOIN sources s ON s.id = p.source \
            WHERE p.guid = ? AND p.listed_us IS NOT NULL AND NOT p.joined
            """
        ).first(transaction) { row in FactID(source: row.guid(0), sequence: row.int(1)) }
    }
}

/// The clock offsets of sources relative to their callers, cached because an estimate per part would dominate an
/// export.
private struct ClockOffsets {
    private struct Key: Hashable {
        var source: GUID
        var caller: GUID
        var period: Int64
    }

    private static let periodMicroseconds: Int64 = 600_000_000
    private static let limit = 10_000

    private let alignment: (GUID) throws(WaybillError) -> ClockAlignment?
    private var known: [Key: ClockAlignment.Offset?] = [:]

    init(alignment: @escaping (GUID) throws(WaybillError) -> ClockAlignment?) { self.alignment = alignment }

    mutating func offset(of part: ClosedPart) throws(WaybillError) -> ClockAlignment.Offset? {
        guard let caller = part.opened.content.cause?.source, caller != part.source.id else { return nil }
        let key = Key(
            source: part.source.id, caller: caller, period: part.openedMicroseconds / Self.periodMicroseconds)
        if let offset = known[key] { return offset }
        let offset = try alignment(part.transaction)?[part.source.id]
        if known.count >= Self.limit { known = [:] }
        known[key] = .some(offset)
        return offset
    }
}

extension ScannedSource {
    fileprivate func includes<Content>(_ entry: ClosedPart.Entry<Content>) -> Bool {
        includes(entry.sequence, at: entry.atMicroseconds)
    }
}

/// A closed part with its facts, which becomes spans after redaction.
struct ClosedPart {
    var source: SourceIdentity
    var transaction: GUID
    /// The topmost known ancestor, which identifies the trace.
    var root: GUID
    /// `nil` for roots and joined parts, and if the parent has not arrived.
    var parent: FactID?
    var useCase: Int
    var useCaseName: String
    var opened: Entry<Fact.Opened>
    var closed: Entry<Fact.Closed>
    var events: [Event] = []
    var exchanges: [Exchange] = []
    /// The beginner's part, if this one joined without a known exchange; `nil` if it has not arrived.
    var beginner: FactID?
    /// Whether the source is remote. Sampling may have dropped other transactions of its use case.
    var isReceived = false
    var openedMicroseconds: Int64
    /// The spans received by OTLP, by their first fact. They are exported unchanged, with their IDs.
    var spans: [Int64: SpanRows.Span] = [:]
    /// The offset to the clock of the transaction's leading part; `nil` for that part, and if unknown.
    var clockOffset: ClockAlignment.Offset?
    /// Whether the part itself becomes a span, and not only exchanges that ended later.
    var isWanted = true

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

    var id: FactID { id(of: opened) }

    var original: SpanRows.Span? { spans[opened.sequence] }

    /// Whether the part's own span includes the exchange, because both were received as one span.
    func isOwn(_ exchange: Exchange) -> Bool { original != nil && spans[exchange.opened.sequence] == nil }

    var traceState: String? {
        guard isReceived else { return nil }
        return opened.content.sampling?.traceState(
            root: root, outcome: closed.content.outcome,
            tookMicroseconds: closed.atMicroseconds - opened.atMicroseconds)
    }

    func id<Content>(of entry: Entry<Content>) -> FactID { FactID(source: source.id, sequence: entry.sequence) }

    /// Counts monotonic time from the opening, because the wall clock may be changed in between.
    func time<Content>(of entry: Entry<Content>) -> Int64 {
        openedMicroseconds + max(0, entry.atMicroseconds - opened.atMicroseconds)
    }
}

extension ClosedPart: Redactable {
    mutating func redact(by redactor: Redactor) {
        source.redact(by: redactor)
        useCaseName.redact(by: redactor)
        opened.redact(by: redactor)
        closed.redact(by: redactor)
        events.redact(by: redactor)
        exchanges.redact(by: redactor)
        spans = spans.mapValues { span in
            var span = span
            span.original = span.original.flatMap { OriginalSpan.redacting($0, by: redactor) }
            return span
        }
    }
}

extension ClosedPart.Entry: Redactable {
    mutating func redact(by redactor: Redactor) { content.redact(by: redactor) }
}

extension ClosedPart.Event: Redactable {
    mutating func redact(by redactor: Redactor) {
        entry.redact(by: redactor)
        name.redact(by: redactor)
    }
}

extension ClosedPart.Exchange: Redactable {
    mutating func redact(by redactor: Redactor) {
        opened.redact(by: redactor)
        closed.redact(by: redactor)
    }
}
