import Testing
import Waybill
import WaybillQueries
import WaybillTesting

private enum Login: Int, UseCase {
    static let code = 0
    case requestSent = 1
}

/// The samples of FindTransactions.md, AskQuestions.md and WhereTheTimeGoes.md, compiled and run.
@Suite(.timeLimit(.minutes(5))) struct QuestionGuidesTests {
    private let transactions: TransactionManager

    init() {
        let clock = ManualClock()
        transactions = TransactionManager.testing(clock: clock)
        let login = transactions.begin(Login.self, attributes: ["variant": "B"])
        clock.advance(by: .seconds(1))
        login.log(.requestSent)
        clock.advance(by: .seconds(2))
        login.finish(.failed)
    }

    @Test func finding() async throws {
        var printed: [String] = []
        func print(_ items: any CustomStringConvertible...) {
            printed.append(items.map(\.description).joined(separator: " "))
        }

        let page = try await transactions.transactions(matching: "outcome:failed took>2s sort:longest").page()
        for transaction in page.rows { print(transaction.useCaseName, transaction.id.supportCode) }
        #expect(printed == page.rows.map { "login \($0.id.supportCode)" } && printed.count == 1)

        // for reports, exports and answers
        let filter = try await transactions.filter("outcome:failed event:requestSent")
        #expect(try await transactions.transactions(matching: filter).page().rows == page.rows)
        // for lists and exports of exchanges
        let failing = try await transactions.exchangeFilter("host:example.com status:5xx took>1s")
        #expect(try await transactions.exchanges(matching: failing).rows.isEmpty)
    }

    @Test func asking() async throws {
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
        var totals: [Duration] = []
        func print(_ leg: Leg, _ total: Duration, _ median: Duration) { totals.append(total) }

        let logins = TransactionFilter(useCase: Login.self)
        let answer = try await transactions.answer(LegsQuestion(filter: logins, segmentation: .appVersion))
        for share in answer.total.legs { print(share.leg, share.total, share.statistics.p50 ?? .zero) }
        #expect(answer.total.withoutExchange == 1)
        #expect(totals.allSatisfy { $0 == .zero })
    }
}
