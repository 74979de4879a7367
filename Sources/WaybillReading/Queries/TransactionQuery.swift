package import WaybillCore
import WaybillStore

/// The filter of a list as it is written, in a URL's query or on the command line: one grammar for both.
package struct TransactionQuery: ListParameters, Sendable, Hashable {
    /// A code or a name.
    package var useCase: String?
    /// Words, separated by commas.
    package var outcome: String?
    /// Begun at or after this time; see ``TimeExpression``.
    package var since: String?
    /// Begun before this time.
    package var until: String?
    /// Found anywhere in the transaction.
    package var text: String?
    /// A ``FilterExpression``; holds besides the others.
    package var filter: String?
    /// How many rows, 1 to ``limits``' end; nil: 50.
    package var limit: String?
    /// Where the page before ended.
    package var cursor: String?
    /// Only those that have changed since a page's position; ``now`` for a first position, and no rows.
    package var after: String?

    package static let now = "now"

    package static let limits = 1...500
    package static let defaultLimit = 50

    package init() {}

    package static var parameters: [(name: String, field: WritableKeyPath<TransactionQuery, String?>)] {
        [
            ("use_case", \.useCase), ("outcome", \.outcome), ("since", \.since), ("until", \.until), ("text", \.text),
            ("filter", \.filter), ("limit", \.limit), ("cursor", \.cursor), ("after", \.after),
        ]
    }

    /// Says what is wrong with a parameter that can be judged without a store.
    package func validate() throws(QueryFailure) {
        _ = try outcomes()
        _ = try time(since, "since", now: 0)
        _ = try time(until, "until", now: 0)
        _ = try pageSize()
        _ = try written()
        _ = try position()
    }

    /// The filter that is meant.
    ///
    /// - Parameters:
    ///   - names: those that the store knows; not looked at where ``hasNames`` is false.
    ///   - now: microseconds since 1970.
    package func filter(names: [RecordedName], now: Int) throws(QueryFailure) -> TransactionFilter {
        var filter = TransactionFilter()
        filter.useCase = try useCaseCode(among: names)
        filter.outcomes = try outcomes()
        filter.sinceMicroseconds = try time(since, "since", now: now)
        filter.untilMicroseconds = try time(until, "until", now: now)
        filter.text = text.flatMap { $0.isEmpty ? nil : $0 }
        if let expression = try written() {
            do throws(FilterMistake) { try expression.add(to: &filter, names: names, now: now) } catch { throw .filter(error) }
        }
        return filter
    }

    /// Where changes are to begin; nil: at the end of what there is, as with ``now``.
    func position() throws(QueryFailure) -> ExportCursor? {
        guard let after, after != Self.now else { return nil }
        do throws(WaybillError) { return try ExportCursor(after) } catch {
            throw .parameter("after", "“\(after)” is no position of a page; “\(Self.now)” asks for the first.")
        }
    }

    /// Whether names have to be looked up.
    package var hasNames: Bool {
        get throws(QueryFailure) {
            if let useCase, Int(useCase) == nil { return true }
            return try written()?.hasNames ?? false
        }
    }

    /// Whether a list is in the order of beginning, the newest first.
    package var hasNewestFirst: Bool {
        get throws(QueryFailure) {
            let orders = try written()?.terms.filter { $0.key == .sort }.map(\.value) ?? []
            return orders.allSatisfy { $0 == TransactionFilter.Order.newest.rawValue }
        }
    }

    private func written() throws(QueryFailure) -> FilterExpression? {
        guard let filter else { return nil }
        do throws(FilterMistake) { return try FilterExpression(filter) } catch { throw .filter(error) }
    }

    /// All conditions as one expression, for a place that takes nothing else; nil where there are none.
    package func expression() throws(QueryFailure) -> FilterExpression? {
        let others: [(FilterExpression.Key?, String?)] = [
            (.useCase, useCase), (.outcome, outcome), (.since, since), (.until, until), (nil, text),
        ]
        let terms = others.compactMap { key, value in value.flatMap { $0.isEmpty ? nil : FilterExpression.Term(key, .equal, $0) } }
        let all = terms + (try written()?.terms ?? [])
        return all.isEmpty ? nil : FilterExpression(terms: all)
    }

    /// How many rows a page has.
    package func pageSize() throws(QueryFailure) -> Int {
        guard let limit else { return Self.defaultLimit }
        guard let count = Int(limit), Self.limits.contains(count) else {
            throw QueryFailure.parameter(
                "limit", "“\(limit)” is not a number from \(Self.limits.lowerBound) to \(Self.limits.upperBound).")
        }
        return count
    }

    private func useCaseCode(among useCases: [RecordedName]) throws(QueryFailure) -> Int? {
        guard let useCase else { return nil }
        if let code = Int(useCase) { return code }
        let codes = Set(useCases.filter { $0.event == nil && $0.name == useCase }.map(\.useCase)).sorted()
        switch codes.count {
        case 1: return codes[0]
        case 0:
            let known = Set(useCases.filter { $0.event == nil }.map(\.name)).sorted()
            let hint =
                if let nearest = useCase.nearest(among: known) {
                    "did you mean “\(nearest)”?"
                } else if known.isEmpty {
                    "no names are known; give a code."
                } else {
                    "known are \(known.joined(separator: ", "))."
                }
            throw QueryFailure.parameter("use_case", "There is no use case “\(useCase)” here; \(hint)")
        default:
            let list = codes.map(String.init).joined(separator: ", ")
            throw QueryFailure.parameter("use_case", "The use cases \(list) are all called “\(useCase)”; give one of the codes.")
        }
    }

    private func outcomes() throws(QueryFailure) -> Set<TransactionOutcome> {
        var outcomes: Set<TransactionOutcome> = []
        for word in (outcome ?? "").split(separator: ",") {
            guard let outcome = TransactionOutcome(name: word) else {
                let words = TransactionOutcome.allCases.map(\.name).joined(separator: ", ")
                throw QueryFailure.parameter("outcome", "“\(word)” is no outcome. They are: \(words).")
            }
            outcomes.insert(outcome)
        }
        return outcomes
    }

    private func time(_ text: String?, _ parameter: String, now: Int) throws(QueryFailure) -> Int? {
        guard let text else { return nil }
        guard let time = TimeExpression.microseconds(text, now: now) else {
            throw QueryFailure.parameter(parameter, "“\(text)” is no time: give \(TimeExpression.forms).")
        }
        return time
    }
}
