import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill

/// Common mistakes and their messages: each mistake is reported once, and counted from then on.
@Suite(.timeLimit(.minutes(5))) struct SilentMistakesTests {
    /// A mistake, as one line of a table.
    struct Mistake: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The message of the first time; its `1` and `2` are counts.
        let message: String
        /// Makes the mistake once.
        let make: @Sendable (TransactionManager, ManualClock) async throws -> Void

        init(
            _ name: String, _ message: String,
            _ make: @escaping @Sendable (TransactionManager, ManualClock) async throws -> Void
        ) {
            (testDescription, self.message, self.make) = (name, message, make)
        }

        func message(_ count: Int) -> String {
            switch count {
            case 1: message
            default:
                message.replacing(
                    "1 request to a correlated host was made", with: "2 requests to correlated hosts were made"
                )
                .replacing("1 request or event", with: "2 requests and events")
                .replacing("was used once", with: "was used 2 times")
                .replacing("given once", with: "given 2 times")
                .replacing("1 attribute was", with: "2 attributes were")
                .replacing("1 event was", with: "2 events were")
                .replacing("1 transaction or exchange was", with: "2 transactions and exchanges were")
            }
        }
    }

    private static func send(_ tx: TransactionManager) throws { tx.openExchange(try .correlated()).finish() }

    private static func attributes(_ prefix: String, _ count: Int) -> Attributes {
        var attributes: Attributes = [:]
        for number in 1...count { attributes["\(prefix)\(number)"] = .integer(Int64(number)) }
        return attributes
    }

    private static let outside =
        "1 request to a correlated host was made outside any transaction while `\(Login.name)` was open"
    private static let afterEnd =
        "1 request or event came from a task of `\(Login.name)` more than 60 s after that transaction had ended"
    private static let closed = "A handle of `\(Login.name)` was used once after its transaction had ended"

    static let mistakes = [
        Mistake("a request without `in:` while a handle is kept", outside) { tx, _ in
            let login = tx.begin(Login.self)
            try send(tx)
            login.finish()
        },
        Mistake("a request in Task.detached", outside) { tx, _ in
            try await tx.perform(Login.self) { _ in try await Task.detached { try send(tx) }.value }
        },
        Mistake("a request in a callback of Dispatch", outside) { tx, _ in
            try await tx.perform(Login.self) { _ in
                try await withCheckedThrowingContinuation { continuation in
                    DispatchQueue.global().async { continuation.resume(with: Result { try send(tx) }) }
                }
            }
        },
        Mistake("a request that passive capture sees outside", outside) { tx, _ in
            let login = tx.begin(Login.self)
            tx.sources.observeExchange(try .correlated(), of: nil).finish()
            login.finish()
        },
        Mistake("a second attempt by `perform` on a handle that has ended", closed) { tx, _ in
            let login = tx.begin(Login.self)
            try? login.perform { _ in throw Refused() }
            login.perform { $0.log(.initiated) }
        },
        Mistake("the same by the asynchronous `perform`", closed) { tx, _ in
            let login = tx.begin(Login.self)
            login.finish()
            await login.perform { _ in await Task.yield() }
        },
        Mistake("an event long after the end", closed) { tx, clock in
            let login = tx.begin(Login.self)
            login.finish()
            login.log(.initiated)
            clock.advance(by: .seconds(61))
            login.log(.initiated)
        },
        Mistake("a request with `in:` long after the end", closed) { tx, clock in
            let login = tx.begin(Login.self)
            login.finish()
            clock.advance(by: .seconds(61))
            tx.openExchange(try .correlated(), in: login).finish()
        },
        Mistake("a poller that was started in `perform`", afterEnd) { tx, clock in
            try await poll(in: tx, clock) { try send(tx) }
        },
        Mistake("a poller that asks for `current`", afterEnd) { tx, clock in
            try await poll(in: tx, clock) { #expect(Login.current == nil) }
        },
        Mistake("33 attributes of an event", "More than 32 attributes were given once") { tx, _ in
            tx.begin(Login.self).log(.initiated, attributes: attributes("a", 33))
        },
        Mistake("more attributes with those of the context", "More than 32 attributes were given once") { tx, _ in
            tx.context.set(attributes("c", 20))
            tx.begin(Login.self, attributes: attributes("a", 20)).finish()
        },
        Mistake("a value that is too long", "1 attribute was changed to fit") { tx, _ in
            tx.begin(Login.self).log(.initiated, attributes: ["note": .string(String(repeating: "x", count: 1_025))])
        },
    ]

    /// Runs code in a task of a transaction that ended a minute before.
    private static func poll(
        in tx: TransactionManager, _ clock: ManualClock, _ body: @escaping @Sendable () throws -> Void
    ) async throws {
        let hasEnded = Gate()
        let poller = tx.perform(Login.self) { _ in
            Task {
                await hasEnded.opened()
                try body()
            }
        }
        clock.advance(by: .seconds(61))
        hasEnded.open()
        try await poller.value
    }

    private let told = Locked<[String]>([])
    private let clock = ManualClock()

    private func manager(memoryCapacity: Int? = nil) -> TransactionManager {
        var options = TransactionManager.Options()
        options.diagnostics = { [told] message in told.withLock { $0.append(message) } }
        if let memoryCapacity { options.memoryCapacity = memoryCapacity }
        return .testing(clock: clock, correlatedHosts: ["api.example.com"]) { $0 = options }
    }

    @Test(arguments: mistakes)
    func isToldOnceAndThenCounted(_ mistake: Mistake) async throws {
        let tx = manager()
        try await mistake.make(tx, clock)
        tx.diagnostics.settle()
        #expect(
            told.withLock { $0.count } == 1 && told.withLock { $0[0] }.hasPrefix(mistake.message(1)),
            "\(told.withLock { $0 })")
        #expect(tx.diagnostics.hints == told.withLock { $0 })
        try await mistake.make(tx, clock)
        tx.diagnostics.settle()
        #expect(told.withLock { $0.count } == 1)
        #expect(tx.diagnostics.hints.map { $0.hasPrefix(mistake.message(2)) } == [true], "\(tx.diagnostics.hints)")
        #expect(tx.health.hints.contains { $0.hasPrefix(mistake.message(2)) })
        #expect(tx.health.isGood, "a mistake is no fault")
    }

    /// Correct uses that look like the mistakes above.
    static let rightUses = [
        Mistake("a request in `perform`", "") { tx, _ in try tx.perform(Login.self) { _ in try send(tx) } },
        Mistake("a request while nothing is open", "") { tx, _ in
            tx.perform(Login.self) { _ in }
            try send(tx)
        },
        Mistake("a request to another host", "") { tx, _ in
            let login = tx.begin(Login.self)
            tx.openExchange(ExchangeRequest(url: try #require(URL(string: "https://cdn.example")))).finish()
            login.finish()
        },
        Mistake("a task that ends soon after its transaction", "") { tx, clock in
            let hasEnded = Gate()
            let rest = tx.perform(Login.self) { _ in
                Task {
                    await hasEnded.opened()
                    #expect(Login.current?.log(.initiated) != nil)
                    try send(tx)
                }
            }
            clock.advance(by: .seconds(59))
            hasEnded.open()
            try await rest.value
        },
        Mistake("attempts in `withCurrent`, and one `finish`", "") { tx, _ in
            let login = tx.begin(Login.self)
            for _ in 1...2 { _ = await login.withCurrent { Login.current?.log(.requestSent) } }
            login.finish()
        },
        Mistake("a `finish` inside of `perform`", "") { tx, _ in
            tx.perform(Login.self) { $0.finish(.failed, code: 401) }
        },
        Mistake("32 attributes", "") { tx, _ in
            tx.begin(Login.self, attributes: attributes("a", 32)).finish()
        },
    ]

    @Test(arguments: rightUses)
    func whatIsRightIsNotTold(_ use: Mistake) async throws {
        let tx = manager()
        try await use.make(tx, clock)
        tx.diagnostics.settle()
        #expect(told.withLock { $0 } == [])
        #expect(tx.diagnostics.hints == [])
    }

    /// Breaks when a poller's work of the whole day is linked to that morning's login.
    @Test func whatIsMadeLongAfterTheEndBelongsToNoTransaction() async throws {
        let tx = manager()
        try await Self.poll(in: tx, clock) {
            try Self.send(tx)
            tx.perform(Purchase.self) { _ in }
        }
        #expect(try tx.transactions(Login.self).first?.exchanges.isEmpty == true)
        #expect(try tx.transactions(Purchase.self).first?.summary.parent == nil)
        #expect(try await tx.exchanges().rows.map(\.transaction) == [nil])
    }

    /// Breaks when a transaction that ended inside another one hides the outer one.
    @Test func whatIsAroundItIsCurrentThen() throws {
        let tx = manager()
        tx.perform(Purchase.self) { _ in
            tx.perform(Login.self) { _ in
                // It ends inside its own closure.
                Login.current?.finish()
                clock.advance(by: .seconds(61))
                #expect(Login.current == nil)
                #expect(Purchase.current?.log(.paid) != nil)
                #expect(UseCaseTransaction.current?.id == Purchase.current?.id)
            }
        }
        #expect(try tx.transactions(Purchase.self).flatMap { $0.events.map(\.event) } == [.paid])
    }

    /// A transaction that is made current on purpose stays current for its closure, however long ago the part ended.
    @Test func aClosedHandleCanStillBeMadeCurrent() async throws {
        let tx = manager()
        let login = tx.begin(Login.self)
        login.finish()
        clock.advance(by: .seconds(3_600))
        try login.perform { _ in try Self.send(tx) }
        #expect(try tx.transactions(Login.self).first?.exchanges.count == 1)
    }

    @Test func aBurstIsToldOnceWithWhatToDo() {
        let tx = manager(memoryCapacity: 64)
        let login = tx.begin(Login.self)
        for _ in 1...300 { login.log(.initiated) }
        tx.diagnostics.settle()
        let hints = tx.diagnostics.hints
        #expect(hints.count == 1 && hints[0].hasPrefix("\(tx.health.refused) events were not recorded"), "\(hints)")
        #expect(told.withLock { $0.map { $0.contains("Log one event with a count") } } == [true])
    }

    @Test func tooMuchThatIsOpenIsToldOnceWithWhatToDo() {
        let tx = manager(memoryCapacity: 64)
        let open = (1...300).map { _ in tx.begin(Login.self) }
        tx.diagnostics.settle()
        #expect(open.count == 300)
        #expect(
            told.withLock { $0.map { $0.contains("Finish each transaction") } } == [true], "\(told.withLock { $0 })")
        #expect(tx.diagnostics.hints.map { $0.hasPrefix("\(tx.health.refused) transactions") } == [true])
    }

    @Test func attributesOfTheSourceThatDoNotFitAreTold() {
        var options = TransactionManager.Options()
        options.diagnostics = { [told] message in told.withLock { $0.append(message) } }
        options.sourceAttributes = Self.attributes("a", 34)
        let tx = TransactionManager.testing { $0 = options }
        tx.diagnostics.settle()
        #expect(told.withLock { $0.map { $0.hasPrefix("2 attributes of `options.sourceAttributes`") } } == [true])
        #expect(tx.health.truncated == 2)
    }

    /// The message if an app uses a colleague's token that may only read.
    @Test func aTokenThatMayReadAndNotSendSaysWhichOneToCreate() async throws {
        let server = try LoopbackServer { _ in .init(status: 403) }
        let tx = manager()
        tx.delivery = .collector(server.url(), token: "read-only")
        tx.perform(Login.self) { _ in }
        for _ in 1...2 { await tx.flush() }
        tx.diagnostics.settle()
        #expect(told.withLock { $0.map { $0.contains("create one with `--role ingest`") } } == [true])
    }

    /// Memory does not grow with the number of use cases.
    @Test func useCasesOfHintsAreBounded() {
        let tx = manager()
        for number in 1...100 {
            let transaction = tx.begin(useCase: number)
            transaction.finish()
            transaction.perform { _ in }
        }
        #expect(tx.diagnostics.hints.count == 20)
        #expect(tx.diagnostics.hints.contains { $0.contains("`use case 7`") })
    }
}
