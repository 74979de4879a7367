import WaybillCore
import WaybillQueries
import WaybillStore

/// Reads new spans since the beginning of an export's scope: closed parts and their ended exchanges, each once.
///
/// A span is exported if all its facts have arrived, and at least one is in the scope.
struct SpanScan: PieceReader {
    private let selection: ExportSelection
    private let reader: StoreReader
    private let redactor: Redactor
    private let parts: Statement
    private let names: NameTable
    private let spans: SpanRows
    private var clocks: ClockOffsets
    private var writer = SpanWriter(limit: TextExport.pieceByteCount)
    private var share = 0
    private var nextPart = Int64.min

    init(_ selection: ExportSelection, redactor: Redactor, _ reader: StoreReader) throws(WaybillError) {
        clocks = ClockOffsets(alignment: reader.clockAlignment)
        self.selection = selection
        self.redactor = redactor
        self.reader = reader
        parts = try reader.connection.statement(selection.isFiltered ? FactScan.chosenParts : FactScan.allParts)
        names = NameTable(reader.connection)
        spans = SpanRows(reader.connection)
    }

    var factCount: Int { writer.factCount }

    mutating func read(meanwhile: (() -> Void)?) throws(WaybillError) -> [[UInt8]] {
        meanwhile?()
        try fillWriter()
        let line = writer.takeLine()
        return line.isEmpty ? [] : [line]
    }

    private mutating func fillWriter() throws(WaybillError) {
        while share < selection.shares.count {
            if let source = try ScannedSource(selection.shares[share], reader.connection) {
                let newcomers = try newcomers(of: source)
                let window = source.share.window
                try parts.forRows(
                    source.share.row, nextPart, window.upperBound, window.lowerBound,
                    while: { (row) throws(WaybillError) in
                        let part = FactScan.part(row)
                        nextPart = part.sequence + 1
                        if var part = try closedPart(part, of: source, without: newcomers) {
                            part.clockOffset = try clocks.offset(of: part)
                            writer.write(part)
                        }
                        return !writer.isFull
                    })
                if writer.isFull { return }
            }
            share += 1
            nextPart = .min
        }
    }

    /// Returns the facts that arrived after the export began, which belong to the next one.
    private func newcomers(of source: ScannedSource) throws(WaybillError) -> SequenceRanges {
        if let recorded = selection.cursor.recorded[source.source.id] {
            return SequenceRanges([(recorded + 1)...Int64.max - 1])
        }
        return try ArrivedRanges(connection: reader.connection).ranges(behind: selection.cursor, of: source.share.row)[
            source.share.row] ?? SequenceRanges()
    }

    /// Returns a part with its exportable exchanges; `nil` if there is nothing to export.
    private func closedPart(
        _ scanned: ScannedPart, of source: ScannedSource, without newcomers: SequenceRanges
    ) throws(WaybillError) -> ClosedPart? {
        guard scanned.opened != nil, scanned.closed != nil else { return nil }
        let facts = try PartFacts.all(of: scanned.sequence, in: source.share.row, reader.connection)
            .filter { !newcomers.contains($0.sequence) }
        guard var part = ClosedPart(redactor.redacted(facts), of: redactor.redacted(source.source), source.clock)
        else { return nil }
        if source.isReceived {
            part.isReceived = true
            part.spans = try spans.spans(of: scanned.sequence, in: source.share.row)
                .mapValues { OriginalSpan($0, redactedBy: redactor) }
        }
        part.isWanted = source.includes(part.opened) || source.includes(part.closed)
        if !part.isWanted {
            part.exchanges.removeAll { !source.includes($0.opened) && !source.includes($0.closed) }
            part.events.removeAll { part.spans[$0.entry.sequence] == nil || !source.includes($0.entry) }
            guard !part.exchanges.isEmpty || !part.events.isEmpty else { return nil }
        }
        let (opened, source) = (part.opened.content, source.source)
        part.root = try root(of: opened)
        part.parent = try parent(of: opened, in: source.id)
        if opened.isJoined, opened.cause == nil { part.beginner = try beginner(of: opened.transaction) }
        part.useCaseName = redactor.redacted(scanned.useCaseName ?? "use case \(opened.useCase)").value
        for index in part.events.indices {
            let name = try names.event(
                part.events[index].entry.content.code, of: opened.useCase, source: source.id, app: source.app,
                version: source.appVersion)
            part.events[index].name = redactor.redacted(name).value
        }
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
            guard let above = try reader.leader(of: known)?.parent else { return known }
            root = above
        }
        return opened.transaction
    }

    private func beginner(of transaction: GUID) throws(WaybillError) -> FactID? {
        try reader.leader(of: transaction).flatMap { $0.isJoined ? nil : $0.id }
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

/// A closed part, which becomes spans. Everything in it is redacted.
struct ClosedPart {
    var source: SourceIdentity
    /// The topmost known ancestor, which identifies the trace.
    var root: GUID
    /// `nil` for roots and joined parts, and if the parent has not arrived.
    var parent: FactID?
    var useCaseName = ""
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
    var spans: [Int64: OriginalSpan] = [:]
    /// The offset to the clock of the transaction's leading part; `nil` for that part, and if unknown.
    var clockOffset: ClockAlignment.Offset?
    /// Whether the part itself becomes a span, and not only exchanges that ended later.
    var isWanted = true

    typealias Entry<Content> = PartFacts.Entry<Content>

    struct Event {
        var entry: Entry<Fact.Event>
        var name = ""
    }

    struct Exchange {
        var opened: Entry<Fact.ExchangeOpened>
        var closed: Entry<Fact.ExchangeClosed>
    }

    /// Returns `nil` if the part is open, or if its transaction's ID is not a valid trace ID.
    init?(_ facts: Redacted<[Fact]>, of source: Redacted<SourceIdentity>, _ clock: WallClock) {
        let part = PartFacts(facts.value)
        guard let opened = part.opened, let closed = part.closed, opened.content.transaction.traceID != nil else {
            return nil
        }
        (self.source, root, self.opened, self.closed) = (source.value, opened.content.transaction, opened, closed)
        openedMicroseconds = clock.wall(opened.atMicroseconds)
        // The span has the attributes at its end.
        self.opened.content.attributes = part.attributes
        for fact in part.all {
            if case .event(let content) = fact.content { events.append(Event(entry: Entry(fact, content))) }
        }
        exchanges = part.exchanges.compactMap { opened, closed in closed.map { Exchange(opened: opened, closed: $0) } }
    }

    var id: FactID { id(of: opened) }

    var transaction: GUID { opened.content.transaction }

    var original: OriginalSpan? { spans[opened.sequence] }

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
