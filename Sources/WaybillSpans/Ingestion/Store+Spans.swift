package import WaybillCore
package import WaybillQueries
package import WaybillStore

extension SQLiteStore {
    /// Takes in spans; returns only after the synced commit.
    ///
    /// - Parameter sender: The ID of the token that they came with; empty where there is none.
    package func add(_ request: TraceRequest, sentBy sender: String) async throws(WaybillError) -> SpanVerdict {
        let (wall, redactor, limit) = (clock.wallMicroseconds(), redactor, writer.factsPerTransaction)
        return try await writer.run { store throws(WaybillError) in
            try store.ingest(
                request, sentBy: sender, receivedAt: wall, factsPerTransaction: limit, redactor: redactor)
        }
    }

    /// Gives spans that have waited too long for the one that they are below a part of their own.
    ///
    /// - Returns: How many facts came of it.
    package func settleWaitingSpans() async throws(WaybillError) -> Int {
        let (wall, redactor) = (clock.wallMicroseconds(), redactor)
        return try await writer.run { store throws(WaybillError) in
            try store.settleWaitingSpans(at: wall, redactor: redactor)
        }
    }
}

/// Spans come in.
extension Store {
    /// Transactions whose waiting spans one write goes through.
    private static let settledAtOnce = 500

    /// Books spans in one SQLite transaction.
    ///
    /// - Parameters:
    ///   - sender: The ID of the token that they came with; empty where there is none.
    ///   - wall: Now, in microseconds since 1970.
    ///   - factsPerTransaction: Spans that would give a transaction more are refused; nil: however many come.
    /// - Returns: Right to be answered once this has returned and commits are synced.
    package func ingest(
        _ request: TraceRequest, sentBy sender: String = "", receivedAt wall: Int64, factsPerTransaction: Int? = nil,
        redactor: Redactor = Redactor()
    ) throws(WaybillError) -> SpanVerdict {
        try write { () throws(WaybillError) in
            var ingestion = try spanIngestion(at: wall, factsPerTransaction: factsPerTransaction, redactor: redactor)
            for resource in request.resources { try ingestion.add(resource, sentBy: sender) }
            try ingestion.settle(waitingSince: wall - SpanIngestion.patienceMicroseconds, limit: Self.settledAtOnce)
            // As many as there are too many, so that no other request waits for all of them.
            let excess = try SpanRows(connection).waitingCount(limit: .max) - SpanIngestion.waitingLimit
            if excess > 0 { try ingestion.settle(waitingSince: .max, limit: Self.settledAtOnce, needed: excess) }
            try ingestion.finish()
            nameCount? += ingestion.addedNameCount
            var verdict = ingestion.verdict
            for (reason, count) in request.faults { verdict.refuse(count, because: reason) }
            return verdict
        }
    }

    /// Gives spans that have waited too long for the one that they are below a part of their own.
    package func settleWaitingSpans(at wall: Int64, redactor: Redactor = Redactor()) throws(WaybillError) -> Int {
        guard try SpanRows(connection).waitingCount(limit: 1) > 0 else { return 0 }
        return try write { () throws(WaybillError) in
            var ingestion = try spanIngestion(at: wall, factsPerTransaction: nil, redactor: redactor)
            try ingestion.settle(waitingSince: wall - SpanIngestion.patienceMicroseconds, limit: Self.settledAtOnce)
            try ingestion.finish()
            nameCount? += ingestion.addedNameCount
            return ingestion.verdict.factCount
        }
    }

    private func spanIngestion(at wall: Int64, factsPerTransaction: Int?, redactor: Redactor) throws(WaybillError)
        -> SpanIngestion
    {
        try SpanIngestion(
            connection, redactor: redactor, key: try spanKey(), at: wall, factsPerTransaction: factsPerTransaction,
            nameRoom: try nameRoom())
    }

    /// The secret that the IDs of sources are made with, of this store alone.
    private func spanKey() throws(WaybillError) -> [UInt8] {
        let name = "span_key"
        if let key = try setting(name) { return Array(key.utf8) }
        let key = "\(GUID())\(GUID())"
        try connection.statement("INSERT INTO settings(key, value) VALUES (?, ?)").run(name, key)
        return Array(key.utf8)
    }
}

/// The spans of one source in one transaction that have become no facts yet, and to which part each belongs.
struct SpanTree {
    struct Node {
        var span: SpanRows.Span
        var facts: SpanFacts
        /// Whether it came with this request, rather than having waited.
        var isNew: Bool
    }

    /// Where a span belongs.
    enum Place: Hashable {
        /// To a part that is there.
        case part(Int64)
        /// To that of a span which is among these.
        case root(SpanID)
        /// Below a span that has not come.
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

    /// Takes in a span; false where it is known.
    mutating func add(_ span: ReceivedSpan, redactor: Redactor) throws(WaybillError) -> Bool {
        guard nodes[span.id] == nil else { return false }
        let known = try rows.find(span.id, of: source, in: transaction)
        if let known, known.kind != 0 { return false }
        var row = SpanRows.Span(id: span.id, parent: span.parent, kind: span.kind.rawValue)
        // Others were below it, and got a part while it had not come.
        (row.part, row.fact) = (known?.part, known?.fact)
        row.original = span.fields?.json(redactedBy: redactor)
        nodes[span.id] = Node(
            span: row, facts: SpanFacts(span, isPart: span.isRoot && known == nil, redactor: redactor), isNew: true)
        return true
    }

    /// The spans that wait, by the one that they wait for.
    mutating func waiting() throws(WaybillError) -> [SpanID: [SpanID]] {
        var waiting: [SpanID: [SpanID]] = [:]
        for id in nodes.keys {
            if case .missing(let missing) = try place(of: id) { waiting[missing, default: []].append(id) }
        }
        return waiting
    }

    /// Makes a part for one that has not come.
    ///
    /// - Parameter ids: The spans below it.
    mutating func addPart(for missing: SpanID, above ids: [SpanID], named name: String) {
        let times = ids.flatMap { nodes[$0]?.facts.facts.map(\.atMicroseconds) ?? [] }
        guard let first = times.min(), let last = times.max() else { return }
        nodes[missing] = Node(
            span: SpanRows.Span(id: missing, parent: nil, kind: 0),
            facts: SpanFacts(partOf: transaction, named: name, during: first...last), isNew: false)
        places = [:]
    }

    /// Goes up to where a part begins.
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
                // It has not come; or spans name each other as parents in a circle.
                place = .missing(seen.contains(current) ? seen.min { $0.rawValue < $1.rawValue } ?? current : current)
            }
        }
        let found = place ?? .missing(id)
        for id in path { places[id] = found }
        return found
    }
}
