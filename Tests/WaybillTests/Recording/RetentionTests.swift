import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import WaybillStore

/// The limits that an app can set on retention, and the report of a damaged store.
@Suite(.timeLimit(.minutes(5))) struct RetentionTests {
    private func manager(
        _ retention: Retention, _ store: StoreLocation = .inMemory, clock: ManualClock = ManualClock(),
        told: Told = Told()
    )
        -> TransactionManager
    {
        TransactionManager(store: store) { options in
            options.retention = retention
            options.clock = clock
            options.diagnostics = { told.add($0) }
        }
    }

    private final class Told: Sendable {
        private let sentences = Locked<[String]>([])
        func add(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
        var all: [String] { sentences.withLock { $0 } }
    }

    /// Breaks when a limit that can't work keeps nothing, or is applied without a warning.
    @Test func limitsThatKeepNothingAreReplaced() {
        var retention = Retention()
        retention.maximumByteCount = 0
        retention.maximumAge = .zero
        let problems = manager(retention).health.problems
        #expect(problems.map(\.code) == [.setting, .setting])
        #expect(manager(Retention()).health.isGood)
    }

    @Test func whatIsTooOldGoesWhenSomethingIsWritten() async throws {
        let clock = ManualClock()
        let transactions = manager(Retention(), clock: clock)
        transactions.perform(Login.self) { _ in }
        try await transactions.sync()
        clock.advance(by: .seconds(31 * 86_400))
        let id = transactions.begin(Login.self).id
        try await transactions.sync()
        #expect(try await transactions.transactions().page().rows.map(\.id) == [id])
    }

    /// Breaks when an app whose store was damaged gets no report, or gets one with every batch.
    @Test func aDamagedStoreIsToldOnceAndRecordingGoesOn() async throws {
        let folder = try TemporaryDirectory()
        try Data(repeating: 0x5A, count: 10_000).write(to: folder.file("waybill.sqlite"))
        let told = Told()
        let transactions = manager(Retention(), .directory(folder.url), told: told)
        for _ in 0..<3 {
            transactions.perform(Login.self) { _ in }
            try? await transactions.sync()
        }
        #expect(try await transactions.transactions().page().rows.count == 3)
        transactions.diagnostics.settle()
        #expect(told.all.count == 1 && told.all.first?.contains("was damaged") == true, "\(told.all)")
        #expect(transactions.health.problems.map(\.code) == [.damaged])
    }
}
