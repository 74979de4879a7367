import WaybillCore
import WaybillStore

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
