import Foundation
import LoginAppModel
import TestSupport
import Testing
import Waybill
import WaybillQueries

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private typealias LogIn = LoginAppModel.Login

/// How `Examples/LoginApp` works, without its screens. Those are type-checked, and these lines of code run anywhere.
@Suite(.timeLimit(.minutes(5))) struct LoginAppTests {
    private let folder: TemporaryDirectory
    private let server: LoopbackServer

    init() throws {
        folder = try TemporaryDirectory()
        server = try LoopbackServer { request in
            let body = String(decoding: request.body, as: UTF8.self)
            return body.contains("letmein") ? .text("no", status: 401) : .text("welcome")
        }
    }

    private func manager(isRecording: Bool = true) -> TransactionManager {
        let manager = TransactionManager.app(
            server: server.url("/"), collector: nil, store: .directory(folder.file("store")))
        if isRecording { manager.recording = .on }
        return manager
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor private func form(_ transactions: TransactionManager) -> LoginForm {
        LoginForm(transactions: transactions, server: server.url("/"))
    }

    private func outcomes(_ transactions: TransactionManager) async throws -> [TransactionOutcome] {
        try await transactions.transactions().page().rows.map(\.outcome)
    }

    /// Breaks when the time that somebody spends typing is not recorded.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Test func theTimeThatTheFormTakesIsAsked() async throws {
        let transactions = manager()
        let form = form(transactions)
        form.appear()
        #expect(!form.canSubmit)
        for (name, key) in [("a", "d"), ("ad", "di"), ("ada", "difference")] {
            (form.user, form.password) = (name, key)
        }
        #expect(form.canSubmit)
        await form.submit()
        #expect(form.phase == .loggedIn)
        form.disappear()
        #expect(try await outcomes(transactions) == [.succeeded])

        let logins = TransactionFilter(useCase: LogIn.self)
        let filling = DurationQuestion(filter: logins, from: .event("fillingBegan"), to: .event("submitted"))
        #expect(try await transactions.answer(filling).total.statistics.count == 1)
        let failures = transactions.live
        var states = failures.makeAsyncIterator()
        #expect(await states.next()?.counts.failed == 0)
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Test func whoIsRefusedReadsTheSupportCodeAndTheNextKeyBeginsAnotherLogin() async throws {
        let transactions = manager()
        let form = form(transactions)
        form.appear()
        (form.user, form.password) = ("ada", "letmein")
        await form.submit()
        let refused = try #require(try await transactions.transactions().page().rows.first)
        #expect(refused.outcome == .failed)
        #expect(form.phase == .failed("Name or password is wrong. Tell support: \(refused.id.supportCode)"))
        var states = transactions.live.makeAsyncIterator()
        #expect(await states.next()?.lastFailures.map(\.id) == [refused.id], "What the badge shows.")

        form.password = "difference engine"
        await form.submit()
        #expect(form.phase == .loggedIn)
        #expect(try await outcomes(transactions) == [.succeeded, .failed])
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Test func whoLeavesTheFormHasAbandonedTheLogin() async throws {
        let transactions = manager()
        let form = form(transactions)
        form.appear()
        form.user = "ada"
        form.disappear()
        #expect(try await outcomes(transactions) == [.abandoned])
    }

    /// Breaks when the button does nothing after a failure, or when the second attempt is not recorded.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Test func whoTapsAgainAfterAFailureSendsAnotherLogin() async throws {
        let transactions = manager()
        let form = form(transactions)
        form.appear()
        (form.user, form.password) = ("ada", "letmein")
        await form.submit()
        #expect(form.canSubmit)
        await form.submit()
        #expect(server.requests.count == 2)
        #expect(try await outcomes(transactions) == [.failed, .failed])
    }

    /// Breaks when the first login of a user who agrees to recording is missing because it began before the answer.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Test(arguments: [true, false]) func theFirstLoginOfAUserWhoConsentsIsRecorded(isTold: Bool) async throws
    {
        let defaults = try #require(UserDefaults(suiteName: "waybill-\(UUID())"))
        let transactions = manager(isRecording: false)
        let form = form(transactions)
        form.appear()
        Consent(transactions: transactions, defaults: defaults).answer(true)
        if isTold { form.appear() }
        (form.user, form.password) = ("ada", "difference engine")
        await form.submit()
        #expect(try await outcomes(transactions) == [.succeeded])
        let events = try await transactions.transactions().page().rows.first?.id
        let record = try await transactions.transaction(#require(events))
        #expect(record?.timeline.compactMap(\.code) == [0, 3, 4, 1, 2])
    }

    /// Breaks when a sheet over the form, or another answer to the same question, begins a separate login.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Test func aFormThatAppearsTwiceIsOneLogin() async throws {
        let transactions = manager()
        let form = form(transactions)
        form.appear()
        form.user = "ada"
        form.appear()
        form.password = "difference engine"
        await form.submit()
        form.appear()
        #expect(try await outcomes(transactions) == [.succeeded])
    }

    /// Breaks when a name or a password gets into the store.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Test func neitherNameNorPasswordIsRecorded() async throws {
        let transactions = manager()
        let form = form(transactions)
        form.appear()
        (form.user, form.password) = ("lovelace-1815", "letmein-hunter2")
        await form.submit()
        try await transactions.sync()
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.file("store").path) {
            let bytes = try Data(contentsOf: folder.file("store").appending(path: file))
            #expect(bytes.range(of: Data("lovelace-1815".utf8)) == nil, "\(file)")
            #expect(bytes.range(of: Data("hunter2".utf8)) == nil, "\(file)")
        }
    }

    /// Breaks when something is recorded before the user has agreed, or after the user has withdrawn consent.
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @MainActor @Test func nothingIsRecordedWithoutConsent() async throws {
        let defaults = try #require(UserDefaults(suiteName: "waybill-\(UUID())"))
        let transactions = manager(isRecording: false)
        let consent = Consent(transactions: transactions, defaults: defaults)
        #expect(consent.isGiven == nil)
        let form = form(transactions)
        form.appear()
        (form.user, form.password) = ("ada", "letmein")
        await form.submit()
        #expect(try await outcomes(transactions).isEmpty)

        consent.answer(true)
        #expect(transactions.recording == .on)
        form.password = "difference engine"
        await form.submit()
        #expect(try await outcomes(transactions) == [.succeeded])
        #expect(Consent(transactions: transactions, defaults: defaults).isGiven == true, "It is not asked again.")

        consent.answer(false)
        #expect(transactions.recording == .off)
        let count = try await outcomes(transactions).count
        await self.form(transactions).submit()
        #expect(try await outcomes(transactions).count == count)
    }
}
