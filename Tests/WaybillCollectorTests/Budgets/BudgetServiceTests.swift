#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillTesting

/// Budgets that a collector checks, with a receiver behind a real socket.
@Suite(.timeLimit(.minutes(5))) struct BudgetServiceTests {
    private let folder: TemporaryDirectory
    private let collector: Collector
    private let log = LogLines()

    init() throws {
        folder = try TemporaryDirectory()
        collector = try Collector(
            folder: folder.file("collected"), access: .open, limits: CollectorLimits(), clock: ManualClock())
    }

    private func budgets(_ text: String) throws -> [Budget] {
        try Data(text.utf8).write(to: folder.file("budgets.json"))
        return try Budget.read(folder.file("budgets.json"))
    }

    private var project: Project { get async throws { try await collector.projects.project(.standard) } }

    private func add(_ outcome: TransactionOutcome, recorded: Int64 = 2) async throws {
        let source = SourceIdentity(id: GUID(), app: "app")
        let facts = [
            Fact(
                sequence: 1, part: 1, atMicroseconds: 0, content: .opened(Fact.Opened(transaction: GUID(), useCase: 0))),
            Fact(sequence: 2, part: 1, atMicroseconds: 5, content: .closed(Fact.Closed(outcome: outcome))),
        ]
        let share = TransactionSet.Share(
            source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: LoginHistory.begun)],
            names: [RecordedName(useCase: 0, name: "login")], ledger: Ledger(recorded: recorded, pending: recorded),
            facts: facts)
        _ = try await project.store.add(
            ReceivedSet(TransactionSet(id: GUID(), sources: [share]), received: collector.clock.date))
    }

    private func check(_ budgets: [Budget], _ server: LoopbackServer, times: Int = 1) async throws {
        let left = Locked(times)
        let service = BudgetService(
            collector, budgets, to: try Webhook(server.url("/secret-path?key=secret-key")), logger: log.logger
        ) { pause in
            #expect(pause == .seconds(60))
            let isLast = left.withLock { left in
                left -= 1
                return left == 0
            }
            if isLast { withUnsafeCurrentTask { $0?.cancel() } }
        }
        try await service.run()
    }

    private func notices(_ server: LoopbackServer) throws -> [[String: Any]] {
        try server.requests.map { request in
            try #require(try JSONSerialization.jsonObject(with: request.body) as? [String: Any])
        }
    }

    /// Breaks when a broken budget is reported each minute, reported again after a restart, or never reported as met
    /// again.
    @Test func aBudgetIsPostedOnceWhenItBreaksAndOnceWhenItHoldsAgain() async throws {
        let server = try LoopbackServer { _ in .text("ok") }
        let budgets = try budgets(#"[{"use_case": "login", "failed_percent": 50}]"#)
        // The use case has no data yet.
        try await check(budgets, server, times: 2)
        #expect(server.requests.isEmpty && log.all.count { $0.contains("a budget is not checked") } == 1)

        try await add(.failed)
        try await check(budgets, server, times: 3)
        try await check(budgets, server)
        var notices = try notices(server)
        #expect(notices.count == 1 && server.requests[0].header("Content-Type") == "application/json")
        #expect(notices[0]["text"] as? String == "login: failures at most 50 %: broken, found 100.0 % of 1")
        #expect(notices[0]["project"] as? String == "waybill" && notices[0]["owing_sources"] as? Int == 0)

        try await add(.succeeded, recorded: 7)
        try await check(budgets, server, times: 3)
        notices = try self.notices(server)
        #expect(notices.count == 2 && notices[1]["owing_sources"] as? Int == 1)
        #expect(
            notices[1]["text"] as? String
                == "login: failures at most 50 %: holds again, found 50.0 % of 2\n1 source still owes facts.")
        let limits = try #require(notices[1]["limits"] as? [[String: String]])
        #expect(limits.map { $0["verdict"] } == ["holds"] && limits[0]["use_case"] == "login")
    }

    /// Breaks when an outage of the receiver loses or repeats a notice, or the log contains the secret of its address.
    @Test func aReceiverThatIsAwayGetsTheNewsLater() async throws {
        let isAway = Locked(true)
        let server = try LoopbackServer { _ in isAway.withLock { $0 } ? .init(status: 503) : .text("ok") }
        let budgets = try budgets(#"[{"use_case": "login", "failed_percent": 50}]"#)
        try await add(.failed)
        try await check(budgets, server, times: 2)
        #expect(server.requests.count == 2)
        isAway.withLock { $0 = false }
        try await check(budgets, server, times: 3)
        #expect(server.requests.count == 3)
        let values = try await project.counters.values
        #expect(values.failedPosts == 2 && values.acceptedPosts == 1)
        #expect(log.all.count { $0.contains("answered 503") } == 2)
        #expect(!log.all.contains { $0.contains("secret") })
    }

    /// Breaks when the collector keeps asking a receiver that always refuses.
    @Test func aChangeIsPostedABoundedNumberOfTimes() async throws {
        let server = try LoopbackServer { _ in .init(status: 410) }
        try await add(.failed)
        try await check(try budgets(#"[{"use_case": "login", "failed_percent": 50}]"#), server, times: 70)
        #expect(server.requests.count == 60)
    }

    /// Breaks when one budget that can't be checked hides the others, or a redirect sends the notice elsewhere.
    @Test func aBudgetThatCannotBeCheckedLeavesTheOthers() async throws {
        let other = try LoopbackServer { _ in .text("ok") }
        let server = try LoopbackServer { _ in .init(status: 307, headers: [("Location", "\(other.url())")]) }
        try await add(.failed)
        try await check(
            try budgets(
                #"[{"use_case": "no such", "failed_percent": 1}, {"use_case": "login", "failed_percent": 50}]"#), server
        )
        #expect(server.requests.count == 1 && other.requests.isEmpty)
    }

    @Test(arguments: ["ftp://example.com/", "/tmp", "http:///path"]) func onlyAnHTTPAddressIsAWebhook(text: String)
        throws
    {
        #expect(throws: WaybillError.self) { try Webhook(try #require(URL(string: text))) }
    }
}
#endif
