import Foundation
package import WaybillCore
package import WaybillStore

/// Why a list shows nothing.
extension StoreReader {
    /// One sentence on why no transaction passes a filter, by the first of its conditions that lets none through.
    ///
    /// Where some do pass it says how many, and where some would but for their beginner, that.
    ///
    /// - Parameters:
    ///   - wall: Now, in microseconds since 1970: decides what has timed out.
    ///   - budget: Once it has run out, no condition is looked for any more, and the sentence names none; nil: there is
    ///     time.
    package func whyEmpty(_ filter: TransactionFilter, now wall: Int64, budget: SearchBudget? = nil)
        throws(WaybillError)
        -> String
    {
        try read { () throws(WaybillError) in
            let reason = try reason(filter, now: wall, budget)
            guard filter.beginner == .known, budget?.isOver() != true else { return reason }
            var others = filter
            others.beginner = .unknown
            guard try isAny(others, now: wall) else { return reason }
            return "\(reason) Of some that would be listed only joined parts are known; beginner:any lists them, too."
        }
    }

    private func reason(
        _ filter: TransactionFilter, now wall: Int64, _ budget: SearchBudget?
    ) throws(WaybillError) -> String {
        var passed = TransactionFilter()
        passed.beginner = filter.beginner
        let all = passed
        var selection = "transaction"
        guard try isAny(passed, now: wall) else { return try noneByBeginner(filter.beginner, now: wall) }
        if let useCase = filter.useCase {
            passed.useCase = useCase
            guard try isAny(passed, now: wall) else { return try noSuchUseCase(useCase, filter.beginner) }
            selection = "transaction of \(try NameTable(connection).useCase(useCase))"
        }
        if !filter.outcomes.isEmpty {
            let before = passed
            passed.outcomes = filter.outcomes
            let words = filter.outcomes.sorted { $0.rawValue < $1.rawValue }.map {
                $0.name.replacing("_", with: " ")
            }
            let outcomes = words.joined(separator: " or ")
            guard try isAny(passed, now: wall) else {
                let found = try count(before, now: wall)
                return found == 1
                    ? "The only \(selection) here is not \(outcomes)."
                    : "None of the \(found.of(selection)) here is \(outcomes)."
            }
            selection = "\(outcomes) \(selection)"
        }
        if filter.sinceMicroseconds != nil || filter.untilMicroseconds != nil {
            let before = passed
            passed.sinceMicroseconds = filter.sinceMicroseconds
            passed.untilMicroseconds = filter.untilMicroseconds
            guard try isAny(passed, now: wall) else {
                return try noneInTime(of: selection, before, passed, now: wall)
            }
        }
        for condition in filter.terms {
            if let budget, budget.isOver() { return "No \(selection) here passes the whole filter." }
            let (place, before) = (passed == all ? "here" : "under the other conditions", passed)
            passed.conditions.append(condition)
            guard try !isAny(passed, now: wall) else { continue }
            let found = try count(before, now: wall)
            let subject =
                found == 1
                ? "The only \(selection) \(place) does not" : "None of the \(found.of(selection)) \(place)"
            guard case .text(let text) = condition else {
                let sentence = "\(subject) \(found == 1 ? "pass" : "passes") \(condition)."
                guard case .attribute(let name, _) = condition, budget?.isOver() != true else { return sentence }
                return "\(sentence) \(try whereSaid(name, before, now: wall))"
            }
            return "\(subject) \(found == 1 ? "mention" : "mentions") “\(text)”."
        }
        return "\(try count(passed, now: wall).of(selection)) can be listed."
    }

    /// Where the name of an attribute does occur, and with what.
    ///
    /// - Parameter filter: What passed before the attribute was asked for.
    private func whereSaid(_ name: String, _ filter: TransactionFilter, now wall: Int64) throws(WaybillError) -> String
    {
        var (here, anywhere) = (filter, TransactionFilter())
        here.conditions.append(.attribute(name, value: nil))
        (anywhere.conditions, anywhere.beginner) = ([.attribute(name, value: nil)], .any)
        guard try isAny(here, now: wall) else {
            return try isAny(anywhere, now: wall)
                ? "Others have the attribute “\(name)”." : "Nothing here has an attribute “\(name)”."
        }
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
        let known = values.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\(name)=\($0.key) (\($0.value))" }
        return known.isEmpty
            ? "“\(name)” has no value there any more."
            : "There are \(known.prefix(5).joined(separator: ", "))\(known.count > 5 ? " and others" : "")."
    }

    private func noneByBeginner(_ beginner: TransactionFilter.Beginner, now wall: Int64) throws(WaybillError) -> String
    {
        var all = TransactionFilter()
        all.beginner = .any
        guard try isAny(all, now: wall) else { return "There is no transaction here: the store is empty." }
        return switch beginner {
        case .known, .any: "Of no transaction here it is known who began it."
        case .unknown: "Of every transaction here it is known who began it."
        }
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

    private func noSuchUseCase(
        _ code: Int, _ beginner: TransactionFilter.Beginner
    ) throws(WaybillError) -> String {
        let joined = beginner.joined.map(String.init).joined(separator: ", ")
        let codes = try connection.statement(
            "SELECT DISTINCT use_case FROM parts WHERE listed_us IS NOT NULL AND joined IN (\(joined)) ORDER BY use_case LIMIT 20"
        )
        .rows { row in row.int(0) as Int }
        var known: [String] = []
        for code in codes { known.append(try NameTable(connection).useCase(code)) }
        return "There is no transaction of use case \(code) here; there are some of \(known.joined(separator: ", "))."
    }

    private func noneInTime(
        of selection: String, _ before: TransactionFilter, _ filter: TransactionFilter, now wall: Int64
    ) throws(WaybillError) -> String {
        let found = try count(before, now: wall)
        let times = [
            filter.sinceMicroseconds.map { "since \(Self.text($0))" },
            filter.untilMicroseconds.map { "before \(Self.text($0))" },
        ].compactMap(\.self).joined(separator: " and ")
        let query = ListQuery(before, limit: 1, after: nil, now: wall)
        var newest: Int64 = 0
        try connection.statement(query.sql).forEachRow(arguments: query.arguments) { row in newest = row.int(0) }
        return
            "There \(found == 1 ? "is" : "are") \(found.of(selection)) here, but none began \(times); the newest began at \(Self.text(newest))."
    }

    /// `2026-03-01T12:00:00Z`.
    private static func text(_ microseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(microseconds / 1_000_000)).formatted(.iso8601)
    }
}

extension Int {
    /// `3 failed transactions of login`.
    fileprivate func of(_ selection: String) -> String {
        "\(self) "
            + (self == 1 ? selection : selection.replacing("transaction", with: "transactions", maxReplacements: 1))
    }
}
