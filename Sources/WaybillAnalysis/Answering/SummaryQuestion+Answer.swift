import Foundation
public import WaybillCore
import WaybillReading

/// One pass over the transactions.
extension SummaryQuestion {
    public func answer(from context: AnswerContext) throws(WaybillError) -> SummaryAnswer {
        let sources = try SourceDirectory(context.connection)
        let transactions = try TransactionCursor(
            filter, reading: [.times, .outcome, .error], sources: sources, context)
        var counts: [UseCaseCounts] = []
        var places: [Int: Int] = [:]
        let step = max(1, stepMicroseconds)
        try transactions.forEach { (transaction, _) throws(WaybillError) in
            let place = places[transaction.useCase] ?? counts.count
            if place == counts.count {
                places[transaction.useCase] = place
                counts.append(UseCaseCounts())
            }
            counts[place].add(transaction, step: transaction.begun.quotientAndRemainder(flooringBy: step).quotient)
        }
        let names = NameTable(context.connection)
        var summaries: [UseCaseSummary] = []
        for (useCase, place) in places {
            summaries.append(counts[place].summary(of: useCase, named: try names.useCase(useCase), step: step, sources))
        }
        var answer = SummaryAnswer(
            useCases: summaries.sorted { (-$0.runs, $0.useCase) < (-$1.runs, $1.useCase) },
            whyEmpty: summaries.isEmpty ? try context.reader.whyEmpty(filter, now: context.now) : nil)
        answer.weighed = try transactions.weighing()
        return answer
    }
}

/// What is counted of one use case.
private struct UseCaseCounts {
    private var outcomes: [TransactionOutcome: Int64] = [:]
    private var errors = ErrorCounts()
    private var sources: Set<Int64> = []
    private var durations = Durations()
    private var rates: [Rate] = []
    private var places: [Int64: Int] = [:]
    /// What began shortly after each other stands together.
    private var latest = 0

    private struct Rate {
        var step: Int64
        var outcomes: [TransactionOutcome: Int64] = [:]
    }

    mutating func add(_ transaction: TransactionCursor.Transaction, step: Int64) {
        outcomes[transaction.outcome, default: 0] += transaction.weight
        if let error = transaction.error { errors.add(error, transaction.weight) }
        sources.insert(transaction.source)
        if let closing = transaction.closing, closing.sequence >= transaction.sequence {
            durations.append(closing.at - transaction.at, weight: transaction.weight)
        }
        if latest >= rates.count || rates[latest].step != step { latest = place(of: step) }
        rates[latest].outcomes[transaction.outcome, default: 0] += transaction.weight
    }

    private mutating func place(of step: Int64) -> Int {
        if let place = places[step] { return place }
        places[step] = rates.count
        rates.append(Rate(step: step))
        return rates.count - 1
    }

    /// Leaves the durations in another order.
    mutating func summary(of useCase: Int, named name: String, step: Int64, _ known: SourceDirectory) -> UseCaseSummary
    {
        UseCaseSummary(
            useCase: useCase, name: name, runs: outcomes.counts.values.reduce(0, +), outcomes: outcomes.counts,
            errors: errors.sorted,
            installations: Set(sources.compactMap { known.entries[$0]?.installation }).count,
            rates: rates.sorted { $0.step < $1.step }.map {
                .init(start: Date(microseconds: $0.step * step), outcomes: $0.outcomes.counts)
            }, duration: DurationStatistics(&durations))
    }
}
