package import WaybillCore
package import WaybillQueries
package import WaybillStore

extension SQLiteStore {
    /// Returns only after the synced commit.
    package func add(_ request: TraceRequest, sentBy sender: String) async throws(WaybillError) -> SpanVerdict {
        let (wall, redactor) = (clock.wallMicroseconds(), redactor)
        return try await writer.run { store throws(WaybillError) in
            try store.ingest(request, sentBy: sender, receivedAt: wall, redactor: redactor)
        }
    }

    /// Makes parts for spans that waited too long for a root. Returns the number of new facts.
    package func settleWaitingSpans() async throws(WaybillError) -> Int {
        let (wall, redactor) = (clock.wallMicroseconds(), redactor)
        return try await writer.run { store throws(WaybillError) in
            try store.settleWaitingSpans(at: wall, redactor: redactor)
        }
    }
}

extension Store {
    package static let spanPatienceMicroseconds = SpanIngestion.patienceMicroseconds
    private static let settledAtOnce = 500

    /// Returns a verdict to send only after the commit is synced.
    package func ingest(
        _ request: TraceRequest, sentBy sender: String = "", receivedAt wall: Int64, redactor: Redactor = Redactor()
    ) throws(WaybillError) -> SpanVerdict {
        try write { () throws(WaybillError) in
            try book(
                request, sentBy: sender, by: try spanWriter(), receivedAt: wall, redactor: redactor, settlesOthers: true
            ).verdict
        }
    }

    /// - Parameter settlesOthers: Whether spans that have waited too long are settled, too.
    package func book(
        _ request: TraceRequest, sentBy sender: String, by writer: SpanWriter, receivedAt wall: Int64,
        redactor: Redactor, settlesOthers: Bool = false
    ) throws(WaybillError) -> (verdict: SpanVerdict, shares: [TransactionSet.Share]) {
        var (verdict, shares) = try book(by: writer, at: wall, redactor: redactor) {
            (ingestion) throws(WaybillError) in
            for resource in request.resources { try ingestion.add(resource, sentBy: sender) }
            guard settlesOthers else { return }
            try ingestion.settle(waitingSince: wall - SpanIngestion.patienceMicroseconds, limit: Self.settledAtOnce)
            // Settles only the excess, because no other request should wait for all of them.
            let excess = try SpanRows(connection).waitingCount(limit: .max) - SpanIngestion.waitingLimit
            if excess > 0 { try ingestion.settle(waitingSince: .max, limit: Self.settledAtOnce, needed: excess) }
        }
        for (reason, count) in request.faults { verdict.refuse(count, because: reason) }
        return (verdict, shares)
    }

    package func settleSpans(
        of source: GUID, in transaction: GUID, by writer: SpanWriter, at wall: Int64, redactor: Redactor
    ) throws(WaybillError) -> (factCount: Int, shares: [TransactionSet.Share]) {
        guard let row = try connection.sourceRow(source) else { return (0, []) }
        let (verdict, shares) = try book(by: writer, at: wall, redactor: redactor) {
            (ingestion) throws(WaybillError) in _ = try ingestion.settle(transaction, row.id)
        }
        return (verdict.factCount, shares)
    }

    package func settleWaitingSpans(at wall: Int64, redactor: Redactor = Redactor()) throws(WaybillError) -> Int {
        guard try SpanRows(connection).waitingCount(limit: 1) > 0 else { return 0 }
        return try write { () throws(WaybillError) in
            try book(by: try spanWriter(), at: wall, redactor: redactor) { (ingestion) throws(WaybillError) in
                try ingestion.settle(
                    waitingSince: wall - SpanIngestion.patienceMicroseconds, limit: Self.settledAtOnce)
            }.verdict.factCount
        }
    }

    private func book(
        by writer: SpanWriter, at wall: Int64, redactor: Redactor,
        _ body: (inout SpanIngestion) throws(WaybillError) -> Void
    ) throws(WaybillError) -> (verdict: SpanVerdict, shares: [TransactionSet.Share]) {
        var ingestion = try SpanIngestion(self, redactor: redactor, by: writer, at: wall)
        try body(&ingestion)
        try ingestion.finish()
        return (ingestion.verdict, ingestion.shares)
    }

    private func spanWriter() throws(WaybillError) -> SpanWriter {
        let name = "span_key"
        if let key = try setting(name) { return SpanWriter(key: Array(key.utf8)) }
        let key = "\(GUID())\(GUID())"
        try set(name, to: key)
        return SpanWriter(key: Array(key.utf8))
    }
}

/// The spans of one source and transaction that are not yet facts, and the part of each.
struct SpanTree {
    struct Node {
        var span: SpanRows.Span
        var facts: SpanFacts
        var isNew: Bool
    }

    enum Place: Hashable {
        /// In an existing part.
        case part(Int64)
        /// In the part that one of these spans opens.
        case root(SpanID)
        /// Below a span that has not arrived.
        case missing(SpanID)
    }

    let transaction: GUID
    private(set) var nodes: [SpanID: Node] = [:]
    private let source: Int64
    private let rows: SpanRows
    private var places: [SpanID: Place] = [:]

    init(of source: Int64, in transaction: GUID, _ rows: SpanRows) throws(WaybillError) {
        self.source = source
        self.transaction = transaction
        self.rows = rows
        for span in try rows.waiting(of: source, in: transaction) {
            nodes[span.id] = Node(span: span, facts: SpanFacts(waiting: span.waiting ?? []), isNew: false)
        }
    }

    /// Returns `false` if the span is known.
    mutating func add(_ span: ReceivedSpan, redactor: Redactor, keepsOriginal: Bool) throws(WaybillError) -> Bool {
        guard nodes[span.id] == nil else { return false }
        let known = try rows.find(span.id, of: source, in: transaction)
        if let known, known.kind != 0 { return false }
        var row = SpanRows.Span(id: span.id, parent: span.parent, kind: span.kind.rawValue)
        // Its children already have a part, because they waited too long.
        (row.part, row.fact) = (known?.part, known?.fact)
        if keepsOriginal { row.original = span.json(redactedBy: redactor) }
        nodes[span.id] = Node(
            span: row, facts: SpanFacts(span, isPart: span.isRoot && known == nil, redactor: redactor), isNew: true)
        return true
    }

    mutating func waiting() throws(WaybillError) -> [SpanID: [SpanID]] {
        var waiting: [SpanID: [SpanID]] = [:]
        for id in nodes.keys {
            if case .missing(let missing) = try place(of: id) { waiting[missing, default: []].append(id) }
        }
        return waiting
    }

    mutating func addPart(for missing: SpanID, above ids: [SpanID], named name: String) {
        let times = ids.flatMap { nodes[$0]?.facts.facts.map(\.atMicroseconds) ?? [] }
        guard let first = times.min(), let last = times.max() else { return }
        nodes[missing] = Node(
            span: SpanRows.Span(id: missing, parent: nil, kind: 0),
            facts: SpanFacts(partOf: transaction, named: name, during: first...last), isNew: false)
        places = [:]
    }

    /// Walks up to the opening of the part.
    mutating func place(of id: SpanID) throws(WaybillError) -> Place {
        var path: [SpanID] = []
        var seen: Set<SpanID> = []
        var (current, place) = (id, Place?.none)
        while place == nil {
            if let known = places[current] {
                place = known
            } else if let node = nodes[current], seen.insert(current).inserted {
                path.append(current)
                if node.facts.isPart {
                    place = .root(current)
                } else if let part = node.span.part {
                    place = .part(part)
                } else {
                    current = node.span.parent ?? current
                }
            } else if let part = try rows.find(current, of: source, in: transaction)?.part {
                place = .part(part)
            } else {
                // The span has not arrived, or spans are each other's parents.
                place = .missing(seen.contains(current) ? seen.min { $0.rawValue < $1.rawValue } ?? current : current)
            }
        }
        let found = place ?? .missing(id)
        for id in path { places[id] = found }
        return found
    }
}
