import WaybillCore
package import WaybillQueries
import WaybillStore

/// The comparison of two transactions, whose facts are matched by name and order.
///
/// Exchanges match by method and path with folded IDs. Facts of joined sources match only those of joined sources.
package struct TransactionComparison {
    /// Rows in the order of the first. A fact only in the second follows its predecessor there.
    package private(set) var rows: [Row] = []
    /// The time to the last fact of the longer transaction, in microseconds.
    let length: Int64

    package init(_ first: ShownRecord, _ second: ShownRecord) {
        let (facts, others) = (Self.facts(of: first), Self.facts(of: second))
        length = (facts + others).map(\.time).max() ?? 0
        // The second's unmatched facts by name, the earliest last.
        var free = Dictionary(grouping: others.indices.reversed()) { others[$0].name }
        let partners = facts.map { free[$0.name]?.popLast() }
        var owners = [Int?](repeating: nil, count: others.count)
        for (index, partner) in partners.enumerated() {
            if let partner { owners[partner] = index }
        }
        // Unmatched facts of the second by the row of the first that they follow; -1 for the beginning.
        var following: [Int: [Row]] = [:]
        var last = -1
        for (index, owner) in owners.enumerated() {
            if let owner { last = owner } else { following[last, default: []].append(Row(nil, others[index])) }
        }
        rows = following[-1] ?? []
        for (index, partner) in partners.enumerated() {
            rows.append(Row(facts[index], partner.map { others[$0] }))
            rows += following[index] ?? []
        }
    }

    private static func facts(of record: ShownRecord) -> [Fact] {
        let exchanges = Dictionary(record.exchanges.map { ($0.id, $0) }) { first, _ in first }
        let joined = Set(record.parts.filter(\.isJoined).map(\.id))
        return record.timeline.map { entry in
            let exchange = entry.exchange.flatMap { exchanges[$0] }
            let text =
                switch entry.kind {
                case .event, .attributesSet, .unknown: entry.label
                case .begun, .joined, .finished: ""
                case .exchangeBegun, .exchangeFinished:
                    exchange.map { "\($0.role) \($0.method) \(PathTemplate($0.path))" } ?? ""
                }
            let part = FactID(source: entry.id.source, sequence: entry.part)
            return Fact(
                entry: entry, time: entry.timeMicroseconds.subtracting(record.summary.begunMicroseconds),
                uncertainty: record.uncertainty(of: entry.id.source) ?? 0,
                name: Name(kind: entry.kind, isJoined: joined.contains(part), text: text), exchange: exchange,
                lane: record.names.lane(of: entry.id.source))
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

extension TransactionComparison {
    package var differentCount: Int { rows.count { !$0.differences.isEmpty || isFarOff($0) } }

    /// Whether a fact's time differs by more than the clocks' uncertainty and a twentieth of the length.
    package func isFarOff(_ row: Row) -> Bool {
        guard let later = row.laterMicroseconds else { return false }
        return abs(later) > max(row.uncertaintyMicroseconds, length / 20)
    }
}

extension TransactionComparison.Row {
    /// The differences of the second, in words and a fixed order; empty if only the time differs.
    package var differences: [String] {
        guard let first else { return ["only in the second"] }
        guard let second else { return ["only in the first"] }
        var differences: [String] = []
        if let one = first.result, let other = second.result, one != other {
            differences.append("\(other) instead of \(one)")
        }
        if first.entry.error != second.entry.error {
            switch (first.entry.error.map(Words.error), second.entry.error.map(Words.error)) {
            case (let one?, let other?): differences.append("\(other) instead of \(one)")
            case (let one?, nil): differences.append("without \(one)")
            case (nil, let other?): differences.append("with \(other)")
            case (nil, nil): break
            }
        }
        let attributes = (first.entry.attributes, second.entry.attributes)
        for name in Set(attributes.0.keys).union(attributes.1.keys).sorted()
        where attributes.0[name] != attributes.1[name] {
            switch (attributes.0[name], attributes.1[name]) {
            case (let one?, let other?): differences.append("\(name)=\(other) instead of \(one)")
            case (let one?, nil): differences.append("without \(name)=\(one)")
            case (nil, let other?): differences.append("\(name)=\(other), which the first has not")
            case (nil, nil): break
            }
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

extension TransactionComparison.Fact {
    /// The status of an exchange, or the outcome; `nil` for a fact that ends nothing.
    package var result: String? {
        switch entry.kind {
        case .finished: entry.words
        case .exchangeFinished: exchange?.result ?? entry.words
        case .event, .attributesSet, .begun, .joined, .exchangeBegun, .unknown: nil
        }
    }
}

extension TransactionRecord.Entry {
    package var words: String { label.spaced }
}
