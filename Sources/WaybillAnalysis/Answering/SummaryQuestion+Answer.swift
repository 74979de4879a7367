import Foundation
public import WaybillCore
import WaybillReading

/// One pass over the transactions.
extension SummaryQuestion: FoldedQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> SummaryAnswer {
        try answer(partial(from: context))
    }

    package func partial(from context: AnswerContext) throws(WaybillError) -> Folded<CountedUseCases> {
        let sources = try SourceDirectory(context.connection)
        let all = try TransactionCursor(filter, reading: [.times, .outcome, .error], sources: sources, context)
        var folded = try context.fold(all, into: CountedUseCases()) { (transactions, collected) throws(WaybillError) in
            var counts: [UseCaseCounts] = []
            var places: [Int: Int] = [:]
            let step = wholeStep
            try transactions.forEach { (transaction, _) throws(WaybillError) in
                let place = places[transaction.useCase] ?? counts.count
                if place == counts.count {
                    places[transaction.useCase] = place
                    counts.append(UseCaseCounts())
                }
                counts[place].add(transaction, step: transaction.begun.quotientAndRemainder(flooringBy: step).quotient)
            }
            for (useCase, place) in places {
                counts[place].tellInstallations(sources)
                collected.useCases[useCase] = counts[place]
            }
        }
        let names = NameTable(context.connection)
        for useCase in folded.collected.useCases.keys {
            folded.collected.useCases[useCase]?.name = try names.knownUseCase(useCase)
        }
        return folded
    }

    private var wholeStep: Int64 { max(1, stepMicroseconds) }

    package func answer(_ found: consuming Folded<CountedUseCases>) throws(WaybillError) -> SummaryAnswer {
        let asked = found.asked
        var summaries: [UseCaseSummary] = []
        for (useCase, counts) in found.collected.useCases {
            var counts = counts
            summaries.append(counts.summary(of: useCase, step: wholeStep))
        }
        var answer = SummaryAnswer(
            useCases: summaries.sorted { (-$0.runs, $0.useCase) < (-$1.runs, $1.useCase) },
            whyEmpty: summaries.isEmpty ? asked.whyNone { "\($0) can be listed." } : nil)
        answer.weighed = asked.weighing
        return answer
    }
}

/// What is counted, by the codes of use cases.
package struct CountedUseCases: Mergeable {
    fileprivate var useCases: [Int: UseCaseCounts] = [:]

    package mutating func merge(_ other: consuming CountedUseCases) { useCases.merge(other.useCases) }
}

/// What is counted of one use case.
private struct UseCaseCounts: Mergeable {
    /// The least of its names; nil: it has none.
    fileprivate var name: String?
    private var outcomes: [TransactionOutcome: Int64] = [:]
    private var errors = ErrorCounts()
    /// Those whose installations were not told yet.
    private var sources: Set<Int64> = []
    private var installations: Set<GUID> = []
    private var durations = Durations()
    private var succeeded = Durations()
    private var rates: [Rate] = []
    private var places: [Int64: Int] = [:]
    /// What began shortly after each other stands together.
    private var latest = 0

    private struct Rate {
        var step: Int64
        var outcomes: [TransactionOutcome: Int64] = [:]
    }

    mutating func add(_ transaction: TransactionCursor.Transaction, step: Int64) {
        outcomes[transaction.outcome, default: 0].addWeight(transaction.weight)
        if let error = transaction.error { errors.add(error, transaction.weight) }
        sources.insert(transaction.source)
        if let closing = transaction.closing, closing.sequence >= transaction.sequence {
            durations.append(closing.at - transaction.at, weight: transaction.weight)
            if transaction.outcome == .succeeded {
                succeeded.append(closing.at - transaction.at, weight: transaction.weight)
            }
        }
        if latest >= rates.count || rates[latest].step != step { latest = place(of: step) }
        rates[latest].outcomes[transaction.outcome, default: 0].addWeight(transaction.weight)
    }

    private mutating func place(of step: Int64) -> Int {
        if let place = places[step] { return place }
        places[step] = rates.count
        rates.append(Rate(step: step))
        return rates.count - 1
    }

    /// Keeps which installations its sources are of, in place of the sources, which have a number in their store only.
    fileprivate mutating func tellInstallations(_ known: SourceDirectory) {
        installations.formUnion(sources.compactMap { known.entries[$0]?.installation })
        sources = []
    }

    mutating func merge(_ other: consuming UseCaseCounts) {
        name = EmptyReason.least(name, other.name)
        outcomes.merge(other.outcomes, uniquingKeysWith: { $0.addingWeight($1) })
        errors.merge(other.errors)
        installations.formUnion(other.installations)
        durations.merge(other.durations)
        succeeded.merge(other.succeeded)
        for rate in other.rates {
            rates[place(of: rate.step)].outcomes.merge(rate.outcomes, uniquingKeysWith: { $0.addingWeight($1) })
        }
    }

    /// Leaves the durations in another order.
    fileprivate mutating func summary(of useCase: Int, step: Int64) -> UseCaseSummary {
        UseCaseSummary(
            useCase: useCase, name: name ?? "use case \(useCase)", runs: outcomes.counts.values.reduce(0, +),
            outcomes: outcomes.counts,
            errors: errors.sorted,
            installations: installations.count,
            rates: rates.sorted { $0.step < $1.step }.map {
                .init(start: Date(microseconds: $0.step * step), outcomes: $0.outcomes.counts)
            }, duration: DurationStatistics(&durations), succeeded: DurationStatistics(&succeeded))
    }
}
