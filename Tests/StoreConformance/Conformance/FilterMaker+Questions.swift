import Foundation
import WaybillCore
package import WaybillQueries

extension FilterMaker {
    /// Some questions of each kind, about what is known.
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
        return [
            .summary(SummaryQuestion(step: .seconds(60))),
            .summary(SummaryQuestion(filter: filter, step: .seconds(60))),
            .duration(DurationQuestion(filter: filter)), .transitions(TransitionsQuestion(filter: login)),
            .dropOff(DropOffQuestion(filter: login)),
            .measure(MeasureQuestion(filter: filter, attribute: "yes", segmentation: segmentation())),
            .measure(MeasureQuestion(filter: login, attribute: "none")),
            .legs(LegsQuestion(filter: TransactionFilter(), segmentation: segmentation())),
            .network(NetworkQuestion(filter: exchangeFilter(), grouping: .method)),
            .network(NetworkQuestion(transactions: filter)),
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
}
