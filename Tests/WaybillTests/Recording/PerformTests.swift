import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// The outcomes that `perform`, `begin` and `finish` record. Breaks when every statistic of outcomes is wrong.
@Suite(.timeLimit(.minutes(5))) struct PerformTests {
    let tx = TransactionManager.testing()

    @Test func returningMeansSucceeded() async throws {
        let answer = tx.perform(Login.self) { login in
            login.log(.requestSent)
            login.log(.responseReceived)
            return 42
        }
        #expect(answer == 42)
        #expect(try tx.last(Login.self)?.events.map(\.event) == [.requestSent, .responseReceived])
        #expect(try tx.last(Login.self)?.outcome == .succeeded)
    }

    @Test func anErrorMeansFailedWithItsDomainAndCodeButNotItsWords() async throws {
        let error = NSError(domain: "Bank", code: 7, userInfo: [NSLocalizedDescriptionKey: "account 4711 is empty"])
        #expect(throws: NSError.self) { try tx.perform(Purchase.self) { _ in throw error } }
        let summary = try #require(tx.transactions(Purchase.self).first).summary
        #expect(summary.outcome == .failed)
        #expect(summary.error == RecordedError(domain: "Bank", code: 7))
    }

    @Test(arguments: [CancellationError() as any Error, URLError(.cancelled)])
    func cancellationMeansCancelled(_ error: any Error) throws {
        #expect(throws: (any Error).self) { try tx.perform(Login.self) { _ in throw error } }
        #expect(try tx.last(Login.self)?.outcome == .cancelled)
    }

    /// An app's own error around a request's error, as in most apps.
    private enum ShopError: Error {
        case offline(URLError)
        case declined(any Error, reason: String)
    }

    @Test(arguments: [
        ShopError.offline(URLError(.cancelled)), .declined(CancellationError(), reason: "left"),
        .declined(ShopError.offline(URLError(.cancelled)), reason: "left"),
    ])
    func cancellationBehindAnotherErrorMeansCancelled(_ error: any Error) async throws {
        let task = Task {
            try await tx.perform(Login.self) { _ in
                await Task.yield()
                throw error
            }
        }
        task.cancel()
        await #expect(throws: ShopError.self) { try await task.value }
        #expect(try tx.last(Login.self)?.outcome == .cancelled)
        #expect(throws: ShopError.self) {
            try tx.perform(Purchase.self) { _ in throw ShopError.offline(URLError(.timedOut)) }
        }
        #expect(try tx.last(Purchase.self)?.outcome == .failed)
    }

    @Test func finishingWithAnErrorHasFailed() throws {
        tx.begin(Login.self).finish(error: Refused())
        tx.begin(Login.self).finish(code: 503)
        tx.begin(Login.self).finish(error: ShopError.offline(URLError(.cancelled)))
        tx.begin(Login.self).finish(error: nil as (any Error)?)
        tx.begin(Login.self).finish(.succeeded, error: Refused())
        let outcomes = try tx.transactions(Login.self).map(\.summary.outcome)
        #expect(outcomes == [.failed, .failed, .cancelled, .succeeded, .succeeded])
        #expect(try tx.transactions(Login.self)[1].summary.error?.code == 503)
    }

    @Test func anExplicitFinishInsideWins() async throws {
        tx.perform(Login.self) { login in login.finish(.failed, code: 401) }
        #expect(try tx.last(Login.self)?.outcome == .failed)
        #expect(try tx.transactions(Login.self).first?.summary.error?.code == 401)
    }

    @Test func aClosureThatDoesNotWaitNeedsNoAsync() throws {
        #expect(throws: Refused.self) { try tx.perform(Login.self) { _ in throw Refused() } }
        #expect(tx.perform(Login.self) { $0.log(.initiated) } == .inMemory)
        #expect(try tx.transactions(Login.self).map(\.summary.outcome) == [.failed, .succeeded])
    }

    @Test func onlyTheFirstFinishCounts() throws {
        let login = tx.begin(Login.self)
        login.finish(.cancelled)
        login.finish(.succeeded)
        #expect(try tx.last(Login.self)?.outcome == .cancelled)
        #expect(try tx.transactions(Login.self).first?.timeline.count { $0.kind == .finished } == 1)
    }

    @Test func aCopyOfTheHandleKeepsTheTransactionOpen() throws {
        var login: UseCaseTransaction<Login>? = tx.begin(Login.self)
        var copy = login
        login = nil
        #expect(try tx.last(Login.self)?.outcome == .open)
        copy?.log(.initiated)
        copy = nil
        #expect(try tx.last(Login.self)?.outcome == .abandoned)
    }

    @Test func aDroppedHandleIsAbandoned() throws {
        do { tx.begin(Login.self).log(.initiated) }
        #expect(try tx.last(Login.self)?.outcome == .abandoned)
    }

    @Test func anEventAfterTheCloseIsKeptAndMarkedLate() throws {
        let login = tx.begin(Login.self)
        login.log(.requestSent)
        login.finish()
        login.log(.responseReceived)
        let events = try #require(tx.transactions(Login.self).first).timeline.filter { $0.kind == .event }
        #expect(events.map(\.isLate) == [false, true])
    }

    @MainActor final class ViewModel {
        var state = ""
        func logIn(_ tx: TransactionManager) async {
            await tx.perform(Login.self) { login in
                state = "sending"  // compiles only if the closure keeps the main actor's isolation
                login.log(.requestSent)
                await Task.yield()
                state = "sent"
            }
        }
    }

    @Test @MainActor func aMainActorCallerKeepsItsIsolation() async throws {
        let model = ViewModel()
        await model.logIn(tx)
        #expect(model.state == "sent")
        #expect(try tx.transactions(Login.self).flatMap { $0.events.map(\.event) } == [.requestSent])
    }

    @Test func theCurrentTransactionIsFoundWithoutTheHandle() async throws {
        #expect(Login.current == nil)
        await tx.perform(Login.self) { login in
            await tx.perform(Purchase.self) { _ in
                #expect(Login.current?.id == login.id, "the outer use case is still current")
                await Task { _ = Login.current?.log(.initiated) }.value
                Purchase.current?.log(.paid)
            }
            #expect(Purchase.current == nil)
        }
        #expect(try tx.transactions(Login.self).flatMap { $0.events.map(\.event) } == [.initiated])
        #expect(try tx.transactions(Purchase.self).flatMap { $0.events.map(\.event) } == [.paid])
    }

    @Test func numbersAloneWillDo() throws {
        let sync = tx.begin(useCase: 17, attributes: ["size": 3])
        sync.log(4, code: 500)
        sync.finish(.failed, code: 500)
        let record = try #require(tx.transactions(Numbered.self).first)
        #expect(record.summary.useCaseName == "use case 17")
        #expect(record.summary.attributes == ["size": 3])
        #expect(record.timeline.map(\.code) == [nil, 4, nil])
    }

    /// Breaks when facts that no collector accepts fill the quarantine without an explanation.
    @Test func aCodeThatNoCollectorTakesIsRefusedAndShown() {
        #expect(tx.begin(useCase: -1).log(1) == .refused)
        let sync = tx.begin(useCase: 1)
        #expect(sync.log(-1) == .refused)
        #expect(sync.log(1) == .inMemory)
        #expect(tx.health.impossibleCodes == 2)
    }

    /// Exists only to look up use case 17.
    private enum Numbered: Int, UseCase {
        static let code = 17
        case none = 0
    }

    @Test func whatIsDisabledRecordsNothing() async throws {
        let off = TransactionManager.disabled
        off.perform(Login.self) { login in
            #expect(login.log(.initiated) == .off)
            #expect(login.headers(for: URL(filePath: "/")).isEmpty)
        }
        #expect(try off.transactions(Login.self).flatMap(\.events).isEmpty)
        #expect(await off.flush() == FlushReport())
    }
}
