package import WaybillCore

/// The filter of a list of exchanges as it is written: the grammar of ``TransactionQuery``, and what only exchanges have.
package struct ExchangeQuery: ListParameters, Sendable, Hashable {
    /// Use case and outcome are those of the exchange's transaction; times and text are the exchange's own.
    package var base = TransactionQuery()
    /// Methods, separated by commas.
    package var method: String?
    /// `404`, `4xx` or `400-499`.
    package var status: String?
    /// Words, separated by commas; see `ExchangeRecord.State`.
    package var state: String?
    /// A ``FilterExpression`` about exchanges; holds besides the others.
    package var filter: String?

    package init() {}

    package static var parameters: [(name: String, field: WritableKeyPath<ExchangeQuery, String?>)] {
        let base: WritableKeyPath<ExchangeQuery, TransactionQuery> = \.base
        // The expression has a place of its own, and what changes are transactions.
        let shared = TransactionQuery.parameters.filter { !["filter", "after"].contains($0.name) }.map {
            (name: $0.name, field: base.appending(path: $0.field))
        }
        return shared + [("method", \.method), ("status", \.status), ("state", \.state), ("filter", \.filter)]
    }

    /// Says what is wrong with a parameter that can be judged without a store.
    package func validate() throws(QueryFailure) {
        try base.validate()
        _ = try statuses()
        _ = try states()
        _ = try written()
    }

    /// Whether names have to be looked up.
    package var hasNames: Bool {
        get throws(QueryFailure) { try base.hasNames ? true : written()?.hasNames ?? false }
    }

    /// The filter that is meant.
    ///
    /// - Parameters:
    ///   - names: those that the store knows.
    ///   - now: microseconds since 1970.
    package func filter(names: [RecordedName], now: Int) throws(QueryFailure) -> ExchangeFilter {
        let transactions = try base.filter(names: names, now: now)
        var filter = ExchangeFilter()
        filter.useCase = transactions.useCase
        filter.outcomes = transactions.outcomes
        filter.sinceMicroseconds = transactions.sinceMicroseconds
        filter.untilMicroseconds = transactions.untilMicroseconds
        filter.text = transactions.text
        filter.methods = Set((method ?? "").split(separator: ",").map { $0.uppercased() })
        filter.statuses = try statuses()
        filter.states = try states()
        if let expression = try written() {
            do throws(FilterMistake) { try expression.add(to: &filter, names: names, now: now) } catch { throw .filter(error) }
        }
        return filter
    }

    private func written() throws(QueryFailure) -> FilterExpression? {
        guard let filter else { return nil }
        do throws(FilterMistake) { return try FilterExpression(filter, about: .exchanges) } catch { throw .filter(error) }
    }

    private func statuses() throws(QueryFailure) -> ClosedRange<Int>? {
        guard let status else { return nil }
        guard let range = StatusRange.read(status) else {
            throw .parameter("status", "“\(status)” is no status: give 404, 4xx or 400-499.")
        }
        return range
    }

    private func states() throws(QueryFailure) -> Set<ExchangeRecord.State> {
        var states: Set<ExchangeRecord.State> = []
        for word in (state ?? "").split(separator: ",") {
            guard let state = ExchangeRecord.State(rawValue: String(word)) else {
                let words = ExchangeRecord.State.allCases.map(\.rawValue).joined(separator: ", ")
                throw .parameter("state", "“\(word)” is no state of an exchange. They are: \(words).")
            }
            states.insert(state)
        }
        return states
    }
}
