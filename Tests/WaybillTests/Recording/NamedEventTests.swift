import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// Events that have only a name, like spans and log lines. Breaks when a format of numbered events has no place for
/// them.
@Suite(.timeLimit(.minutes(5))) struct NamedEventTests {
    let tx = TransactionManager.testing()

    private func events(_ tx: TransactionManager) throws -> [TransactionRecord.Entry] {
        try tx.transactions(Login.self).flatMap { $0.timeline.filter { $0.kind == .event } }
    }

    @Test func anEventIsShownByItsName() throws {
        let login = tx.begin(Login.self)
        login.log(named: "SELECT orders", attributes: ["rows": 3])
        login.log(.initiated)
        login.log(named: "SELECT orders", error: URLError(.timedOut))
        let events = try events(tx)
        #expect(events.map(\.label) == ["SELECT orders", "initiated", "SELECT orders"])
        #expect(events.first?.attributes == ["rows": 3])
        #expect(events.last?.error?.code == Int64(URLError.timedOut.rawValue))
    }

    @Test func theCodeIsTheSameInEveryProcessAndNoneOfTheApps() throws {
        let other = TransactionManager.testing()
        for manager in [tx, other] { manager.begin(Login.self).log(named: "cache miss") }
        let codes = try (events(tx) + events(other)).map { try #require($0.code) }
        #expect(codes[0] == codes[1])
        #expect(codes[0] <= Limits.largestInteger && codes[0] >= 1 << min(48, Int.bitWidth - 2))
    }

    /// Breaks when a foreign name is recorded unchanged, or without a limit.
    @Test func aNameIsRedactedAndCutAndNeverEmpty() throws {
        let login = tx.begin(Login.self)
        login.log(named: "mail to ada@example.com")
        login.log(named: "")
        login.log(named: String(repeating: "x", count: 10_000))
        let names = try events(tx).map(\.label)
        #expect(names == ["mail to [redacted]", "unnamed", String(repeating: "x", count: Limits.labelLength)])
    }

    @Test func beyondFiveHundredNamesTheEventSaysItsOwn() throws {
        let login = tx.begin(Login.self)
        for number in 0..<510 { login.log(named: "GET /orders/\(number)") }
        let purchase = tx.begin(Purchase.self)
        purchase.log(named: "GET /")
        let events = try events(tx)
        #expect(events.count == 510)
        #expect(Set(events.map(\.label)).count == 501)
        #expect(events.last?.label == "other")
        #expect(events.last?.attributes == ["event.name": "GET /orders/509"])
        let last = try tx.transactions(Purchase.self).first?.timeline.first { $0.kind == .event }
        #expect(last?.label == "other" && last?.attributes == ["event.name": "GET /"])
        #expect(login.log(named: "GET /orders/3") != .refused, "what was there before keeps its name")
    }

    @Test func theAppsHookIsToldTheName() {
        let seen = Locked<[String?]>([])
        let login = TransactionManager.testing { options in
            options.diagnostics = { _ in }
            options.willRecord = { draft in
                if case .event(let event) = draft { seen.withLock { $0.append(event.name) } }
                return draft
            }
        }.begin(Login.self)
        login.log(named: "cache miss")
        login.log(.initiated)
        #expect(seen.withLock { $0 } == ["cache miss", nil])
    }

    @Test func whatIsNotRecordedTakesNoName() {
        #expect(TransactionManager.disabled.begin(Login.self).log(named: "cache miss") == .off)
        tx.recording = .off
        #expect(tx.begin(Login.self).log(named: "cache miss") == .off)
    }
}
