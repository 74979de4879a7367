package import WaybillCore
package import WaybillStore

/// Why a list shows nothing.
extension StoreReader {
    /// One sentence on why no transaction passes a filter, by the first of its conditions that lets none through.
    ///
    /// - Parameters:
    ///   - wall: Now, in microseconds since 1970: decides what has timed out.
    ///   - budget: Once it has run out, no condition is looked for any more, and the sentence names none; nil: there is
    ///     time.
    package func whyEmpty(_ filter: TransactionFilter, now wall: Int64, budget: SearchBudget? = nil)
        throws(WaybillError)
        -> String
    {
        try emptyReason(filter, now: wall, budget: budget).sentence
    }

    /// The same, to be put together with what others say.
    ///
    /// - Parameter isPartial: Whether other stores have some of the transactions.
    package func emptyReason(
        _ filter: TransactionFilter, now wall: Int64, budget: SearchBudget? = nil, isPartial: Bool = false
    )
        throws(WaybillError)
        -> EmptyReason
    {
        try read { () throws(WaybillError) in
            var reason = EmptyReason(filter)
            if let useCase = filter.useCase { reason.useCaseName = try NameTable(connection).knownUseCase(useCase) }
            try look(for: &reason, now: wall, budget)
            if isPartial {
                // Elsewhere more may pass than here, up to a condition that asks for one.
                for case .attribute(let name, _) in filter.terms { try findAnywhere(name, for: &reason, now: wall) }
            }
            guard filter.beginner == .known, budget?.isOver() != true else { return reason }
            var others = filter
            others.beginner = .unknown
            reason.areJoined = try isAny(others, now: wall)
            return reason
        }
    }

    private func look(for reason: inout EmptyReason, now wall: Int64, _ budget: SearchBudget?) throws(WaybillError) {
        let filter = reason.filter
        var passed = TransactionFilter()
        passed.beginner = filter.beginner
        /// Asks for some more; the reason is found where that lets none through.
        func isFound(_ step: EmptyReason.Step, _ ask: (inout TransactionFilter) -> Void) throws(WaybillError) -> Bool {
            let before = passed
            ask(&passed)
            guard try !isAny(passed, now: wall) else { return false }
            reason.step = step
            switch step {
            case .beginner:
                var all = TransactionFilter()
                all.beginner = .any
                reason.isAny = try isAny(all, now: wall)
            case .useCase: reason.useCases = try useCases(filter.beginner)
            case .time:
                reason.count = try count(before, now: wall)
                let query = ListQuery(before, limit: 1, after: nil, now: wall)
                try connection.statement(query.sql).forEachRow(arguments: query.arguments) { row in
                    reason.newest = row.int(0)
                }
            case .term(let index):
                reason.count = try count(before, now: wall)
                if case .attribute(let name, _) = filter.terms[index], budget?.isOver() != true {
                    try find(name, before, for: &reason, now: wall)
                }
            case .outcomes, .unlooked, .nothing: reason.count = try count(before, now: wall)
            }
            return true
        }
        if try isFound(.beginner, { _ in }) { return }
        reason.isAny = true
        if let useCase = filter.useCase, try isFound(.useCase, { $0.useCase = useCase }) { return }
        if !filter.outcomes.isEmpty, try isFound(.outcomes, { $0.outcomes = filter.outcomes }) { return }
        if filter.sinceMicroseconds != nil || filter.untilMicroseconds != nil {
            let isLetThrough = try !isFound(.time) {
                $0.sinceMicroseconds = filter.sinceMicroseconds
                $0.untilMicroseconds = filter.untilMicroseconds
            }
            guard isLetThrough else { return }
        }
        for (index, condition) in filter.terms.enumerated() {
            if let budget, budget.isOver() {
                reason.step = .unlooked
                return
            }
            if try isFound(.term(index), { $0.conditions.append(condition) }) { return }
        }
        reason.count = try count(passed, now: wall)
    }

    /// Looks where the name of an attribute does occur, and with what.
    ///
    /// - Parameter filter: What passed before the attribute was asked for.
    private func find(
        _ name: String, _ filter: TransactionFilter, for reason: inout EmptyReason, now wall: Int64
    ) throws(WaybillError) {
        reason.isAttributeLookedFor = true
        var here = filter
        here.conditions.append(.attribute(name, value: nil))
        guard try isAny(here, now: wall) else { return try findAnywhere(name, for: &reason, now: wall) }
        let column = AttributeSQL(literally: name).latest
        let query = ListQuery(all: column, here, now: wall)
        var values: [String: Int] = [:]
        var rowCount = 0
        try connection.statement(query.sql).forRows(
            arguments: query.arguments,
            while: { row in
                rowCount += 1
                if let value = DetailColumn(row.optionalText(0)).attributes[name] {
                    values["\(value)".prefix(40).description, default: 0] += 1
                }
                return rowCount < 1_000
            })
        reason.values = values
    }

    private func findAnywhere(
        _ name: String, for reason: inout EmptyReason, now wall: Int64
    ) throws(WaybillError) {
        var anywhere = TransactionFilter()
        (anywhere.conditions, anywhere.beginner) = ([.attribute(name, value: nil)], .any)
        if try isAny(anywhere, now: wall) { reason.attributes.insert(name) }
    }

    /// How many transactions pass a filter.
    package func count(_ filter: TransactionFilter, now wall: Int64) throws(WaybillError) -> Int {
        let query = ListQuery(all: "1", filter, now: wall)
        var count = 0
        try connection.statement("SELECT count(*) FROM (\(query.sql))").forEachRow(arguments: query.arguments) { row in
            count = row.int(0)
        }
        return count
    }

    /// Whether one passes at all, which is sooner known than how many.
    private func isAny(_ filter: TransactionFilter, now wall: Int64) throws(WaybillError) -> Bool {
        try !leaders(ListQuery(filter, limit: 1, after: nil, now: wall), filter.order).isEmpty
    }

    /// The first use cases that there are, by code; nil: it has no name.
    private func useCases(_ beginner: TransactionFilter.Beginner) throws(WaybillError) -> [Int: String?] {
        let joined = beginner.joined.map(String.init).joined(separator: ", ")
        let codes = try connection.statement(
            "SELECT DISTINCT use_case FROM parts WHERE listed_us IS NOT NULL AND joined IN (\(joined)) ORDER BY use_case LIMIT \(EmptyReason.namedUseCases)"
        )
        .rows { row in row.int(0) as Int }
        let names = NameTable(connection)
        var known: [Int: String?] = [:]
        for code in codes { known.updateValue(try names.knownUseCase(code), forKey: code) }
        return known
    }
}
