package import WaybillCore
package import WaybillQueries
import WaybillStore

/// The comparison of two transactions, whose facts are matched by name and order.
///
/// Exchanges match by method and path with folded IDs. Facts of joined sources match only those of joined sources.
package struct TransactionComparison {
    package let first: ShownRecord
    package let second: ShownRecord
    /// Rows in the order of the first. A fact only in the second follows its predecessor there.
    package private(set) var rows: [Row] = []
    /// The time to the last fact of the longer transaction, in microseconds.
    let length: Int64

    package init(_ first: ShownRecord, _ second: ShownRecord) {
        self.first = first
        self.second = second
        length =
            [first, second].flatMap { one in
                one.timeline.map { $0.timeMicroseconds.subtracting(one.summary.begunMicroseconds) }
            }.max() ?? 0
        let sides = (Side(first), Side(second))
        // Per name: the indexes in the second, and how many of them are matched.
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
        // Unmatched facts of the second by the row of the first that they follow; -1 for the beginning.
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

    struct Name: Hashable {
        var kind: TransactionRecord.Kind
        var isJoined: Bool
        /// The event's name, or `client POST /orders/{id}` for an exchange; empty for openings and closings.
        var text: String
    }

    package struct Fact {
        package var entry: TransactionRecord.Entry
        package var time: Int64
        /// The uncertainty of `time`, in microseconds.
        package var uncertainty: Int64
        var name: Name
        package var exchange: TransactionRecord.Exchange?
        package var lane: Int
    }

    package struct Row {
        package var first: Fact?
        package var second: Fact?

        init(_ first: Fact?, _ second: Fact?) { (self.first, self.second) = (first, second) }
    }
}

private struct Side {
    private let record: ShownRecord
    private let lanes: SourceNames
    private let exchanges: [FactID: TransactionRecord.Exchange]
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
                case .event, .attributesSet, .unknown: entry.label
                case .begun, .joined, .finished: ""
                case .exchangeBegun, .exchangeFinished:
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

extension TransactionComparison {
    package enum Difference: Hashable {
        /// The second transaction lacks this fact, or has fewer of them.
        case onlyInFirst
        /// The first transaction lacks this fact, or has fewer of them.
        case onlyInSecond
        case status(String, String)
        case outcome(String, String)
        case error(RecordedError?, RecordedError?)
        /// The name of an attribute and its values; `nil` if it is missing.
        case attribute(String, String?, String?)
    }

    package var differentCount: Int { rows.count { !$0.differences.isEmpty || isFarOff($0) } }

    /// Whether a fact's time differs by more than the clocks' uncertainty and a twentieth of the length.
    package func isFarOff(_ row: Row) -> Bool {
        guard let later = row.laterMicroseconds else { return false }
        return abs(later) > max(row.uncertaintyMicroseconds, length / 20)
    }
}

extension TransactionComparison.Row {
    /// The differences in a fixed order; empty if only the time differs.
    package var differences: [TransactionComparison.Difference] {
        guard let first else { return [.onlyInSecond] }
        guard let second else { return [.onlyInFirst] }
        var differences: [TransactionComparison.Difference] = []
        switch first.entry.kind {
        case .exchangeFinished:
            let (one, other) = (
                first.exchange?.result ?? first.entry.label, second.exchange?.result ?? second.entry.label
            )
            if one != other { differences.append(.status(one, other)) }
        case .finished where first.entry.label != second.entry.label:
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

    /// How much later the fact occurred in the second, relative to each beginning; `nil` if only one has it.
    package var laterMicroseconds: Int64? {
        guard let first, let second else { return nil }
        return second.time - first.time
    }

    package var uncertaintyMicroseconds: Int64 { (first?.uncertainty ?? 0) + (second?.uncertainty ?? 0) }
}

extension TransactionRecord.Entry {
    package var words: String { label.spaced }
}
