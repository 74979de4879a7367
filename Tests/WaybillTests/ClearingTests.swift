import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

/// Erasing on the device, as a user of the app would request it.
@Suite(.timeLimit(.minutes(5))) struct ClearingTests {
    private let transport = InMemoryTransport()

    private func manager(_ options: TransactionManager.Options = .init(), clock: ManualClock = ManualClock())
        -> TransactionManager
    {
        .testing(clock: clock, delivery: .transport(transport)) { $0 = options }
    }

    @Test func whatIsSelectedGoesAndTheRestStays() async throws {
        let clock = ManualClock()
        let transactions = manager(clock: clock)
        var ids: [GUID] = []
        for _ in 0..<4 {
            ids.append(transactions.perform(Login.self) { $0.id })
            clock.advance(by: .seconds(1))
        }
        #expect(try await transactions.erase(.ids([ids[1], GUID()])) == Erasure(transactionCount: 1, factCount: 2))
        #expect(try await transactions.transactions().page().rows.map(\.id) == [ids[3], ids[2], ids[0]])
        let third = try #require(try await transactions.transaction(ids[2])).summary.begunMicroseconds
        try await transactions.erase(.before(Date(timeIntervalSince1970: Double(third) / 1_000_000)))
        #expect(try await transactions.transactions().page().rows.map(\.id) == [ids[3], ids[2]])
        #expect(try await transactions.erase(.before(.distantPast)) == Erasure())
        try await transactions.erase(.before(.distantFuture))
        #expect(try await transactions.transactions().page().rows.isEmpty)
        #expect(try await transactions.counts.pending == 0, "booked as erased, and balanced")
        #expect(transactions.health.isGood)
    }

    /// Breaks when the collector waits for ever for erased facts, or receives their contents.
    @Test func theCollectorIsToldThatSomethingWasErasedAndNoMore() async throws {
        let transactions = manager()
        transactions.perform(Login.self, attributes: ["note": "marker"]) { $0.log(.initiated) }
        try await transactions.erase(.all)
        let id = transactions.perform(Login.self) { $0.id }
        let report = await transactions.flush()
        #expect(report.error == nil && report.pending == 0 && report.delivered == 2)
        let share = try #require(transport.transactionSets.first?.sources.first)
        #expect(share.dropped == [DroppedRange(first: 1, last: 3, reason: .erased)])
        #expect(share.facts.map(\.sequence) == [4, 5])
        #expect(!"\(transport.transactionSets)".contains("marker"))
        #expect(try await transactions.transactions().page().rows.map(\.id) == [id])
    }

    @Test func theInstallationIsWhatCameSinceTheLastReset() async throws {
        let transactions = manager()
        let before = transactions.perform(Login.self) { $0.id }
        try await transactions.resetInstallation()
        transactions.perform(Login.self) { _ in }
        try await transactions.erase(.installation)
        #expect(try await transactions.transactions().page().rows.map(\.id) == [before])
    }

    /// Breaks when a screen that is open during an erasure brings back a piece of the erased data.
    @Test func anErasedTransactionDoesNotComeBackByItsHandle() async throws {
        let transactions = manager()
        let login = transactions.begin(Login.self)
        login.log(.initiated)
        try await transactions.erase(.all)
        login.log(.requestSent, attributes: ["note": "marker"])
        login.finish()
        let other = transactions.perform(Login.self) { $0.id }
        let report = await transactions.flush()
        #expect(report.error == nil && report.pending == 0)
        #expect(try await transactions.transactions().page().rows.map(\.id) == [other])
        #expect(!"\(transport.transactionSets)".contains("marker"))
        #expect(try await transactions.counts == TransactionCounts())
    }

    /// Breaks when a screen that is open during an erasure looks open at the collector for ever.
    @Test func theEndOfWhatTheCollectorKnowsIsStillDelivered() async throws {
        let transactions = manager()
        let login = transactions.begin(Login.self)
        await transactions.flush()
        try await transactions.erase(.all)
        login.finish()
        #expect(await transactions.flush().delivered == 1)
        #expect(try await transactions.transactions().page().rows.isEmpty, "here it stays erased")
        #expect(try await transactions.counts == TransactionCounts())
    }

    @Test func whoeverWatchesIsToldToReadAgain() async throws {
        let transactions = manager()
        transactions.perform(Login.self) { _ in }
        try await transactions.sync()
        var changes = transactions.changes.makeAsyncIterator()
        try await transactions.erase(.all)
        #expect(await changes.next() == .reload)
    }

    @Test func whereNothingWasRecordedNothingIsErased() async throws {
        let folder = try TemporaryDirectory()
        #expect(
            try await TransactionManager(store: .directory(folder.file("store"))) { $0.recording = .off }.erase(.all)
                == Erasure())
        #expect(try await TransactionManager.disabled.erase(.installation) == Erasure())
        #expect(try folder.names().isEmpty)
    }

    @Test(arguments: [true, false]) func turningRecordingOffErasesWhatIsPendingIfAsked(erases: Bool) async throws {
        var options = TransactionManager.Options()
        options.erasesPendingWhenOff = erases
        let transactions = manager(options)
        let delivered = transactions.perform(Login.self) { $0.id }
        await transactions.flush()
        let pending = transactions.perform(Login.self) { $0.id }
        transactions.recording = .off
        try await transactions.sync()
        #expect(
            try await transactions.transactions().page().rows.map(\.id)
                == (erases ? [delivered] : [pending, delivered]))
        #expect(try await transactions.counts.pending == (erases ? 0 : 2))
    }

    /// Breaks when erased data can be read from the phone's file, in pages that SQLite no longer uses or in its log.
    @Test func theBytesAreGoneFromTheFiles() async throws {
        for (verb, isThere) in [("mark", true), ("erase", false)] {
            let parent = try TemporaryDirectory()
            let marker = "marker\(UInt64.random(in: 0...(.max)))"
            let folder = parent.url.appending(path: marker)
            let child = try ChildProcess("TestProcess", [verb, folder.path()])
            if verb == "erase" {
                #expect(child.line()?.hasPrefix("erased 50 ") == true)  // it still runs, with the store open
            } else {
                #expect(child.finish().status == 0)
            }
            var found = false
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path()) {
                let bytes = try Data(contentsOf: folder.appending(path: name))
                found = found || bytes.range(of: Data(marker.utf8)) != nil
            }
            #expect(found == isThere, "\(verb)")
        }
    }
}
