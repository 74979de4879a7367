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

/// Starting over as another installation.
@Suite(.timeLimit(.minutes(5))) struct ResetTests {
    private let folder: TemporaryDirectory
    private let transport = InMemoryTransport()

    init() throws { folder = try TemporaryDirectory() }

    private func installations(_ transactions: TransactionManager) async -> Set<GUID?> {
        let seen = transport.sets.count
        await transactions.flush()
        return Set(
            transport.transactionSets[seen...].flatMap { set in
                set.sources.filter { !$0.facts.isEmpty }.map(\.source.installation)
            })
    }

    /// Breaks when a user who asked to be forgotten is counted as the same device as before.
    @Test(arguments: [true, false]) func whatFollowsIsOfANewInstallation(inMemory: Bool) async throws {
        let transactions = TransactionManager(
            store: inMemory ? .inMemory : .directory(folder.url), delivery: .transport(transport), correlatedHosts: [])
        transactions.perform(Login.self) { _ in }
        let before = await installations(transactions)
        try await transactions.resetInstallation()
        transactions.perform(Login.self) { _ in }
        let after = await installations(transactions)
        #expect(before.count == 1 && after.count == 1 && before.isDisjoint(with: after))
        #expect(!before.contains(nil) && !after.contains(nil))
        #expect(try await transactions.transactions().page().rows.count == 2, "what was recorded stays")
        guard !inMemory else { return }
        let next = TransactionManager(store: .directory(folder.url), delivery: .transport(transport))
        next.perform(Login.self) { _ in }
        #expect(await installations(next) == after, "also in the next launch")
    }

    @Test func handlesFromBeforeGoOnInTheirSource() async throws {
        let server = try LoopbackServer { _ in .text("ok") }
        let transactions = TransactionManager(
            store: .directory(folder.url), delivery: .transport(transport), correlatedHosts: ["127.0.0.1"])
        let login = transactions.begin(Login.self)
        try await transactions.resetInstallation()
        transactions.perform(Purchase.self) { _ in }
        #expect(login.log(.requestSent) == .journaled, "its journal goes on, too")
        _ = try await transactions.session.data(for: URLRequest(url: server.url()), in: login)
        login.finish()
        let record = try #require(try await transactions.transaction(login.id))
        #expect(
            record.timeline.map(\.kind) == [.begun, .event, .exchangeBegun, .exchangeFinished, .finished],
            "read at once")
        #expect(record.sources.count == 1)
        let purchase = try #require(
            try await transactions.transactions().page().rows.first { $0.useCase == Purchase.code })
        #expect(try await transactions.transaction(purchase.id)?.sources != record.sources)
        #expect(
            server.requests.first?.header("Waybill-Transaction")?.contains(record.sources[0].id.description) == true)
        #expect(await transactions.flush().pending == 0)
        #expect(transactions.health.isGood)
    }

    @Test func withoutARecordingThereIsNothingToReset() async throws {
        let transactions = TransactionManager(store: .directory(folder.file("store"))) { $0.recording = .off }
        try await transactions.resetInstallation()
        try await TransactionManager.disabled.resetInstallation()
        #expect(try folder.names().isEmpty)
    }

    @Test func whereTheStoreCannotBeWrittenTheResetSaysSo() async throws {
        let transactions = TransactionManager(store: .directory(URL(filePath: "/proc/waybill")))
        transactions.perform(Login.self) { _ in }
        await #expect(throws: WaybillError.self) { try await transactions.resetInstallation() }
        #expect(try await transactions.transactions().page().rows.count == 1)
    }
}
