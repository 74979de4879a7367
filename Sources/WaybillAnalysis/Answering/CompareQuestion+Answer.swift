import Foundation
public import WaybillCore
import WaybillReading

/// What both groups have is read once.
extension CompareQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> CompareAnswer {
        try groups.check()
        let points = try PointMatcher([from, to], of: filter.useCase, context)
        let events = try EventCursor(
            filter, codes: points.codes, reading: [.times, .outcome], segmentation: groups.segmentation,
            sources: points.sources, context)
        let members = try GroupMembers(groups, events.transactions)
        var (a, b) = (ComparedSample(value: groups.names.a), ComparedSample(value: groups.names.b))
        try events.forEach { transaction, events, sources in
            let (isInA, isInB) = (members.isInA(transaction), members.isInB(transaction))
            guard isInA || isInB else { return }
            let duration = self.duration(of: transaction, events, points, sources)
            if isInA {
                a.add(transaction.outcome, duration: duration, weight: transaction.weight)
            } else {
                b.add(transaction.outcome, duration: duration, weight: transaction.weight)
            }
        }
        var answer = CompareAnswer(a, b)
        answer.weighed = try events.transactions.weighing()
        let empty = [answer.a, answer.b].filter { $0.transactions == 0 }.map {
            $0.value.map { "“\($0)”" } ?? "those without a value"
        }
        if !empty.isEmpty {
            answer.whyEmpty = try context.whyNone(filter) {
                "None of \($0) belongs to \(empty.joined(separator: ", or to "))."
            }
        }
        return answer
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

    /// - Throws: `.notFound` for a value that none of the transactions has, though there are some.
    init(_ groups: CompareQuestion.Groups, _ transactions: TransactionCursor) throws(WaybillError) {
        switch groups {
        case .values(let segmentation, let a, let b):
            let segments = try [a, b].map { value throws(WaybillError) in
                try transactions.segment(of: value, segmentation)
            }
            isInA = { $0.segment == segments[0] }
            isInB = { $0.segment == segments[1] }
        case .windows(let a, let b):
            let (a, b) = (a.microseconds, b.microseconds)
            isInA = { a.contains($0.begun) }
            isInB = { b.contains($0.begun) }
        }
    }
}

extension TransactionCursor {
    /// The number of a value; nil for that of those that have none.
    fileprivate func segment(of value: String?, _ segmentation: Segmentation) throws(WaybillError) -> Int? {
        guard let value else { return nil }
        if let segment = segmentValues.firstIndex(of: value) { return segment }
        // An answer says better why it is empty.
        guard count > 0 else { return -1 }
        let hint = value.hint(among: segmentValues.sorted(), none: "none of them has any.")
        throw WaybillError(.notFound, "No transaction that counts has the \(segmentation) “\(value)”: \(hint)")
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
