import WaybillCore
import WaybillQueries
import WaybillStore

/// A question about an ``AnswerStore``, and the numbers that every engine has to answer.
enum AnswerQuestion: String, CaseIterable {
    case summary, duration, funnel, transitions, legs, list, find

    /// Returns the library's answer.
    func ask(_ reader: StoreReader) throws -> [Int64] {
        switch self {
        case .summary:
            let answer = try answer(SummaryQuestion(), reader)
            return answer.useCases.flatMap { useCase in
                var figures = [
                    useCase.useCase, useCase.runs, useCase.installations, useCase.rates.count, useCase.rates[0].runs,
                ]
                figures += TransactionOutcome.allCases.filter { $0 != .open && $0 != .timedOut }.map {
                    useCase.outcomes[$0] ?? 0
                }
                return figures.map { Int64($0) } + useCase.errors.flatMap { [$0.code, Int64($0.count)] }
            }
        case .duration:
            let query = DurationQuestion(
                filter: Self.logins, from: .event("requestSent"), to: .event("responseReceived"))
            let answer = try answer(query, reader)
            return Self.figures(of: answer.total.statistics)
        case .funnel:
            let steps = ["initiated", "requestSent", "serverAccepted", "responseReceived"].map {
                TransactionPoint.event($0)
            }
            let query = FunnelQuestion(filter: Self.logins, steps: steps + [.finished])
            let answer = try answer(query, reader)
            return answer.total.steps.flatMap {
                [Int64($0.reached), $0.statistics.p50Microseconds ?? 0, $0.statistics.p99Microseconds ?? 0]
            }
        case .transitions:
            let answer = try answer(TransitionsQuestion(filter: Self.logins), reader)
            let known = answer.transitions.sorted { ($0.from, $0.to) < ($1.from, $1.to) }
            return known.flatMap {
                [Int64($0.statistics.count), $0.statistics.p50Microseconds ?? 0, $0.statistics.p99Microseconds ?? 0]
            }
        case .legs:
            let answer = try answer(LegsQuestion(filter: Self.logins), reader)
            return Self.figures(of: answer.total)
        case .list: return try page(TransactionFilter(), reader)
        case .find:
            var filter = Self.logins
            filter.conditions += [.outcome([.failed]), .untilMicroseconds(Self.until)]
            return try page(filter, reader)
        }
    }

    /// The middle of the month.
    static let until = AnswerStore.begun + 15 * 86_400_000_000
    static let pageLength = 50

    private static let logins = TransactionFilter([.useCase(0)])

    private func answer<Asked: Question>(_ question: Asked, _ reader: StoreReader) throws -> Asked.Answer {
        try reader.answer(question, now: AnswerStore.now)
    }

    private func page(_ filter: TransactionFilter, _ reader: StoreReader) throws -> [Int64] {
        let page = try reader.transactions(matching: filter, limit: Self.pageLength, after: nil, now: AnswerStore.now)
        return page.rows.flatMap { [$0.begunMicroseconds, Int64($0.eventCount)] }
    }

    /// Returns the figures of each leg. Requests, responses and inseparable times count only as a sum, because
    /// dividing it depends on an estimate.
    private static func figures(of segment: LegsSegment) -> [Int64] {
        var network = (count: Int64(0), total: Int64(0))
        var figures: [Int64] = []
        for share in segment.legs {
            switch share.leg {
            case .clientBefore, .server, .exchange, .clientAfter:
                figures += [Int64(share.statistics.count), share.totalMicroseconds]
                figures += [share.statistics.p50Microseconds, share.statistics.p99Microseconds].map {
                    $0 ?? 0
                }
            case .request, .network:
                network.count += Int64(share.statistics.count)
                network.total += share.totalMicroseconds
            case .response, .clientBetween: network.total += share.totalMicroseconds
            }
        }
        return figures + [network.count, network.total]
    }

    private static func figures(of statistics: DurationStatistics) -> [Int64] {
        [Int64(statistics.count), statistics.minimumMicroseconds ?? 0, statistics.maximumMicroseconds ?? 0]
            + [
                statistics.p50Microseconds, statistics.p75Microseconds, statistics.p90Microseconds,
                statistics.p95Microseconds,
                statistics.p99Microseconds,
            ].map { $0 ?? 0 }
    }
}
