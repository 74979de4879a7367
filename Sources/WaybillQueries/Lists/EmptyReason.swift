import Foundation
package import WaybillCore
package import WaybillStore

/// The reason is the first condition that no transaction in any store passes.
package struct EmptyReason: Sendable {
    enum Step: Comparable {
        case beginner
        case useCase, outcomes, time
        case term(Int)
        /// The time ran out before the remaining terms.
        case unlooked
        case nothing
    }

    package static let namedUseCases = 20
    /// More transactions are not counted, because a large store takes long for that.
    package static let countLimit = 1_000

    let filter: TransactionFilter
    var step = Step.nothing
    var count = 0
    var isAny = false
    var areJoined = false
    var useCaseName: String?
    var useCases: [Int: String?] = [:]
    var newest = Int64.min
    var values: [String: Int]?
    var isAttributeLookedFor = false
    var attributes: Set<String> = []

    package mutating func merge(_ other: EmptyReason) {
        isAny = isAny || other.isAny
        areJoined = areJoined || other.areJoined
        useCaseName = Self.least(useCaseName, other.useCaseName)
        useCases.merge(other.useCases, uniquingKeysWith: Self.least)
        attributes.formUnion(other.attributes)
        isAttributeLookedFor = isAttributeLookedFor || other.isAttributeLookedFor
        if other.step > step {
            (step, count, newest, values) = (other.step, other.count, other.newest, other.values)
        } else if other.step == step {
            count += other.count
            newest = max(newest, other.newest)
            if let more = other.values { values = (values ?? [:]).merging(more, uniquingKeysWith: +) }
        }
    }

    /// Compares by bytes, as SQLite does.
    package static func least(_ left: String?, _ right: String?) -> String? {
        guard let left, let right else { return left ?? right }
        return right.utf8.lexicographicallyPrecedes(left.utf8) ? right : left
    }

    package var sentence: String {
        guard areJoined else { return reason }
        return "\(reason) Of some that would be listed only joined parts are known; beginner:any lists them, too."
    }
}

extension EmptyReason {
    private var reason: String {
        switch step {
        case .beginner: noneByBeginner
        case .useCase: noSuchUseCase
        case .outcomes:
            count == 1
                ? "The only \(selection(.useCase)) here is not \(outcomes)."
                : "\(noneOf(.useCase)) here is \(outcomes)."
        case .time: noneInTime
        case .term(let index): none(passing: filter.terms[index], isFirst: index == 0)
        case .unlooked: "No \(selection(.time)) here passes the whole filter."
        case .nothing:
            "\(isUncounted ? "More" + found(.time).dropFirst(4) : found(.time)) can be listed."
        }
    }

    private var isUncounted: Bool { count > Self.countLimit }

    private func noneOf(_ step: Step) -> String { "None of \(isUncounted ? "" : "the ")\(found(step))" }

    private func found(_ step: Step) -> String {
        guard count != 1 else { return "1 \(selection(step))" }
        let many = selection(step).replacing("transaction", with: "transactions", maxReplacements: 1)
        return "\(isUncounted ? "more than \(Self.countLimit)" : "\(count)") \(many)"
    }

    private func selection(_ step: Step) -> String {
        var selection = "transaction"
        if let useCase = filter.useCase { selection += " of \(useCaseName ?? "use case \(useCase)")" }
        if step > .useCase, filter.outcomes != nil { selection = "\(outcomes) \(selection)" }
        return selection
    }

    private var outcomes: String {
        guard let outcomes = filter.outcomes, !outcomes.isEmpty else { return "of several outcomes at once" }
        return outcomes.sorted { $0.rawValue < $1.rawValue }.map { $0.name.replacing("_", with: " ") }
            .joined(separator: " or ")
    }

    private var noneByBeginner: String {
        guard isAny else { return "There is no transaction here: the store is empty." }
        return switch filter.beginner {
        case .known, .any: "Of no transaction here it is known who began it."
        case .unknown: "Of every transaction here it is known who began it."
        }
    }

    private var noSuchUseCase: String {
        let known = useCases.sorted { $0.key < $1.key }.prefix(Self.namedUseCases).map {
            $0.value ?? "use case \($0.key)"
        }
        let code = filter.useCase ?? 0
        return "There is no transaction of use case \(code) here; there are some of \(known.joined(separator: ", "))."
    }

    private var noneInTime: String {
        let times = [
            filter.sinceMicroseconds.map { "since \(Self.text($0))" },
            filter.untilMicroseconds.map { "before \(Self.text($0))" },
        ].compactMap(\.self).joined(separator: " and ")
        return
            "There \(count == 1 ? "is" : "are") \(found(.time)) here, but none began \(times); the newest began at \(Self.text(newest))."
    }

    private func none(passing condition: FilterCondition, isFirst: Bool) -> String {
        let place = isFirst && !filter.conditions.contains(where: \.isIndexed) ? "here" : "under the other conditions"
        let subject =
            count == 1 ? "The only \(selection(.time)) \(place) does not" : "\(noneOf(.time)) \(place)"
        guard case .text(let text) = condition else {
            let sentence = "\(subject) \(count == 1 ? "pass" : "passes") \(condition)."
            guard case .attribute(let name, _) = condition, isAttributeLookedFor else { return sentence }
            return "\(sentence) \(whereSaid(name))"
        }
        return "\(subject) \(count == 1 ? "mention" : "mentions") “\(text)”."
    }

    private func whereSaid(_ name: String) -> String {
        guard let values else {
            return attributes.contains(name)
                ? "Others have the attribute “\(name)”." : "Nothing here has an attribute “\(name)”."
        }
        let known = values.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\(name)=\($0.key) (\($0.value))" }
        return known.isEmpty
            ? "“\(name)” has no value there any more."
            : "There are \(known.prefix(5).joined(separator: ", "))\(known.count > 5 ? " and others" : "")."
    }

    private static func text(_ microseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(microseconds / 1_000_000)).formatted(.iso8601)
    }
}

extension EmptyReason {
    fileprivate static func steps(of filter: TransactionFilter) -> [(Step, [FilterCondition])] {
        let indexed: [(Step, [FilterCondition])] = [
            (.useCase, filter.useCase.map { [.useCase($0)] } ?? []),
            (.outcomes, filter.conditions.filter { $0.outcomes != nil }),
            (.time, filter.conditions.filter { $0.isIndexed && !$0.isOfTransaction }),
        ]
        return [(.beginner, [])] + indexed.filter { !$0.1.isEmpty }
            + filter.terms.enumerated().map { (.term($0.offset), [$0.element]) }
    }

    /// What a database knows of its rows: how many pass, and why none does.
    package struct Found: Sendable {
        /// The numbers of transactions that pass ``EmptyReason/filters(of:)``.
        package var passing: [Int] = []
        package var isAny = false
        package var areJoined = false
        /// Of those before the times.
        package var newest = Int64.min
        package var useCases: Set<Int> = []
        /// The attributes in conditions that some transaction has.
        package var attributes: Set<String> = []
        /// The values of an attribute that no transaction passes.
        package var values: [String: Int]?
        /// Whether the time ran out, before other conditions or before the values of an attribute.
        var isCut = false

        package init() {}
    }

    /// Each filter includes those before it.
    package static func filters(of filter: TransactionFilter) -> [TransactionFilter] {
        var passed = TransactionFilter()
        passed.beginner = filter.beginner
        return steps(of: filter).map { _, conditions in
            passed.conditions += conditions
            return passed
        }
    }

    /// The filter whose latest transaction is named, because none is in time; `nil` if some are.
    package static func filterBeforeTimes(_ filter: TransactionFilter, passing: [Int]) -> TransactionFilter? {
        guard let index = passing.firstIndex(of: 0), index > 0, steps(of: filter)[index].0 == .time else { return nil }
        return filters(of: filter)[index - 1]
    }

    /// The attribute that no transaction passes, and the filter before it.
    package static func attribute(
        _ filter: TransactionFilter, passing: [Int]
    ) -> (name: String, before: TransactionFilter)? {
        let filters = filters(of: filter)
        guard let index = passing.firstIndex(of: 0), index > 0, case .term(let term) = steps(of: filter)[index].0,
            case .attribute(let name, _) = filter.terms[term]
        else { return nil }
        return (name, filters[index - 1])
    }

    package init(_ filter: TransactionFilter, _ found: Found, _ reader: StoreReader) throws(WaybillError) {
        self.filter = filter
        let names = NameTable(reader.connection)
        if let useCase = filter.useCase { useCaseName = try names.knownUseCase(useCase) }
        (isAny, areJoined, newest) = (found.isAny, found.areJoined, found.newest)
        (attributes, values) = (found.attributes, found.values)
        guard let index = found.passing.firstIndex(of: 0) else {
            if found.isCut { step = .unlooked } else { count = found.passing.last ?? 0 }
            return
        }
        step = Self.steps(of: filter)[index].0
        if step > .useCase { count = found.passing[index - 1] }
        isAttributeLookedFor = !found.isCut && Self.attribute(filter, passing: found.passing) != nil
        guard step == .useCase else { return }
        for code in found.useCases.sorted().prefix(Self.namedUseCases) {
            useCases.updateValue(try names.knownUseCase(code), forKey: code)
        }
    }
}

extension StoreReader {
    package func whyEmpty(_ filter: TransactionFilter, now wall: Int64, budget: SearchBudget? = nil)
        throws(WaybillError)
        -> String
    {
        try emptyReason(filter, now: wall, budget: budget).sentence
    }

    package func emptyReason(
        _ filter: TransactionFilter, now wall: Int64, budget: SearchBudget? = nil, isPartial: Bool = false
    )
        throws(WaybillError)
        -> EmptyReason
    {
        try read { () throws(WaybillError) in
            var found = try look(for: filter, now: wall, budget)
            if isPartial {
                // Another store may pass more conditions before one on an attribute.
                for case .attribute(let name, _) in filter.terms { try findAnywhere(name, for: &found, now: wall) }
            }
            if filter.beginner == .known, budget?.isOver() != true {
                var others = filter
                others.beginner = .unknown
                found.areJoined = try isAny(others, now: wall)
            }
            return try EmptyReason(filter, found, self)
        }
    }

    private func look(
        for filter: TransactionFilter, now wall: Int64, _ budget: SearchBudget?
    ) throws(WaybillError) -> EmptyReason.Found {
        var (found, before) = (EmptyReason.Found(), TransactionFilter())
        for ((step, _), passed) in zip(EmptyReason.steps(of: filter), EmptyReason.filters(of: filter)) {
            if case .term = step, budget?.isOver() == true {
                found.isCut = true
                return found
            }
            if try isAny(passed, now: wall) {
                (found.isAny, before) = (true, passed)
                // Most take long to count, and a sentence has only the last number.
                found.passing.append(1)
                continue
            }
            if step > .useCase {
                found.passing[found.passing.count - 1] = try count(before, now: wall, upTo: EmptyReason.countLimit + 1)
            }
            found.passing.append(0)
            switch step {
            case .beginner:
                var all = TransactionFilter()
                all.beginner = .any
                found.isAny = try isAny(all, now: wall)
            case .useCase: found.useCases = try useCases(filter.beginner)
            case .time:
                let query = ListQuery(before, limit: 1, after: nil, now: wall)
                found.newest = try leaders(query, before.order).first?.listed ?? .min
            case .term(let index):
                guard case .attribute(let name, _) = filter.terms[index] else { break }
                found.isCut = budget?.isOver() == true
                if !found.isCut { try find(name, before, for: &found, now: wall) }
            case .outcomes, .unlooked, .nothing: break
            }
            return found
        }
        found.passing[found.passing.count - 1] = try count(before, now: wall, upTo: EmptyReason.countLimit + 1)
        return found
    }

    private func find(
        _ name: String, _ filter: TransactionFilter, for found: inout EmptyReason.Found, now wall: Int64
    ) throws(WaybillError) {
        var here = filter
        here.conditions.append(.attribute(name, value: nil))
        guard try isAny(here, now: wall) else { return try findAnywhere(name, for: &found, now: wall) }
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
                return rowCount < EmptyReason.countLimit
            })
        found.values = values
    }

    private func findAnywhere(
        _ name: String, for found: inout EmptyReason.Found, now wall: Int64
    ) throws(WaybillError) {
        var anywhere = TransactionFilter([.attribute(name, value: nil)])
        anywhere.beginner = .any
        if try isAny(anywhere, now: wall) { found.attributes.insert(name) }
    }

    /// Counts no further than to `limit`.
    package func count(
        _ filter: TransactionFilter, now wall: Int64, upTo limit: Int? = nil
    ) throws(WaybillError) -> Int {
        let query = ListQuery(all: "1", filter, now: wall)
        let counted = query.sql + (limit.map { " LIMIT \($0)" } ?? "")
        var count = 0
        try connection.statement("SELECT count(*) FROM (\(counted))").forEachRow(arguments: query.arguments) { row in
            count = row.int(0)
        }
        return count
    }

    private func isAny(_ filter: TransactionFilter, now wall: Int64) throws(WaybillError) -> Bool {
        try !leaders(ListQuery(filter, limit: 1, after: nil, now: wall), filter.order).isEmpty
    }

    private func useCases(_ beginner: TransactionFilter.Beginner) throws(WaybillError) -> Set<Int> {
        let joined = beginner.joined.map(String.init).joined(separator: ", ")
        let codes = try connection.statement(
            "SELECT DISTINCT use_case FROM parts WHERE listed_us IS NOT NULL AND joined IN (\(joined)) ORDER BY use_case LIMIT \(EmptyReason.namedUseCases)"
        )
        .rows { row in row.int(0) as Int }
        return Set(codes)
    }
}
