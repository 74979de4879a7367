import Foundation
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill

@Suite(.timeLimit(.minutes(5))) struct FeedbackTests {
    private func found(_ filter: String, in transactions: TransactionManager) async throws -> [GUID] {
        try await transactions.transactions(matching: filter).page().rows.map(\.id)
    }

    /// Breaks when support has a user's words without the transaction.
    @Test func wordsAreFoundWithTheirTransactionEvenAfterItsEnd() async throws {
        let clock = ManualClock()
        let said = Locked<[String]>([])
        let transactions = TransactionManager.testing(clock: clock) { options in
            options.diagnostics = { problem in said.withLock { $0.append("\(problem)") } }
        }
        let (login, other) = (transactions.begin(Login.self), transactions.begin(Login.self))
        #expect(try await found("has:feedback", in: transactions) == [], "the term needs no such event")
        #expect(try await found("event:feedback", in: transactions) == [])
        login.finish(.failed)
        clock.advance(by: .seconds(3_600))
        #expect([LogResult.journaled, .inMemory].contains(transactions.feedback("Card refused", about: login)))
        #expect(try await found("has:feedback", in: transactions) == [login.id])
        #expect(try await found("-has:feedback", in: transactions) == [other.id])
        #expect(try await found("\"card refused\"", in: transactions) == [login.id])
        let record = try #require(try await transactions.transaction(login.id))
        #expect(record.feedback == ["Card refused"])
        #expect(record.timeline.last?.timeMicroseconds == clock.wallMicroseconds())
        #expect(said.withLock { $0 } == [])
        other.finish()
    }

    @Test func anotherWordBehindHasIsNamed() async throws {
        let error = await #expect(throws: (any Error).self) {
            try await found("has:feedbak", in: TransactionManager.testing())
        }
        #expect("\(try #require(error))".contains("feedback"))
    }

    /// Breaks when text that a user pasted reaches the disk, or fills it.
    @Test func wordsAreRedactedAndCut() async throws {
        let transactions = TransactionManager.testing { $0.diagnostics = { _ in } }
        let login = transactions.begin(Login.self)
        transactions.feedback("my password=hunter22 and card 4111 1111 1111 1111", about: login)
        transactions.feedback(String(repeating: "no ", count: 1_000), about: login)
        let feedback = try #require(try await transactions.transaction(login.id)).feedback
        #expect(feedback.count == 2)
        #expect(!feedback[0].contains("hunter22") && !feedback[0].contains("1111 1111"))
        #expect(feedback[1].unicodeScalars.count <= 1_024)
        login.finish()
    }

    /// Breaks when a variant is missing from an open transaction or a later one, or is recorded with each call.
    @Test func aVariantJoinsWhatIsOpenAndWhatBeginsLater() async throws {
        let transactions = TransactionManager.testing()
        let early = transactions.begin(Login.self)
        for _ in 0..<3 { transactions.exposed("layout", "A") }
        transactions.begin(Login.self).finish()
        transactions.exposed("layout", "B")
        transactions.begin(Login.self).finish()
        transactions.exposed("layout", nil)
        transactions.begin(Login.self).finish()
        early.finish()
        let record = try #require(try await transactions.transaction(early.id))
        #expect(record.timeline.count { $0.kind == .attributesSet } == 3, "A, B and none")
        let filter = try await transactions.filter(parsing: "useCase:login")
        let answer = try await transactions.answer(
            DurationQuestion(filter: filter, segmentation: Segmentation("flag.layout")))
        #expect(answer.segments.map { "\($0.value ?? "-")" } == ["-", "A", "B"])
        #expect(try await found("attribute:flag.layout=B", in: transactions).count == 2)
    }
}
