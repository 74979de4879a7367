import Foundation
import WaybillCore

/// Why no transaction passes a filter: what one store says, or several, each of which has some of the transactions.
///
/// A filter's conditions are asked for one after the other. The first that lets none through in any of the stores is
/// the reason, so that of several stores those count in which most of them let something through.
package struct EmptyReason: Sendable {
    /// What is asked for, in this order.
    enum Step: Comparable {
        /// Who began them.
        case beginner
        case useCase, outcomes, time
        /// One of the filter's terms.
        case term(Int)
        /// Terms that there was no time to look at.
        case unlooked
        /// All let some through.
        case nothing
    }

    /// How many of the use cases that there are instead of another one are named.
    static let namedUseCases = 20

    let filter: TransactionFilter
    /// The first that lets none through.
    var step = Step.nothing
    /// How many transactions passed all before that.
    var count = 0
    /// Whether there is any transaction, whoever began it.
    var isAny = false
    /// Whether some would pass, if it were known who began them.
    var areJoined = false
    /// nil: it has none.
    var useCaseName: String?
    /// What there is instead, by code; nil: it has no name.
    var useCases: [Int: String?] = [:]
    /// When the newest began that passed all before, in microseconds since 1970.
    var newest = Int64.min
    /// Of a term that asks for one: its values in what passed all before, as far as they were counted; nil: it has none.
    var values: [String: Int]?
    /// Whether there was time to look for that attribute.
    var isAttributeLookedFor = false
    /// Attributes that were asked for, and that some transaction has, if it be none that passes the rest.
    var attributes: Set<String> = []

    init(_ filter: TransactionFilter) { self.filter = filter }

    /// Adds what another store says of the same filter, which has none of the same transactions.
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

    /// As SQLite compares them, by their bytes.
    package static func least(_ left: String?, _ right: String?) -> String? {
        guard let left, let right else { return left ?? right }
        return right.utf8.lexicographicallyPrecedes(left.utf8) ? right : left
    }

    /// It in words. Where some do pass it says how many, and where some would but for their beginner, that.
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
                : "None of the \(count.of(selection(.useCase))) here is \(outcomes)."
        case .time: noneInTime
        case .term(let index): none(passing: filter.terms[index], isFirst: index == 0)
        case .unlooked: "No \(selection(.time)) here passes the whole filter."
        case .nothing: "\(count.of(selection(.time))) can be listed."
        }
    }

    /// What has passed up to a step, in words.
    private func selection(_ step: Step) -> String {
        var selection = "transaction"
        if let useCase = filter.useCase { selection += " of \(useCaseName ?? "use case \(useCase)")" }
        if step > .useCase, !filter.outcomes.isEmpty { selection = "\(outcomes) \(selection)" }
        return selection
    }

    private var outcomes: String {
        filter.outcomes.sorted { $0.rawValue < $1.rawValue }.map { $0.name.replacing("_", with: " ") }
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
        let found = count.of(selection(.time))
        return
            "There \(count == 1 ? "is" : "are") \(found) here, but none began \(times); the newest began at \(Self.text(newest))."
    }

    private func none(passing condition: FilterCondition, isFirst: Bool) -> String {
        let isOnly =
            isFirst && filter.useCase == nil && filter.outcomes.isEmpty && filter.sinceMicroseconds == nil
            && filter.untilMicroseconds == nil
        let place = isOnly ? "here" : "under the other conditions"
        let subject =
            count == 1
            ? "The only \(selection(.time)) \(place) does not" : "None of the \(count.of(selection(.time))) \(place)"
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
