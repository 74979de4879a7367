import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillTesting

/// Health says why nothing arrives although nothing is wrong.
@Suite(.timeLimit(.minutes(5))) struct HintTests {
    private let transport = InMemoryTransport()
    private let told = Locked<[String]>([])

    private func manager(delivery: Delivery?, hosts: [String] = []) -> TransactionManager {
        .testing(delivery: delivery, correlatedHosts: hosts) { options in
            options.diagnostics = { [told] sentence in told.withLock { $0.append(sentence) } }
        }
    }

    /// Breaks when the commonest mistake of a first hour, never starting delivery, shows nowhere.
    @Test func whatWaitsIsCountedUntilSomethingDelivers() async {
        let tx = manager(delivery: .transport(transport))
        #expect(tx.health.hints == [], "nothing waits")
        tx.begin(Login.self).log(.initiated)
        #expect(
            tx.health.hints == ["3 facts wait, and nothing was ever delivered: call startDelivery() once, or flush()."])
        #expect(tx.health.isGood, "nothing is wrong")
        await tx.flush()
        tx.perform(Login.self) { _ in }
        #expect(tx.health.hints == [], "it was asked for once, and will be again")
    }

    @Test func aManagerWithoutADeliverySaysSo() async {
        let tx = manager(delivery: nil)
        tx.perform(Login.self) { _ in }
        await tx.flush()
        #expect(tx.health.hints == ["2 facts wait, and there is nowhere to deliver to: give the manager a delivery."])
        tx.delivery = .transport(transport)
        #expect(await tx.flush().delivered == 2)
        #expect(tx.health.hints == [])
    }

    @Test func deliveryThatWasStartedIsNoReasonForAHint() {
        let tx = manager(delivery: .transport(transport))
        tx.startDelivery(every: .seconds(3_600))
        tx.perform(Login.self) { _ in }
        #expect(tx.health.hints == [])
    }

    /// Breaks when a developer looks for a fault in the network although recording is off.
    @Test func recordingThatIsOffIsSaid() {
        let tx = manager(delivery: .transport(transport))
        tx.recording = .off
        #expect(tx.health.hints == ["Recording is off: set `recording` to `.on`."])
        tx.recording = .on
        #expect(tx.health.hints == [])
        #expect(TransactionManager.disabled.health.hints.map { $0.contains("disabled") } == [true])
    }

    /// Breaks when a server's part is missing, and the reason appeared only on a console that nobody read.
    @Test func aHostWithoutTheHeaderFieldIsInHealthAsOnTheConsole() async throws {
        let tx = manager(delivery: .transport(transport), hosts: ["api.example.com"])
        let url = try #require(URL(string: "https://api.exmaple.com/login"))
        let login = tx.begin(Login.self)
        for _ in 1...2 { _ = tx.openExchange(ExchangeRequest(url: url), in: login) }
        await tx.flush()
        #expect(tx.health.hints.count == 1 && tx.health.hints[0].contains("api.exmaple.com"))
        tx.diagnostics.settle()
        #expect(told.withLock { $0 } == tx.health.hints, "told once, in the same words")
    }

    /// Breaks when memory grows with the hosts that an app talks to.
    @Test func hostsWithoutTheHeaderFieldAreBounded() async throws {
        let tx = manager(delivery: .transport(transport))
        let login = tx.begin(Login.self)
        for number in 1...50 {
            _ = tx.openExchange(
                ExchangeRequest(url: try #require(URL(string: "https://host\(number).example"))), in: login)
        }
        await tx.flush()
        #expect(tx.health.hints.count == 20)
    }

    /// Breaks when only a developer who asks for health learns that a collector refuses everything.
    @Test func aFailureOfDeliveryIsOnTheConsoleAsInHealth() async {
        let tx = manager(delivery: .transport(transport))
        tx.perform(Login.self) { _ in }
        for _ in 1...2 {
            transport.answerNext { _ in throw WaybillError(.transport, "The line is dead.") }
            await tx.flush()
            #expect(tx.health.problems.map(\.message) == ["The line is dead."])
        }
        tx.diagnostics.settle()
        #expect(told.withLock { $0 } == ["The line is dead."], "told once")
    }
}
