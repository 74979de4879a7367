import Foundation
import WaybillCore
package import WaybillQueries

extension FilterMaker {
    /// Makes some questions of each kind about the known transactions.
    package mutating func questions(_ known: NaiveAnswers) -> [AnyQuestion] {
        let login = TransactionFilter([.useCase(3)])
        let names = Set(known.names.filter { $0.name.event != nil }.map(\.name.name)).sorted()
        let points =
            [TransactionPoint.begun, .finished, .event("event 0"), .event("event 2"), .event("no such")]
            + names.map { .event($0) }
        func point() -> TransactionPoint { points.randomElement(using: &random) ?? .begun }
        func segmentation() -> Segmentation? {
            [nil, .appVersion, .app, .attribute("yes"), .attribute("none"), .hour, .parentOutcome, .parentUseCase]
                .randomElement(using: &random) ?? nil
        }
        let middle = known.runs.map(\.begun).sorted().dropFirst(known.runs.count / 2).first ?? 0
        let filter = self.filter()
        var logins = filter
        logins.conditions.append(.useCase(3))
        var trend = DurationQuestion(filter: login, segmentation: segmentation())
        // A collector answers for steps of at least a minute.
        trend.step = .seconds(Int.random(in: 60...600, using: &random))
        return [
            .summary(SummaryQuestion(step: .seconds(60))),
            .summary(SummaryQuestion(filter: filter, step: .seconds(60))),
            .duration(DurationQuestion(filter: filter)), .duration(trend),
            .transitions(TransitionsQuestion(filter: login)), .transitions(TransitionsQuestion(filter: logins)),
            .dropOff(DropOffQuestion(filter: login)), .dropOff(DropOffQuestion(filter: logins)),
            .measure(MeasureQuestion(filter: filter, attribute: "yes", segmentation: segmentation())),
            .measure(MeasureQuestion(filter: login, attribute: "none")),
            .legs(LegsQuestion(filter: TransactionFilter(), segmentation: segmentation())),
            .legs(LegsQuestion(filter: filter)),
            .errors(ErrorsQuestion(order: .last, limit: 3)),
            .why(WhyQuestion(filter: filter)),
            .why(WhyQuestion(filter: TransactionFilter([.useCase(3), .outcome([.failed])]), limit: 500)),
            .why(WhyQuestion(filter: TransactionFilter([.useCase(3), .outcome([.succeeded])]), limit: 500)),
            .errors(
                ErrorsQuestion(
                    filter: filter, newSince: Date(microseconds: middle), order: .new, step: .seconds(60))),
            .network(NetworkQuestion(filter: exchangeFilter(), grouping: .method)),
            .network(NetworkQuestion(transactions: filter)), .network(endpoints()), .network(endpoint(known)),
            .compare(
                CompareQuestion(
                    filter: login, groups: .values(of: .appVersion, "1.0", "1.1"), from: point(), to: point(),
                    occurrence: .last)),
            .compare(
                CompareQuestion(
                    filter: login,
                    groups: .windows(
                        Range(microseconds: 0..<middle), Range(microseconds: middle..<4_000_000_000_000_000)))),
        ]
            + (0..<4).map { _ in
                .duration(DurationQuestion(filter: login, from: point(), to: point(), segmentation: segmentation()))
            }
            + (0..<4).map { number in
                .funnel(
                    FunnelQuestion(
                        filter: login, steps: [point(), point()], window: number == 0 ? .microseconds(9_000) : nil,
                        isStrict: number.isMultiple(of: 2), segmentation: segmentation()))
            }
    }

    /// Few endpoints in some order, and the others in one group.
    private mutating func endpoints() -> NetworkQuestion {
        var question = NetworkQuestion(
            filter: exchangeFilter(),
            grouping: NetworkQuestion.Grouping.allCases.randomElement(using: &random) ?? .path,
            sort: NetworkQuestion.Sort.allCases.randomElement(using: &random) ?? .count,
            limit: Int.random(in: 1...4, using: &random), exampleCount: Int.random(in: 0...3, using: &random))
        question.templates = [[], ["/users/{user}"], ["/log/1", "/{what}/22"]].randomElement(using: &random) ?? []
        return question
    }

    /// One endpoint over time.
    private mutating func endpoint(_ known: NaiveAnswers) -> NetworkQuestion {
        var question = NetworkQuestion(grouping: .method)
        question.group = known.exchanges.randomElement(using: &random).map { exchange in
            NetworkKey(
                role: exchange.opened.role, host: exchange.opened.host?.lowercased(),
                path: PathTemplate(exchange.opened.path).description, method: exchange.opened.method)
        }
        // A collector answers for one group, and for steps of at least a minute.
        if question.group != nil { question.step = .seconds(Int.random(in: 60...600, using: &random)) }
        return question
    }
}
