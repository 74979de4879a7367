import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

private enum Login: Int, UseCase {
    static let code = 0
    case requestSent = 1
}

/// The samples of Ask.md, compiled and run.
@Suite(.timeLimit(.minutes(5))) struct AskGuideTests {
    private let clock = ManualClock()
    private let transactions: TransactionManager

    init() {
        transactions = TransactionManager.testing(clock: clock)
    }

    private func logIn() {
        let login = transactions.begin(Login.self, attributes: ["variant": "B"])
        clock.advance(by: .seconds(1))
        login.log(.requestSent)
        clock.advance(by: .seconds(2))
        login.finish(.failed)
    }

    @Test func asking() async throws {
        logIn()
        var printed: [String] = []
        func print(_ items: any CustomStringConvertible...) {
            printed.append(items.map(\.description).joined(separator: " "))
        }

        let logins = TransactionFilter(useCase: Login.self)
        let question = DurationQuestion(
            filter: logins, from: .event("requestSent"), to: .finished, segmentation: .attribute("variant"))
        let answer = try await transactions.answer(question)
        print(answer.total.statistics.p90 ?? .zero, answer.segments.map(\.value))
        #expect(printed == [#"2.0 seconds [Optional("B")]"#])

        let sizes = try await transactions.answer(MeasureQuestion(attribute: "bytes", segmentation: .appVersion))
        print(sizes.total.statistics.p90 ?? 0)
        #expect(printed.last == "0.0" && sizes.total.without == 1)
    }

    @Test func whereTheTimeGoes() async throws {
        logIn()
        var totals: [Duration] = []
        func print(_ leg: Leg, _ total: Duration, _ median: Duration) { totals.append(total) }

        let logins = TransactionFilter(useCase: Login.self)
        let answer = try await transactions.answer(LegsQuestion(filter: logins, segmentation: .appVersion))
        for share in answer.total.legs { print(share.leg, share.total, share.statistics.p50 ?? .zero) }
        #expect(answer.total.withoutExchange == 1)
        #expect(totals.allSatisfy { $0 == .zero })
    }

    @Test func comparingAndTheNetwork() async throws {
        for run in 0..<200 {
            let login = transactions.begin(Login.self, attributes: ["variant": .string(run % 2 == 0 ? "A" : "B")])
            clock.advance(by: .milliseconds(run % 2 == 0 ? 10 : 30))
            login.finish()
        }
        let logins = TransactionFilter(useCase: Login.self)
        let hourAgo = Date(timeIntervalSince1970: 0)
        var printed: [String] = []
        func print(_ items: any CustomStringConvertible...) {
            printed.append(items.map(\.description).joined(separator: " "))
        }

        let variants = CompareQuestion(filter: logins, groups: .values(of: .attribute("variant"), "A", "B"))
        for sentence in try await transactions.answer(variants).sentences { print(sentence) }
        #expect(printed.count == 6)
        #expect(
            printed[3]
                == "The p50 of “B” is longer than that of “A”: 30.0 ms against 10.0 ms, a difference of +20.0 ms (95 % interval +20.0 ms to +20.0 ms). That is more than noise."
        )

        let lastHour = ExchangeFilter([.since(hourAgo)])
        let answer = try await transactions.answer(NetworkQuestion(filter: lastHour))
        for group in answer.groups {
            print(
                group.host ?? "-", group.path ?? "-", group.count, group.whole.p99 ?? .zero, group.failed.p99 ?? .zero)
        }
        #expect(answer.whyEmpty == "There is no exchange here.")
    }

    /// Breaks when the guide shows code that was never compiled.
    @Test func theGuideShowsTheSamplesThatAreTested() throws {
        let shown = try GuideSamples("Ask.md").samples
        #expect(shown.count == 5)
        #expect(try GuideSamples.lines(of: shown, notIn: URL(filePath: #filePath)) == [])
    }
}
