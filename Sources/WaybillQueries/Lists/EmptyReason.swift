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
    /// The numbers of transactions that pass ``filters``, to the first that none passes. Only the last above 0 is
    /// counted, and 1 stands for any other.
    package var passing: [Int] = []
    package var isAny = false
    package var areJoined = false
    /// Of those before the times.
    package var newest = Int64.min
    package var useCases: Set<Int> = []
    private var names: [Int: String] = [:]
    /// The attributes in conditions that some transaction has.
    package var attributes: Set<String> = []
    /// The values of an attribute that no transaction passes.
    package var values: [String: Int]?
    /// Whether the time ran out, before other conditions or before the values of an attribute.
    var isCut = false

    package init(_ filter: TransactionFilter) { self.filter = filter }

    package mutating func addNames(from reader: StoreReader) throws(WaybillError) {
        let known = NameTable(reader.connection)
        for code in useCases.union(filter.useCase.map { [$0] } ?? []) { names[code] = try known.knownUseCase(code) }
    }

    package mutating func merge(_ other: EmptyReason) {
        isAny = isAny || other.isAny
        areJoined = areJoined || other.areJoined
        useCases.formUnion(other.useCases)
        names.merge(other.names) { Self.least($0, $1) ?? $0 }
        attributes.formUnion(other.attributes)
        newest = max(newest, other.newest)
        let further = other.passing.count - passing.count
        // Only the last condition has values.
        if further > 0 { values = nil }
        if further >= 0, let more = other.values { values = (values ?? [:]).merging(more, uniquingKeysWith: +) }
        passing += Array(repeating: 0, count: max(0, further))
        for (index, count) in other.passing.enumerated() { passing[index] += count }
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
        if let useCase = filter.useCase { selection += " of \(name(useCase))" }
        if step > .useCase, filter.outcomes != nil { selection = "\(outcomes) \(selection)" }
        return selection
    }

    private func name(_ useCase: Int) -> String { names[useCase] ?? "use case \(useCase)" }

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
        let known = useCases.sorted().prefix(Self.namedUseCases).map(name)
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
            guard case .attribute(let name, _) = condition, !isCut else { return sentence }
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
        let text = Date(timeIntervalSince1970: Double(microseconds / 1_000_000)).formatted(.iso8601)
        // A time beyond those that can be recorded was moved to their end.
        return microseconds.magnitude < Limits.largestInteger.magnitude ? text : "the year \(text.prefix(4))"
    }
}

extension EmptyReason {
    private var steps: [(step: Step, conditions: [FilterCondition])] {
        let indexed: [(Step, [FilterCondition])] = [
            (.useCase, filter.useCase.map { [.useCase($0)] } ?? []),
            (.outcomes, filter.conditions.filter { $0.outcomes != nil }),
            (.time, filter.conditions.filter { $0.isIndexed && !$0.isOfTransaction }),
        ]
        return [(.beginner, [])] + indexed.filter { !$0.1.isEmpty }
            + filter.terms.enumerated().map { (.term($0.offset), [$0.element]) }
    }

    /// Each filter includes those before it.
    package var filters: [TransactionFilter] {
        var passed = TransactionFilter()
        passed.beginner = filter.beginner
        return steps.map { _, conditions in
            passed.conditions += conditions
            return passed
        }
    }

    /// The first step that no transaction passes.
    var step: Step {
        passing.firstIndex(of: 0).map { steps[$0].step } ?? (isCut ? .unlooked : .nothing)
    }

    /// The number of transactions that pass the steps before.
    var count: Int { passing.last { $0 > 0 } ?? 0 }

    fileprivate var before: TransactionFilter { filters[passing.count - 2] }

    /// The filter whose latest transaction is named, because none is in time; `nil` if some are.
    package var filterBeforeTimes: TransactionFilter? { step == .time ? before : nil }

    /// The attribute that no transaction passes, and the filter before it.
    package var attribute: (name: String, before: TransactionFilter)? {
        guard case .term(let term) = step, case .attribute(let name, _) = filter.terms[term] else { return nil }
        return (name, before)
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
            var reason = EmptyReason(filter)
            try look(for: &reason, now: wall, budget)
            if isPartial {
                // Another store may pass more conditions before one on an attribute.
                for case .attribute(let name, _) in filter.terms { try findAnywhere(name, for: &reason, now: wall) }
            }
            if filter.beginner == .known, budget?.isOver() != true {
                var others = filter
                others.beginner = .unknown
                reason.areJoined = try isAny(others, now: wall)
            }
            try reason.addNames(from: self)
            return reason
        }
    }

    private func look(
        for reason: inout EmptyReason, now wall: Int64, _ budget: SearchBudget?
    ) throws(WaybillError) {
        for passed in reason.filters {
            if !passed.terms.isEmpty, budget?.isOver() == true {
                reason.isCut = true
                return
            }
            let passes = try isAny(passed, now: wall)
            reason.passing.append(passes ? 1 : 0)
            if !passes { break }
        }
        let step = reason.step
        reason.isAny = step != .beginner
        if step > .useCase {
            // Most take long to count, and a sentence has only the last number.
            let (last, limit) = (reason.passing.lastIndex(of: 1) ?? 0, EmptyReason.countLimit + 1)
            reason.passing[last] = try count(reason.filters[last], now: wall, upTo: limit)
        }
        switch step {
        case .beginner:
            var all = TransactionFilter()
            all.beginner = .any
            reason.isAny = try isAny(all, now: wall)
        case .useCase: reason.useCases = try useCases(reason.filter.beginner)
        case .time:
            let query = ListQuery(reason.before, limit: 1, after: nil, now: wall)
            reason.newest = try leaders(query, .newest).first?.listed ?? .min
        case .term:
            guard let (name, before) = reason.attribute else { return }
            reason.isCut = budget?.isOver() == true
            if !reason.isCut { try find(name, before, for: &reason, now: wall) }
        case .outcomes, .unlooked, .nothing: break
        }
    }

    private func find(
        _ name: String, _ filter: TransactionFilter, for reason: inout EmptyReason, now wall: Int64
    ) throws(WaybillError) {
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
                return rowCount < EmptyReason.countLimit
            })
        reason.values = values
    }

    private func findAnywhere(
        _ name: String, for reason: inout EmptyReason, now wall: Int64
    ) throws(WaybillError) {
        var anywhere = TransactionFilter([.attribute(name, value: nil)])
        anywhere.beginner = .any
        if try isAny(anywhere, now: wall) { reason.attributes.insert(name) }
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
