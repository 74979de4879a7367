import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

private enum Login: Int, UseCase {
    static let code = 0
    case requestSent = 1, responseReceived = 2
}

/// `manager.answer` uses the names of Swift's cases, and includes facts recorded a moment ago.
@Suite(.timeLimit(.minutes(5))) struct ManagerAnswerTests {
    let clock = ManualClock()
    let tx: TransactionManager
    var logins: TransactionFilter {
        let filter = TransactionFilter(useCase: Login.self)
        return filter
    }

    init() { tx = .testing(clock: clock) }

    private func logIn(_ variant: String, milliseconds: Int) {
        let login = tx.begin(Login.self, attributes: ["variant": .string(variant), "version": 1])
        login.log(.requestSent)
        clock.advance(by: .milliseconds(milliseconds))
        login.log(.responseReceived)
        login.finish()
    }

    @Test func variantsAreToldApart() async throws {
        for time in [10, 30, 20] { logIn("A", milliseconds: time) }
        logIn("B", milliseconds: 5)
        let query = DurationQuestion(
            filter: logins, from: .event("requestSent"), to: .event("responseReceived"),
            segmentation: .attribute("variant"))
        let answer = try await tx.answer(query)
        #expect(answer.total.statistics.count == 4)
        #expect(answer.segments.map(\.value) == ["A", "B"])
        #expect(answer.segments.map(\.statistics.p50) == [.milliseconds(20), .milliseconds(5)])
        #expect(answer.segments.map(\.statistics.maximum) == [.milliseconds(30), .milliseconds(5)])
    }

    @Test func aNameThatNothingHasSuggestsTheNearest() async throws {
        logIn("A", milliseconds: 1)
        let query = DurationQuestion(filter: logins, from: .begun, to: .event("requestSend"))
        let error = await #expect(throws: WaybillError.self) { try await tx.answer(query) }
        #expect(error?.code == .notFound)
        #expect(error?.message == "No event here is called “requestSend”: did you mean “requestSent”?")
    }

    @Test func anEventNeedsItsUseCase() async throws {
        logIn("A", milliseconds: 1)
        let query = DurationQuestion(filter: TransactionFilter(), from: .begun, to: .event("requestSent"))
        let error = await #expect(throws: WaybillError.self) { try await tx.answer(query) }
        #expect(error?.message == "“requestSent” is an event of some use case; say of which.")
    }

    @Test func questionsAndAnswersComeBackFromJSONAsTheyWere() async throws {
        logIn("A", milliseconds: 10)
        let questions: [any Question] = [
            SummaryQuestion(), DurationQuestion(filter: logins, segmentation: .attribute("version")),
            TransitionsQuestion(filter: logins),
            FunnelQuestion(
                filter: logins, steps: [.begun, .event("requestSent"), .finished], window: .microseconds(5),
                isStrict: true),
            DropOffQuestion(filter: logins),
            NetworkQuestion(transactions: logins, grouping: .method),
            CompareQuestion(
                filter: logins, groups: .windows(Range(microseconds: 0..<1), Range(microseconds: 1..<Int64(Int32.max)))),
            CompareQuestion(filter: logins, groups: .values(of: .attribute("variant"), "A", nil)),
        ]
        for question in questions { try await check(question) }
    }

    private func check<Asked: Question>(_ question: Asked) async throws {
        #expect(try JSONDecoder().decode(Asked.self, from: JSONEncoder().encode(question)) == question)
        let answer = try await tx.answer(question)
        #expect(try JSONDecoder().decode(Asked.Answer.self, from: JSONEncoder().encode(answer)) == answer)
    }
}
