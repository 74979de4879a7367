import WaybillCore
import WaybillStore

/// A point in a transaction. Names identify events, because app versions may number them differently.
public enum TransactionPoint: Hashable, Sendable {
    /// The beginning.
    case begun
    /// The recorded outcome of the leading part.
    case finished
    /// An event of any source. An unnamed one is `event 7`.
    case event(String)
}

extension TransactionPoint: Codable, CustomStringConvertible {
    /// Reads `^` as the beginning, `$` as the outcome, and anything else as the name of an event.
    public init(_ text: String) {
        self =
            switch text {
            case "^": .begun
            case "$": .finished
            default: .event(text)
            }
    }

    /// The text that ``init(_:)`` reads.
    public var description: String {
        switch self {
        case .begun: "^"
        case .finished: "$"
        case .event(let name): name
        }
    }

    public init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

struct TimedTransaction {
    let transaction: TransactionCursor.Transaction
    /// Sorted by source, time and sequence.
    var events: [TimePoint]
    let sources: SourceDirectory
    let points: [Int]

    var begin: TimePoint {
        TimePoint(
            source: transaction.source, sequence: transaction.sequence, at: transaction.at, wall: transaction.begun,
            name: TimePoint.begun)
    }

    var end: TimePoint? {
        transaction.closing.map {
            TimePoint(
                source: transaction.source, sequence: $0.sequence, at: $0.at,
                wall: sources.wall($0.at, in: transaction.source), name: TimePoint.finished)
        }
    }

    func isPoint(_ index: Int, _ event: TimePoint) -> Bool { points[index] == event.name }

    func occurrence(
        _ which: DurationQuestion.Occurrence, of index: Int, after earlier: TimePoint? = nil
    ) -> TimePoint? {
        func isLater(_ event: TimePoint) -> Bool { earlier.map { event.isAfter($0, sources) } ?? true }
        switch points[index] {
        case TimePoint.begun: return isLater(begin) ? begin : nil
        case TimePoint.finished: return end.flatMap { isLater($0) ? $0 : nil }
        default: break
        }
        var chosen: TimePoint?
        var ofSource: TimePoint?
        func choose() {
            guard let candidate = ofSource else { return }
            if chosen.map({ $0.isAfter(candidate, sources) == (which == .first) }) ?? true { chosen = candidate }
        }
        for event in events where isPoint(index, event) && isLater(event) {
            if let other = ofSource, other.source == event.source {
                if which == .last { ofSource = event }
            } else {
                choose()
                ofSource = event
            }
        }
        choose()
        return chosen
    }
}

extension TransactionPoint {
    var inWords: String {
        switch self {
        case .begun: "its beginning"
        case .finished: "an outcome"
        case .event(let name): "“\(name)”"
        }
    }
}

package struct AskedTransactions: Mergeable {
    private(set) var count: Int
    private(set) var weights: Weights
    private var reason: EmptyReason?
    private var events = UnknownNames()
    private var attribute = UnknownNames()
    private(set) var owed: OwedFacts?

    init(_ transactions: TransactionCursor, _ weights: Weights, _ context: AnswerContext) throws(WaybillError) {
        count = transactions.count
        self.weights = weights
        (events, attribute) = (transactions.unknownEvents, transactions.unknownAttribute)
        owed = context.owed
        // Others explain why no row counts.
        if count == 0, context.rows == nil { reason = try context.emptyReason(transactions.filter) }
    }

    init(counting filter: TransactionFilter, _ context: AnswerContext) throws(WaybillError) {
        count = try context.reader.count(filter, now: context.now)
        weights = Weights(count)
        if count == 0 { reason = try context.emptyReason(filter) }
    }

    package mutating func merge(_ other: consuming AskedTransactions) {
        count += other.count
        weights.merge(other.weights)
        if let more = other.reason { reason?.merge(more) }
        if count > 0 { reason = nil }
        events.merge(other.events)
        attribute.merge(other.attribute)
    }

    mutating func add(_ more: EmptyReason) { if count == 0 { reason?.merge(more) } }

    /// Counts those of other stores, too.
    mutating func count(_ more: EmptyReason) {
        add(more)
        guard more.step == .nothing else { return }
        count += more.count
        if count > 0 { reason = nil }
    }

    var weighing: Weighing? { weights.weighing }

    func check() throws(WaybillError) {
        if let name = events.unknown.first { throw .unknown(event: name, events.known) }
        if count > 0, let name = attribute.unknown.first { throw .unknown(attribute: name, attribute.known) }
    }

    func whyNone(otherwise: (String) -> String) -> String {
        if let reason { return reason.sentence }
        return otherwise(count == 1 ? "the 1 transaction that counts" : "the \(count) transactions that count")
    }
}

extension AnswerContext {
    fileprivate func emptyReason(_ filter: TransactionFilter) throws(WaybillError) -> EmptyReason {
        try reader.emptyReason(filter, now: now, isPartial: isPartial)
    }
}

struct UnknownNames: Mergeable {
    var unknown: [String] = []
    var known: Set<String> = []

    mutating func merge(_ other: consuming UnknownNames) {
        let alsoThere = Set(other.unknown)
        unknown.removeAll { !alsoThere.contains($0) }
        known.formUnion(other.known)
    }
}

extension WaybillError {
    static func unknown(event name: String, _ known: Set<String>) -> WaybillError {
        let hint = name.hint(
            among: known.inOrder, none: "no event here has a name; “event 7” stands for the one with the code 7.")
        return WaybillError(.notFound, "No event here is called “\(name)”: \(hint)")
    }

    static func unknown(attribute name: String, _ known: Set<String>) -> WaybillError {
        let hint = name.hint(among: known.inOrder, none: "none has any attribute.")
        return WaybillError(.notFound, "No transaction here has an attribute “\(name)”: \(hint)")
    }
}

extension Set<String> {
    /// Sorts by bytes, as SQLite does.
    fileprivate var inOrder: [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}
