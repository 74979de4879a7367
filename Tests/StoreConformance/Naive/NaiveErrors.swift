import Foundation
import WaybillCore
import WaybillQueries

/// The errors that transactions closed with, found by comparing each with all others.
extension NaiveAnswers {
    func answer(_ query: ErrorsQuestion) -> ErrorsAnswer {
        let asked = passing(query.filter)
        var groups: [[Run]] = []
        for run in asked where error(of: run) != nil {
            if let place = groups.firstIndex(where: { isSame($0[0], run) }) {
                groups[place].append(run)
            } else {
                groups.append([run])
            }
        }
        let entries = groups.filter { $0.contains { $0.weight > 0 } }.map { entry(of: $0, among: asked, query) }
        let sorted = entries.sorted { left, right in
            let (first, second) = (key(query.order, left), key(query.order, right))
            return first == second ? text(left.error) < text(right.error) : first > second
        }
        var answer = ErrorsAnswer(errors: Array(sorted.prefix(query.limit)), errorCount: sorted.count)
        answer.weighed = weighing(asked.map(\.weight))
        return answer
    }

    private func error(of run: Run) -> RecordedError? { run.closing?.closed.error }

    private func isSame(_ left: Run, _ right: Run) -> Bool {
        guard let left = error(of: left), let right = error(of: right) else { return false }
        return isSame(left, right)
    }

    private func entry(of same: [Run], among asked: [Run], _ query: ErrorsQuestion) -> ErrorsAnswer.Entry {
        let errors = same.compactMap(error)
        var error = errors[0]
        (error.text, error.underlying) = (nil, error.underlying.suffix(1))
        error.code = errors.map(\.code).min() ?? 0
        if !error.underlying.isEmpty {
            error.underlying[0].code = errors.compactMap(\.underlying.last?.code).min() ?? 0
        }
        let useCases = Set(same.map(\.leader.opened.useCase))
        let sources = same.map { histories[$0.leader.source].source }
        let step = max(1, query.stepMicroseconds)
        let rates = Dictionary(grouping: same) { $0.begun.quotientAndRemainder(flooringBy: step).quotient * step }
        let isNew = query.newSince.map { time in
            !runs.contains {
                isLetThrough($0, by: query.filter.beginner) && $0.begun < time.microseconds && isSame($0, same[0])
            }
        }
        return ErrorsAnswer.Entry(
            error: error, useCases: useCases.sorted().map { .init(useCase: $0, name: useCaseName($0, nil)) },
            count: Self.count(same.map(\.weight)),
            transactions: Self.count(asked.filter { useCases.contains($0.leader.opened.useCase) }.map(\.weight)),
            users: Set(same.compactMap { latest("user", in: $0)?.description }).count,
            installations: Set(sources.compactMap(\.installation)).count,
            first: Date(microseconds: same.map(\.begun).min() ?? 0),
            last: Date(microseconds: same.map(\.begun).max() ?? 0),
            versions: Set(sources.map(\.appVersion)).sorted().filter { !$0.isEmpty },
            rates: rates.sorted { $0.key < $1.key }.filter { $0.value.contains { $0.weight > 0 } }.map {
                .init(start: Date(microseconds: $0.key), count: Self.count($0.value.map(\.weight)))
            }, isNew: isNew)
    }

    private func key(_ order: ErrorsQuestion.Order, _ entry: ErrorsAnswer.Entry) -> [Int64] {
        switch order {
        case .count: [Int64(entry.count)]
        case .new: [entry.isNew == true ? 1 : 0, entry.first.microseconds]
        case .last: [entry.last.microseconds]
        }
    }

    private func text(_ error: RecordedError) -> String {
        error.chain.map { "\($0.domain)=\($0.name ?? "\($0.code)")" }.joined(separator: ">")
    }
}

private func > (left: [Int64], right: [Int64]) -> Bool { right.lexicographicallyPrecedes(left) }
