#if Collector
package import WaybillCore

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
    /// How many rows, 1 to ``limits``' end; nil: 50.
    package var limit: String?
    /// Where the page before ended.
    package var cursor: String?

    package static let limits = 1...500
    package static let defaultLimit = 50

    package init() {}

    package static var parameters: [(name: String, field: WritableKeyPath<TransactionQuery, String?>)] {
        [
            ("use_case", \.useCase), ("outcome", \.outcome), ("since", \.since), ("until", \.until), ("text", \.text),
            ("limit", \.limit), ("cursor", \.cursor),
        ]
    }

    /// Says what is wrong with a parameter that can be judged without a store.
    package func validate() throws(QueryFailure) {
        _ = try outcomes()
        _ = try time(since, "since", now: 0)
        _ = try time(until, "until", now: 0)
        _ = try pageSize()
    }

    /// The filter that is meant.
    ///
    /// - Parameters:
    ///   - useCases: the names that the store knows.
    ///   - now: microseconds since 1970.
    package func filter(useCases: [RecordedName], now: Int) throws(QueryFailure) -> TransactionFilter {
        var filter = TransactionFilter()
        filter.useCase = try useCaseCode(among: useCases)
        filter.outcomes = try outcomes()
        filter.sinceMicroseconds = try time(since, "since", now: now)
        filter.untilMicroseconds = try time(until, "until", now: now)
        filter.text = text.flatMap { $0.isEmpty ? nil : $0 }
        return filter
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

    private func outcomes() throws(QueryFailure) -> Set<Outcome> {
        var outcomes: Set<Outcome> = []
        for word in (outcome ?? "").split(separator: ",") {
            guard let outcome = Outcome(name: word) else {
                let words = Outcome.allCases.map(\.name).joined(separator: ", ")
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
#endif
