import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private enum SignUp: Int, UseCase {
    static let code = 30
    case rejected = 0
}
private enum Attempt: Int, UseCase {
    static let code = 31
    case sent = 0
}
private enum Sync: Int, UseCase {
    static let code = 32
    case done = 0
}
private enum Checkout: Int, UseCase {
    static let code = 33
    case paid = 0
}
private enum Payment: Int, UseCase {
    static let code = 34
    case authorized = 0
}
private enum PaymentError: Error { case declined }

/// The guide on the current transaction: its table, row by row, and its snippets as they appear there.
@Suite(.timeLimit(.minutes(5))) struct CurrentTransactionTests {
    private let transactions = TransactionManager.testing(correlatedHosts: ["127.0.0.1"])

    private actor Mailbox {
        func isInherited() -> Bool { Login.current != nil }
    }

    /// A place in code, and whether the transaction is current there.
    struct Place: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let inherits: Bool
        let look: @Sendable () async -> Bool

        init(_ name: String, inherits: Bool, _ look: @escaping @Sendable () async -> Bool) {
            (testDescription, self.inherits, self.look) = (name, inherits, look)
        }
    }

    private static func isCurrent() -> Bool { Login.current != nil }

    static let places = [
        Place("the same function, across await", inherits: true) {
            await Task.yield()
            return isCurrent()
        },
        Place("async let", inherits: true) {
            async let found = isCurrent()
            return await found
        },
        Place("a task group", inherits: true) {
            await withTaskGroup(of: Bool.self) { group in
                group.addTask { isCurrent() }
                return await group.next() == true
            }
        },
        Place("a method of an actor", inherits: true) { await Mailbox().isInherited() },
        Place("Task", inherits: true) { await Task { isCurrent() }.value },
        Place("Task.detached", inherits: false) { await Task.detached { isCurrent() }.value },
        Place("Dispatch", inherits: false) {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: isCurrent()) }
            }
        },
        Place("asyncAfter", inherits: false) {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now()) { continuation.resume(returning: isCurrent()) }
            }
        },
        Place("a timer", inherits: false) {
            let timer = DispatchSource.makeTimerSource()
            defer { timer.cancel() }
            return await withCheckedContinuation { continuation in
                timer.schedule(deadline: .now())
                timer.setEventHandler { continuation.resume(returning: isCurrent()) }
                timer.activate()
            }
        },
        Place("a completion handler", inherits: false) {
            guard let server = try? LoopbackServer({ _ in .text("") }) else { return true }
            defer { withExtendedLifetime(server) {} }
            return await withCheckedContinuation { continuation in
                URLSession.shared.dataTask(with: server.url()) { _, _, _ in
                    continuation.resume(returning: isCurrent())
                }.resume()
            }
        },
        Place("a loop over what is sent inside", inherits: true) {
            let (stream, continuation) = AsyncStream<Bool>.makeStream()
            Task.detached {
                continuation.yield(isCurrent())
                continuation.finish()
            }
            var found = true
            for await isSenders in stream { found = !isSenders && isCurrent() }
            return found
        },
    ]

    @Test(arguments: places)
    func theTableIsRight(_ place: Place) async {
        let found = await transactions.perform(Login.self) { _ in await place.look() }
        #expect(found == place.inherits)
    }

    @Test func takingItAlong() async throws {
        let server = try LoopbackServer { _ in .text("fine") }
        let (queue, request) = (DispatchQueue(label: "app"), URLRequest(url: server.url()))
        @Sendable func sendPassword() async { Login.log(.responseReceived) }
        let login = transactions.begin(Login.self)
        queue.async { login.log(.requestSent) }
        let (data, _) = try await transactions.session.data(for: request, in: login)
        queue.sync {}
        let task =
            Task.detached {
                await login.withCurrent { await sendPassword() }
            }
        await task.value
        #expect(data == Data("fine".utf8))
        #expect(try transactions.last(Login.self)?.events.map(\.event) == [.requestSent, .responseReceived])
        #expect(try transactions.transactions(Login.self).first?.exchanges.count == 1)
    }

    @Test func beginningOneBelowAnother() async throws {
        let transactions = TransactionManager.testing()
        let order = GUID()
        func authorize(_ order: GUID) async throws {}
        try await transactions.perform(Checkout.self) { checkout in
            try await transactions.perform(Payment.self) { payment in
                try await authorize(order)
                payment.log(.authorized)
            }
        }
        let first = try #require(transactions.transactions(Checkout.self).first)
        #expect(try transactions.transactions(Payment.self).map(\.summary.parent) == [first.summary.id])
        let checkout = transactions.begin(Checkout.self)
        let payment = transactions.begin(Payment.self, parent: .transaction(checkout))
        let sync = transactions.begin(Sync.self, parent: nil)
        payment.finish()
        sync.finish()
        #expect(try transactions.transactions(Payment.self).last?.summary.parent == checkout.id)
        #expect(try transactions.transactions(Sync.self).first?.summary.parent == nil)
    }

    @Test func aPollerHasTransactionsOfItsOwn() async throws {
        let poller = Locked<Task<Void, Never>?>(nil)
        @Sendable func fetchNews() async { poller.withLock { $0 }?.cancel() }
        let hasPoller = Gate()
        let task =
            Task.detached {
                await hasPoller.opened()
                while !Task.isCancelled {
                    await transactions.perform(Sync.self) { _ in await fetchNews() }
                    try? await Task.sleep(for: .seconds(30))
                }
            }
        poller.withLock { $0 = task }
        hasPoller.open()
        await task.value
        #expect(try transactions.transactions(Sync.self).count == 1)
    }

    @Test func severalAttempts() async throws {
        let forms = Locked(["wrong", "right"])
        func nextForm() async -> String? { forms.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        func send(_ form: String) async -> Bool { form == "right" }
        let signUp = transactions.begin(SignUp.self)
        while let form = await nextForm() {
            if await signUp.withCurrent({ await send(form) }) { break }
            signUp.log(.rejected)
        }
        signUp.finish()
        #expect(try transactions.last(SignUp.self)?.outcome == .succeeded)
        #expect(try transactions.last(SignUp.self)?.events.map(\.event) == [.rejected])
        #expect(transactions.health.hints.allSatisfy { !$0.contains("handle") })
    }

    @Test func aChildForEachAttempt() async throws {
        func sendOnce() async throws {}
        let signUp = transactions.begin(SignUp.self)
        try await transactions.perform(Attempt.self, parent: .transaction(signUp)) { _ in try await sendOnce() }
        signUp.finish()
        #expect(try transactions.transactions(Attempt.self).first?.summary.parent == signUp.id)
    }

    /// Breaks when the guide shows code that was never compiled.
    @Test func theGuideShowsWhatIsTested() throws {
        #expect(try Guide.linesOfSnippets("CurrentTransaction.md", notIn: [URL(filePath: #filePath)]) == [])
    }

    @Test func comingFromSentry() throws {
        struct Account { var id = "u-4711" }
        struct Coupon { var code = "SUMMER" }
        let (account, coupon) = (Account(), Coupon())
        let tags = Locked<[String: String]>([:])
        func tag(_ name: String, _ value: String) { tags.withLock { $0[name] = value } }
        transactions.context.setUser(account.id)  // hashed
        let checkout = transactions.begin(Checkout.self)
        checkout.set(coupon.code, forKey: "coupon")
        checkout.log(.paid, error: PaymentError.declined)
        checkout.finish(.failed, error: PaymentError.declined)
        tag("waybill", checkout.supportCode.description)
        let summary = try #require(transactions.transactions(Checkout.self).first).summary
        #expect(summary.outcome == .failed && summary.error?.name == "declined")
        #expect(tags.withLock { $0.values.first } == checkout.supportCode.description)
    }

    @Test func comingFromOpenTelemetry() throws {
        let transactions = TransactionManager.testing(correlatedHosts: ["api.example.com"]) { options in
            options.server.traceContext = .propagate
            options.app = "shop-server"
            options.appVersion = "1.4.2"
        }
        let url = try #require(URL(string: "https://api.example.com/login"))
        #expect(transactions.begin(Login.self).headers(for: url)["traceparent"] != nil)
        #expect(try transactions.allRecords().first?.sources.first?.appVersion == "1.4.2")
    }
}
