import Foundation
public import WaybillCore
import WaybillReading

/// What both groups have is read once.
extension CompareQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> CompareAnswer {
        try answer(partial(from: context))
    }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<ComparedSamples> {
        try groups.check()
        let points = try PointMatcher([from, to], of: filter.useCase, context)
        let all = try EventCursor(
            filter, codes: points.codes, reading: [.times, .outcome], segmentation: groups.segmentation,
            sources: points.sources, context)
        let values = Set(all.transactions.segmentValues)
        if !context.isPartial { try check(values, of: all.transactions.count) }
        let members = GroupMembers(groups, all.transactions.segmentValues)
        let (a, b) = groups.names
        let none = ComparedSamples(a: ComparedSample(value: a), b: ComparedSample(value: b), values: values)
        var folded = try context.fold(all, into: none) { (events, collected) throws(WaybillError) in
            try events.forEach { transaction, events, sources in
                let (isInA, isInB) = (members.isInA(transaction), members.isInB(transaction))
                guard isInA || isInB else { return }
                let duration = self.duration(of: transaction, events, points, sources)
                if isInA {
                    collected.a.add(transaction.outcome, duration: duration, weight: transaction.weight)
                } else {
                    collected.b.add(transaction.outcome, duration: duration, weight: transaction.weight)
                }
            }
        }
        folded.asked.events = points.unknown
        return folded
    }

    package func answer(_ found: consuming Folded<ComparedSamples>) throws(WaybillError) -> CompareAnswer {
        let asked = found.asked
        try asked.check()
        try check(found.collected.values, of: asked.count)
        var answer = CompareAnswer(found.collected.a, found.collected.b)
        answer.weighed = asked.weighing
        let empty = [answer.a, answer.b].filter { $0.transactions == 0 }.map {
            $0.value.map { "“\($0)”" } ?? "those without a value"
        }
        if !empty.isEmpty {
            answer.whyEmpty = asked.whyNone { "None of \($0) belongs to \(empty.joined(separator: ", or to "))." }
        }
        return answer
    }

    /// - Throws: `.notFound` for a value that none of the transactions has, though there are some.
    private func check(_ values: Set<String>, of count: Int) throws(WaybillError) {
        // Of none, an answer says better why it is empty.
        guard count > 0, case .values(let segmentation, let a, let b) = groups else { return }
        for case let value? in [a, b] where !values.contains(value) {
            let hint = value.hint(among: values.sorted(), none: "none of them has any.")
            throw WaybillError(.notFound, "No transaction that counts has the \(segmentation) “\(value)”: \(hint)")
        }
    }

    /// As ``DurationQuestion`` has it; nil where a transaction lacks one of the points, or has them the other way
    /// round.
    private func duration(
        of transaction: TransactionCursor.Transaction, _ events: [TimePoint], _ points: PointMatcher,
        _ sources: SourceDirectory
    ) -> Int64? {
        guard let start = points.occurrence(occurrence, of: 0, in: transaction, events, sources),
            let end = points.occurrence(occurrence, of: 1, in: transaction, events, sources),
            !start.isAfter(end, sources)
        else { return nil }
        return end.microseconds(since: start)
    }
}

/// Which transactions belong to which of two groups.
private struct GroupMembers {
    let isInA: (TransactionCursor.Transaction) -> Bool
    let isInB: (TransactionCursor.Transaction) -> Bool

    /// - Parameter values: Those that the transactions' segments stand for.
    init(_ groups: CompareQuestion.Groups, _ values: [String]) {
        switch groups {
        case .values(_, let a, let b):
            // Those that have none have no segment, and one that none has is none.
            let segments = [a, b].map { value in value.map { values.firstIndex(of: $0) ?? -1 } }
            isInA = { $0.segment == segments[0] }
            isInB = { $0.segment == segments[1] }
        case .windows(let a, let b):
            let (a, b) = (a.microseconds, b.microseconds)
            isInA = { a.contains($0.begun) }
            isInB = { b.contains($0.begun) }
        }
    }
}

/// The two groups, and what tells them apart.
package struct ComparedSamples: Mergeable {
    fileprivate var a, b: ComparedSample
    /// All values that tell transactions apart, those of other groups, too.
    fileprivate var values: Set<String>

    package mutating func merge(_ other: consuming ComparedSamples) {
        a.merge(other.a)
        b.merge(other.b)
        values.formUnion(other.values)
    }
}

extension CompareQuestion.Groups {
    fileprivate var segmentation: Segmentation? {
        switch self {
        case .values(let segmentation, _, _): segmentation
        case .windows: nil
        }
    }

    fileprivate var names: (a: String?, b: String?) {
        switch self {
        case .values(_, let a, let b): (a, b)
        case .windows(let a, let b): (a.microseconds.interval, b.microseconds.interval)
        }
    }

    fileprivate func check() throws(WaybillError) {
        switch self {
        case .values(_, let a, let b):
            guard a != b else { throw WaybillError(.setting, "Both groups are the same; say two values.") }
        case .windows(let a, let b):
            let (a, b) = (a.microseconds, b.microseconds)
            guard !a.overlaps(b) else {
                throw WaybillError(.setting, "The two stretches of time overlap, so they cannot be compared.")
            }
        }
    }
}

extension Range<Int64> {
    /// `2026-03-01T00:00:00Z/2026-03-08T00:00:00Z`: an interval of ISO 8601, to the second.
    fileprivate var interval: String {
        [lowerBound, upperBound].map { bound in
            Date(timeIntervalSince1970: Double(bound.quotientAndRemainder(flooringBy: 1_000_000).quotient)).formatted(
                .iso8601)
        }.joined(separator: "/")
    }
}
