package import WaybillCore
package import WaybillQueries
import WaybillStore

/// The comparison of two transactions, fact by fact: what both have, what one has alone, and what is different.
///
/// Facts are joined by their names: events by that of the event, exchanges by method and path with its IDs folded,
/// openings and closings as such; what the beginner did with what the other beginner did, and what joined sources did
/// with the same. Of one that comes several times, the first belongs to the first, and so on.
package struct TransactionComparison {
    /// With the times that are compared.
    package let first: ShownRecord
    /// With the times that are compared.
    package let second: ShownRecord
    /// In the order of the first, with what the second has alone behind what came before it there.
    package private(set) var rows: [Row] = []
    /// Of the longer one, as far as something is known to have happened; in microseconds.
    let length: Int64

    /// Joins two records.
    package init(_ first: ShownRecord, _ second: ShownRecord) {
        self.first = first
        self.second = second
        length =
            [first, second].flatMap { one in
                one.timeline.map { $0.timeMicroseconds.subtracting(one.summary.begunMicroseconds) }
            }.max() ?? 0
        let sides = (Side(first), Side(second))
        // Of each name, where it stands in the second, and how many of these have been joined.
        var places: [Name: (all: [Int], used: Int)] = [:]
        for (index, name) in sides.1.names.enumerated() { places[name, default: ([], 0)].all.append(index) }
        var partners = [Int?](repeating: nil, count: sides.0.names.count)
        var owners = [Int?](repeating: nil, count: sides.1.names.count)
        for (index, name) in sides.0.names.enumerated() {
            guard let place = places[name], place.used < place.all.count else { continue }
            partners[index] = place.all[place.used]
            owners[place.all[place.used]] = index
            places[name]?.used += 1
        }
        // What the second has alone, by the row of the first that it follows; -1: in front of all.
        var following: [Int: [Int]] = [:]
        var last = -1
        for (index, owner) in owners.enumerated() {
            if let owner { last = owner } else { following[last, default: []].append(index) }
        }
        func alone(after row: Int) -> [Row] { (following[row] ?? []).map { Row(nil, sides.1.fact(at: $0)) } }
        rows = alone(after: -1)
        for (index, partner) in partners.enumerated() {
            rows.append(Row(sides.0.fact(at: index), partner.map { sides.1.fact(at: $0) }))
            rows += alone(after: index)
        }
    }

    /// What a fact is joined by.
    struct Name: Hashable {
        var kind: TransactionRecord.Kind
        /// Whether it was recorded by a source that joined the transaction.
        var isJoined: Bool
        /// Of the event; `client POST /orders/{id}` of an exchange; nothing for openings and closings.
        var text: String
    }

    /// One fact of one of the two.
    package struct Fact {
        package var entry: TransactionRecord.Entry
        /// Microseconds since the transaction was begun.
        package var time: Int64
        /// By how many microseconds that may be wrong.
        package var uncertainty: Int64
        var name: Name
        package var exchange: TransactionRecord.Exchange?
        /// The place of its source among the sources.
        package var lane: Int
    }

    /// A fact of the first with the same fact of the second; one of them may be missing.
    package struct Row {
        package var first: Fact?
        package var second: Fact?

        init(_ first: Fact?, _ second: Fact?) { (self.first, self.second) = (first, second) }
    }
}

/// One of the two, ready to be joined.
private struct Side {
    private let record: ShownRecord
    private let lanes: SourceNames
    private let exchanges: [FactID: TransactionRecord.Exchange]
    /// Of each entry of the timeline.
    let names: [TransactionComparison.Name]

    init(_ record: ShownRecord) {
        self.record = record
        lanes = SourceNames(record.sources)
        let exchanges = Dictionary(record.exchanges.map { ($0.id, $0) }) { first, _ in first }
        let joined = Set(record.parts.filter(\.isJoined).map(\.id))
        self.exchanges = exchanges
        names = record.timeline.map { entry in
            let exchange = entry.exchange.flatMap { exchanges[$0] }
            let text =
                switch entry.kind {
                case .event, .attributesSet: entry.label
                case .opened, .closed: ""
                case .exchangeOpened, .exchangeClosed:
                    exchange.map { "\($0.role) \($0.method) \(PathTemplate($0.path))" } ?? ""
                }
            return TransactionComparison.Name(
                kind: entry.kind, isJoined: joined.contains(FactID(source: entry.id.source, sequence: entry.part)),
                text: text)
        }
    }

    func fact(at index: Int) -> TransactionComparison.Fact {
        let entry = record.timeline[index]
        return TransactionComparison.Fact(
            entry: entry, time: entry.timeMicroseconds.subtracting(record.summary.begunMicroseconds),
            uncertainty: record.uncertainty(of: entry.id.source) ?? 0, name: names[index],
            exchange: entry.exchange.flatMap { exchanges[$0] }, lane: lanes.lane(of: entry.id.source))
    }
}

/// What is different between two transactions.
extension TransactionComparison {
    /// Something that is not the same for a fact of both.
    package enum Difference: Hashable {
        /// The second has no such fact, or not as many.
        case onlyInFirst
        /// The first has no such fact, or not as many.
        case onlyInSecond
        /// How an exchange ended: a status code, or why there is none.
        case status(String, String)
        case outcome(String, String)
        /// nil where nothing went wrong.
        case error(RecordedError?, RecordedError?)
        /// nil where there is no such attribute.
        case attribute(String, String?, String?)
    }

    /// How many rows have a difference, or are so much earlier or later that it matters.
    package var differentCount: Int { rows.count { !$0.differences.isEmpty || isFarOff($0) } }

    /// Whether a fact of the second is earlier or later by a good part of the whole, and by more than clocks are
    /// uncertain.
    package func isFarOff(_ row: Row) -> Bool {
        guard let later = row.laterMicroseconds else { return false }
        return abs(later) > max(row.uncertaintyMicroseconds, length / 20)
    }
}

extension TransactionComparison.Row {
    /// In a fixed order; empty where nothing but the time is different.
    package var differences: [TransactionComparison.Difference] {
        guard let first else { return [.onlyInSecond] }
        guard let second else { return [.onlyInFirst] }
        var differences: [TransactionComparison.Difference] = []
        switch first.entry.kind {
        case .exchangeClosed:
            let (one, other) = (
                first.exchange?.result ?? first.entry.label, second.exchange?.result ?? second.entry.label
            )
            if one != other { differences.append(.status(one, other)) }
        case .closed where first.entry.label != second.entry.label:
            differences.append(.outcome(first.entry.words, second.entry.words))
        default: break
        }
        if first.entry.error != second.entry.error { differences.append(.error(first.entry.error, second.entry.error)) }
        let attributes = (first.entry.attributes, second.entry.attributes)
        for name in Set(attributes.0.keys).union(attributes.1.keys).sorted()
        where attributes.0[name] != attributes.1[name] {
            differences.append(.attribute(name, attributes.0[name]?.description, attributes.1[name]?.description))
        }
        return differences
    }

    /// How much later it came in the second than in the first, each since its opening, in microseconds; nil where one
    /// of them has it alone.
    package var laterMicroseconds: Int64? {
        guard let first, let second else { return nil }
        return second.time - first.time
    }

    /// By how much that may be wrong, since clocks were aligned; 0 where no other clock has a part in it.
    package var uncertaintyMicroseconds: Int64 { (first?.uncertainty ?? 0) + (second?.uncertainty ?? 0) }
}

extension TransactionRecord.Entry {
    /// Its label as people read it.
    package var words: String { label.spaced }
}
