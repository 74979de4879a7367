import Foundation
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Answers about the errors that transactions closed with. Breaks when the error that came with a release hides among
/// the usual ones.
@Suite(.timeLimit(.minutes(5))) struct ErrorsAnswerTests {
    private let store: Store
    private let reader: StoreReader
    private static let rejected = RecordedError(domain: "LoginError", code: 3, name: "rejected")
    private static let lost = RecordedError(
        domain: "HTTP", code: 503,
        underlying: [.init(domain: "between", code: 1), .init(domain: "NSURLErrorDomain", code: -1005)])

    init() throws {
        let place: ResolvedLocation
        (store, place) = try Store.inMemory()
        reader = try StoreReader(place)
    }

    /// Records one transaction for each error, one second apart.
    @discardableResult
    private func record(
        version: String = "1", useCase: Int = 0, user: String? = nil, at seconds: Int64 = 0,
        _ errors: RecordedError?...
    ) throws -> [GUID] {
        let writer = FactWriter("shop", version: version, wall: FactWriter.wall + seconds * 1_000_000)
        writer.source.installation = GUID()
        writer.names = [RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 1, name: "sync")]
        let ids = errors.map { error in
            let id = GUID()
            let part = writer.open(id, useCase: useCase, attributes: user.map { ["user": .string($0)] } ?? [:])
            writer.close(part, error == nil ? .succeeded : .failed, error: error)
            return id
        }
        try store.ingest(writer.set())
        return ids
    }

    private func ask(_ question: ErrorsQuestion = ErrorsQuestion()) throws -> ErrorsAnswer {
        try reader.answer(question, now: FactWriter.wall)
    }

    /// Breaks when errors with the same name but different causes count as one, or errors with the same cause but
    /// different texts count as two.
    @Test func domainNameAndInnermostCauseMakeAnErrorWhatItIs() throws {
        var other = Self.rejected
        (other.code, other.text) = (1, "No such user")
        try record(Self.rejected, other, Self.lost, RecordedError(domain: "HTTP", code: 503), nil)
        let answer = try ask()
        #expect(answer.errorCount == 3 && answer.errors.map(\.count) == [2, 1, 1])
        #expect(answer.errors[0].error == RecordedError(domain: "LoginError", code: 1, name: "rejected"))
        #expect(answer.errors.allSatisfy { $0.transactions == 5 })
        #expect(
            answer.errors[2].error
                == RecordedError(
                    domain: "HTTP", code: 503, underlying: [.init(domain: "NSURLErrorDomain", code: -1005)])
        )
    }

    /// Breaks when the usual error of another use case or of a filtered version counts as a new one.
    @Test func newIsWhatTheWholeStoreDidNotHaveBefore() throws {
        try record(version: "1", useCase: 1, Self.rejected)
        try record(version: "2", at: 100, Self.rejected, Self.lost)
        let since = Date(microseconds: FactWriter.wall + 50_000_000)
        let version = TransactionFilter([.appVersion("2")])
        let answer = try ask(ErrorsQuestion(filter: version, newSince: since, order: .new))
        #expect(answer.errors.map(\.isNew) == [true, false])
        #expect(answer.errors.map(\.error.domain) == ["HTTP", "LoginError"])
        #expect(try ask(ErrorsQuestion(filter: version)).errors.map(\.isNew) == [nil, nil])
        // An error at exactly this time counts as new.
        let first = Date(microseconds: try #require(answer.errors.first).firstMicroseconds)
        let (atFirst, after) = (
            try ask(ErrorsQuestion(newSince: first)), try ask(ErrorsQuestion(newSince: first + 0.000_001))
        )
        func isNew(_ answer: ErrorsAnswer) -> Bool? { answer.errors.first { $0.error.domain == "HTTP" }?.isNew }
        #expect(isNew(atFirst) == true && isNew(after) == false)
    }

    /// Breaks when the share is relative to all use cases, or a person with two devices counts as two users.
    @Test func sharesAreOfTheUseCasesAndUsersAreDistinct() throws {
        try record(version: "1.9", user: "anna", at: -86_400, Self.rejected, nil, nil)
        try record(version: "1.10", user: "anna", Self.rejected)
        try record(useCase: 1, nil, nil)
        let entry = try #require(try ask().errors.first)
        #expect((entry.count, entry.transactions) == (2, 4))
        #expect((entry.users, entry.installations) == (1, 2))
        #expect(entry.versions == ["1.9", "1.10"])
        #expect(entry.useCases == [.init(useCase: 0, name: "login")])
        #expect(entry.rates.map(\.count) == [1, 1])
        #expect(entry.lastMicroseconds - entry.firstMicroseconds == 86_400_000_000)
    }

    /// Breaks when an error that the app handled counts as one that a transaction closed with.
    @Test func errorsOfEventsAndExchangesDoNotCount() throws {
        let writer = FactWriter()
        let part = writer.open(GUID())
        writer.event(1, part: part, error: Self.rejected)
        writer.close(part, .succeeded)
        try store.ingest(writer.set())
        let answer = try ask()
        #expect(answer.errors.isEmpty)
        #expect(answer.whyEmpty == "None of the 1 transaction that counts closed with an error.")
    }

    /// Breaks when the link of a row shows other transactions than the row counts.
    @Test func theFilterOfAnErrorSelectsExactlyItsTransactions() throws {
        var bare = Self.lost
        bare.underlying = []
        var odd = Self.rejected
        odd.name = "3 > \"2\" = \\"
        let errors = [Self.rejected, Self.lost, bare, odd, RecordedError(code: 3), RecordedError(code: 3, name: "3")]
        for error in errors { try record(error, error, nil) }
        let answer = try ask()
        #expect(answer.errorCount == errors.count)
        for entry in answer.errors {
            let text = FilterCondition.finishError(entry.error.identity).description
            let filter = TransactionFilter([try FilterCondition(text)])
            let found = try ask(ErrorsQuestion(filter: filter))
            #expect(found.errors.map(\.error) == [entry.error] && found.errors.first?.count == entry.count, "\(text)")
            #expect(found.errors.first?.transactions == entry.count, "\(text)")
        }
    }

    @Test func theLimitLeavesOutTheLeastFrequent() throws {
        try record(Self.rejected, Self.rejected, Self.lost)
        let answer = try ask(ErrorsQuestion(limit: 1))
        #expect(answer.errors.map(\.error.domain) == ["LoginError"] && answer.errorCount == 2)
        #expect(try ask(ErrorsQuestion(order: .last, limit: 1)).errors.map(\.error.domain) == ["HTTP"])
    }
}
