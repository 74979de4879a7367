import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill

/// The app's closures run with none of the library's locks or queues held, so they may use the manager.
@Suite(.timeLimit(.minutes(5))) struct CallbackTests {
    /// Lets a manager's options refer to the manager.
    private final class Box: Sendable {
        private let manager = Locked<TransactionManager?>(nil)
        var transactions: TransactionManager? {
            get { manager.withLock { $0 } }
            set { manager.withLock { $0 = newValue } }
        }
    }

    private let box = Box()
    private let called = Locked(0)

    private func manager(_ change: (inout TransactionManager.Options) -> Void) -> TransactionManager {
        let transactions = TransactionManager.testing(
            delivery: .transport(InMemoryTransport()), correlatedHosts: ["api.example.com"], configure: change)
        box.transactions = transactions
        return transactions
    }

    private func use() {
        _ = box.transactions?.health
        called.withLock { $0 += 1 }
    }

    /// Breaks when the process traps: the store's queue, which `health` waits for, finds the problems with the store.
    @Test func diagnosticsMayReadHealth() async throws {
        let problems = Locked<[String]>([])
        let transactions = TransactionManager(store: .directory(URL(filePath: "/proc/waybill"))) { options in
            options.diagnostics = { [box] _ in
                let found = box.transactions?.health.problems.map(\.message) ?? []
                problems.withLock { $0 += found }
            }
            // Under /proc not even root can make a folder.
        }
        box.transactions = transactions
        transactions.perform(Login.self) { _ in }
        try? await transactions.sync()
        transactions.diagnostics.settle()
        #expect(problems.withLock { $0.contains { $0.contains("/proc/waybill") } })
        box.transactions = nil
    }

    @Test func diagnosticsMayRecordAndDeliver() async throws {
        let transactions = manager { options in
            options.diagnostics = { [box, called] _ in
                guard let transactions = box.transactions else { return }
                transactions.perform(Purchase.self) { $0.log(.paid) }
                Task {
                    await transactions.flush()
                    called.withLock { $0 += 1 }
                }
            }
        }
        let login = transactions.begin(Login.self)
        login.finish()
        login.perform { _ in }
        try await eventually("the message was told, and the flush has ended") { called.withLock { $0 } == 1 }
        #expect(try transactions.transactions(Purchase.self).flatMap { $0.events.map(\.event) } == [.paid])
        box.transactions = nil
    }

    @Test func theHookMayReadHealth() throws {
        let transactions = manager {
            $0.willRecord = { [self] in
                use()
                return $0
            }
        }
        transactions.perform(Login.self) { login in
            login.log(.initiated)
            login.set("acme", forKey: "tenant")
            let exchange = (try? ExchangeRequest.correlated()).map { transactions.openExchange($0) }
            exchange?.finish()
        }
        #expect(called.withLock { $0 } == 6)
        box.transactions = nil
    }

    @Test func theFilterOfRequestsMayReadHealthAndSendARequest() throws {
        let request = try ExchangeRequest.correlated()
        let transactions = manager { options in
            options.network.shouldLog = { [self] _ in
                use()
                box.transactions?.openExchange(request).finish()
                return true
            }
        }
        transactions.perform(Login.self) { _ in transactions.openExchange(request).finish() }
        #expect(called.withLock { $0 } == 1, "it is not asked about its own request")
        #expect(try transactions.exchanges.count == 2)
        box.transactions = nil
    }

    /// Breaks when the flush waits for itself, and every later flush for it.
    @Test func whatAFlushAsksMayAskForAFlush() async throws {
        let nested = Locked<[FlushReport]>([])
        let transactions = manager { options in
            options.canFlush = { [self] in
                use()
                guard let report = await box.transactions?.flush() else { return true }
                let inDeadline = await box.transactions?.flush(deadline: .seconds(60))
                nested.withLock { $0 += [report, inDeadline ?? FlushReport()] }
                return true
            }
        }
        transactions.perform(Login.self) { _ in }
        #expect(await transactions.flush().delivered == 2)
        #expect(nested.withLock { $0.allSatisfy { $0.error?.message.contains("asked for a flush") == true } })
        transactions.perform(Login.self) { _ in }
        #expect(await transactions.flush().delivered == 2, "the next one is as any")
        box.transactions = nil
    }

    private struct Relay: FlushTransport {
        let ask: @Sendable () async -> Void

        func send(_ set: OutgoingSet) async throws -> Receipt {
            await ask()
            return Receipt(set: set.id, acceptedCount: set.factCount)
        }
    }

    /// Two managers whose transports wait for each other. The test above has the simplest case of this.
    @Test func aTransportMayAskForAFlushOfAnotherManager() async throws {
        let (first, second) = (Box(), Box())
        func manager(asking other: Box) -> TransactionManager {
            .testing(delivery: .transport(Relay { _ = await other.transactions?.flush() }))
        }
        let (one, two) = (manager(asking: second), manager(asking: first))
        (first.transactions, second.transactions) = (one, two)
        one.perform(Login.self) { _ in }
        two.perform(Login.self) { _ in }
        #expect(await one.flush().delivered == 2)
        #expect(await two.flush().pending == 0)
        (first.transactions, second.transactions) = (nil, nil)
    }

    /// Breaks when the handshake's lock is taken twice, which ends the process on some systems and hangs on others.
    @Test func whatIsAskedAboutAWebSocketMayUseIt() async throws {
        let socket = Locked<CapturedWebSocket?>(nil)
        let transactions = manager { options in
            options.willRecord = { draft in
                socket.withLock { $0 }?.resume()
                return draft
            }
        }
        let request = ExchangeRequest(url: try #require(URL(string: "wss://api.example.com/orders")))
        let carrier = ScriptedWebSocket()
        let made = CapturedWebSocket {
            CapturedWebSocket.Opened(carrier: carrier, record: transactions.openExchange(request))
        }
        socket.withLock { $0 = made }
        made.resume()
        #expect(carrier.isStarted)
        socket.withLock { $0 = nil }
        box.transactions = nil
    }

    @Test func whoWatchesMayReadHealth() async throws {
        let transactions = manager { _ in }
        var events = transactions.deliveryEvents.makeAsyncIterator()
        var changes = transactions.changes.makeAsyncIterator()
        transactions.perform(Login.self) { _ in }
        try await transactions.sync()
        #expect(await changes.next() != nil)
        use()
        await transactions.flush()
        #expect(await events.next() != nil)
        use()
        transactions.flush { [self] _ in use() }
        try await eventually("the flush has called back") { called.withLock { $0 } == 3 }
        box.transactions = nil
    }
}
