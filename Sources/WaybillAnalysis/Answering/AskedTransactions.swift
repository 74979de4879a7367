import WaybillCore
import WaybillReading

/// What is said of the transactions that a question is about, besides what is collected of them.
package struct AskedTransactions: Mergeable {
    /// How many there are.
    private(set) var count: Int
    private var weights: Weights
    /// Why there are none; nil where there are some.
    private var reason: EmptyReason?
    /// Of the events that are asked about those that nothing is called.
    var events = UnknownNames()
    /// What they are told apart by, where that is an attribute that none of them has.
    private var attribute = UnknownNames()

    /// - Parameter weights: Of all of them.
    init(_ transactions: TransactionCursor, _ weights: Weights, _ context: AnswerContext) throws(WaybillError) {
        count = transactions.count
        self.weights = weights
        attribute = transactions.unknownAttribute
        if count == 0 { reason = try context.emptyReason(transactions.filter) }
    }

    /// Counts those that pass a filter.
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

    /// How all of them together were weighed; nil where each stands for itself.
    var weighing: Weighing? { weights.weighing }

    /// - Throws: `.notFound` for an event or an attribute that nothing has.
    func check() throws(WaybillError) {
        if let name = events.unknown.first { throw .unknown(event: name, events.known) }
        // An answer says better why there are none.
        if count > 0, let name = attribute.unknown.first { throw .unknown(attribute: name, attribute.known) }
    }

    /// Why nothing counts: by the filter, where that lets nothing through; else in the words of the question.
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

/// Names that are asked about and that nothing has.
struct UnknownNames: Mergeable {
    /// As they are asked about.
    var unknown: [String] = []
    /// What has a name instead, in no order; empty where none is unknown.
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
    /// As SQLite sorts them, by their bytes.
    fileprivate var inOrder: [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}
