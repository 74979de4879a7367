#if os(Linux)
import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import WaybillStore

/// A store that several processes use. Any of them may be suspended, like apps and extensions by the system.
@Suite(.timeLimit(.minutes(5))) struct SharedStoreTests {
    let folder: TemporaryDirectory
    let transport = InMemoryTransport()

    init() throws { folder = try TemporaryDirectory() }

    private var shared: URL { folder.url.appending(path: "shared") }

    /// A process with the given name, which keeps its own files in its own folder.
    private func manager(
        _ name: String = "test", clock: any TransactionClock = SystemClock(), delivers: Bool = false,
        writesByItself: Bool = true
    ) -> TransactionManager {
        var options = TransactionManager.Options()
        options.clock = clock
        var settings = RecordingSettings(
            store: .directory(shared, journals: folder.url.appending(path: "own-\(name)")), correlatedHosts: [],
            options: options)
        settings.writesByItself = writesByItself
        return TransactionManager(
            settings: settings, delivery: delivers ? .transport(transport) : nil, diagnostics: { _ in })
    }

    private func child(_ verb: String) throws -> (process: ChildProcess, transaction: GUID) {
        let child = try ChildProcess("TestProcess", [verb, folder.url.path()])
        return (child, try #require(child.line().flatMap { GUID($0) }))
    }

    /// Lets a waiting process continue to its end.
    private func finish(_ child: ChildProcess) async throws -> (output: String, status: Int32) {
        try Data().write(to: folder.file("go"))
        child.signal(SIGCONT)
        return await child.finished()
    }

    private func codes(_ id: GUID, in transactions: TransactionManager) throws -> [Int] {
        try transactions.allRecords().first { $0.summary.id == id }?.timeline.compactMap(\.code) ?? []
    }

    /// Breaks when the system ends an app at each suspension because its store is in the container of its group.
    @Test func whileAProcessStandsStillNothingIsLockedAndTheOthersGoOn() async throws {
        let (child, id) = try child("share-idle")
        try child.stop()
        #expect(try FileLocks.held(by: child.id, in: shared) == [])
        #expect(try folder.names().contains("own-child"), "its journal is in its own folder")
        #expect(try !FileManager.default.contentsOfDirectory(atPath: shared.path).contains { $0.hasPrefix("journal-") })

        let other = manager(delivers: true)
        other.perform(Login.self) { $0.log(.requestSent) }
        try await other.sync()
        #expect(
            await other.flush() == FlushReport(delivered: 4), "one of the child, which it has written, and three here")
        #expect(try await other.transactions().page().rows.count == 2)
        #expect(other.health.isGood, "\(other.health.problems)")
        #expect(
            try other.allRecords().first { $0.summary.id == id }?.summary.outcome == .open, "it is not taken for dead")

        #expect(try await finish(child).status == 0)
        #expect(try codes(id, in: other) == [2])
        #expect(await other.flush() == FlushReport(delivered: 2))
        let sent = transport.transactionSets.flatMap {
            $0.sources.flatMap { share in share.facts.map { "\(share.source.id) \($0.sequence)" } }
        }
        #expect(Set(sent).count == 6)
        #expect(sent.count == 6, "nothing went twice")
    }

    /// Shows that the test above would find locks: a process that has a store to itself holds them.
    @Test func aProcessWithTheStoreToItselfHoldsItsLocks() async throws {
        let (child, _) = try child("share-plain")
        try child.stop()
        let locked = try FileLocks.held(by: child.id, in: shared)
        #expect(locked.contains { $0.hasPrefix("journal-") }, "\(locked)")
        #expect(locked.contains("waybill.sqlite"), "\(locked)")
        // If a process has a lock, other processes judge it by the lock.
        let other = manager()
        #expect(try other.last(Login.self)?.outcome == .open)
        #expect(try await finish(child).status == 0)
    }

    /// Breaks when one process that is suspended at the wrong moment stops all others, or makes them lose facts.
    @Test func whileAProcessStandsStillInTheMiddleOfWritingTheOthersKeepWhatTheyRecord() async throws {
        let before = manager("before", delivers: true)
        before.perform(Login.self) { $0.log(.initiated) }
        try await before.sync()
        let (child, id) = try child("share-writing")
        try await eventually("it stands still") { child.isStopped }
        #expect(try FileLocks.held(by: child.id, in: shared).contains("waybill.sqlite-lock"))

        // One manager from before, and one that is launched now.
        let after = manager("after", delivers: true)
        for transactions in [before, after] {
            let login = transactions.begin(Login.self)
            _ = transactions.health  // waits for the store's thread, which makes the journal
            #expect(login.log(.requestSent) == .journaled)
            login.finish()
            await #expect(throws: WaybillError.self) { try await transactions.sync() }
            #expect(transactions.health.problems.contains { $0.message.contains("Another process is writing") })
            #expect(await transactions.flush().error != nil)
        }
        // Existing records can be read.
        #expect(try await before.transactions().page().rows.count == 2)
        #expect(
            try before.sources.readableSource?.writer.runAndWait { opened, _ in try opened.reader().sources().count }
                ?? 0 > 1)

        #expect(try await finish(child).status == 0)
        for transactions in [before, after] {
            // Each waits at most a second for the other.
            try await eventually("what it has recorded is written") { (try? await transactions.sync()) != nil }
            try await eventually("all of it is delivered") { await transactions.flush().isComplete }
            #expect(transactions.health.isGood, "\(transactions.health.problems)")
        }
        let sent = transport.transactionSets.flatMap {
            $0.sources.flatMap { share in share.facts.map { "\(share.source.id) \($0.sequence)" } }
        }
        #expect(Set(sent).count == sent.count, "nothing went twice")
        #expect(try codes(id, in: after) == [2])
        let records = try after.allRecords()
        for source in Set(records.flatMap { $0.sources.map(\.id) }) {
            let sequences = records.flatMap { record in
                record.timeline.filter { $0.id.source == source }.map(\.id.sequence)
            }
            #expect(Set(sequences).count == sequences.count)
        }
        let ledgers = try #require(
            try after.sources.readableSource?.writer.runAndWait { _, store in try store.ledgers() })
        #expect(ledgers.count == 3)
        #expect(ledgers.values.allSatisfy { $0.dropped.isEmpty })
    }

    /// Breaks when an extension's journaled facts are lost with it, or are stored twice.
    @Test func whatAKilledProcessHadJournaledComesInWithItsNextLaunch() async throws {
        let child = try ChildProcess("TestProcess", ["share-journal", folder.url.path()])
        for _ in 0..<500 { try #require(child.line() != nil) }
        try child.stop()
        child.kill()
        let said = 500 + child.finish().output.split(separator: "\n").count

        let other = manager()
        #expect(try other.last(Login.self)?.outcome == .open, "it was heard of a moment ago")
        let clock = ManualClock(wallMicroseconds: SystemClock().wallMicroseconds())
        clock.advance(by: .microseconds(SystemClock().uptimeMicroseconds()) + .seconds(16 * 60))
        let later = manager("later", clock: clock)
        #expect(try later.last(Login.self)?.outcome == .interrupted, "it was silent for too long")

        let next = manager("child")
        let record = try #require(try next.allRecords().first)
        let numbers = record.timeline.compactMap { entry -> Int64? in
            if case .integer(let number) = entry.attributes["number"] { number } else { nil }
        }
        var journaled: [Int64] = []
        for number in numbers where journaled.last != number { journaled.append(number) }
        #expect(journaled.prefix(said) == ArraySlice(0..<Int64(said)))
        #expect(record.timeline.map(\.id.sequence) == Array(1...Int64(record.timeline.count)))
        #expect(record.summary.outcome == .interrupted)
        #expect(next.health.isGood, "\(next.health.problems)")
        let left = try FileManager.default.contentsOfDirectory(atPath: shared.path)
        #expect(!left.contains("alive-\(record.sources[0].id)"), "nobody has to wait for it any more")
    }

    /// Breaks when an app that was suspended for an hour in the middle of a login shows it as interrupted for good.
    @Test func aSourceThatWasSilentForTooLongIsTakenForEndedUntilItGoesOn() async throws {
        let clock = ManualClock(wallMicroseconds: SystemClock().wallMicroseconds())
        // Without timers, to be silent while the clock goes on.
        let first = manager("first", clock: clock, writesByItself: false)
        let login = first.begin(Login.self)
        try await first.sync()
        clock.advance(by: .seconds(14 * 60))
        #expect(try manager("second", clock: clock).last(Login.self)?.outcome == .open)
        clock.advance(by: .seconds(2 * 60))
        #expect(try manager("third", clock: clock).last(Login.self)?.outcome == .interrupted)
        login.log(.requestSent)
        #expect(try first.last(Login.self)?.outcome == .open)
        #expect(try manager("fourth", clock: clock).last(Login.self)?.outcome == .open)
        login.finish()
        #expect(try first.last(Login.self)?.outcome == .succeeded)
    }

    /// Breaks when a suspension at some moment loses or doubles facts.
    @Test func whoStandsStillAtAnyMomentLosesAndDoublesNothing() async throws {
        let (child, id) = try child("share-busy")
        let other = manager()
        var written = 0
        for round in 0..<25 {
            try child.stop()
            other.perform(Login.self, attributes: ["round": .integer(round)]) { $0.log(.requestSent) }
            // Facts wait only if the child is suspended while it writes.
            if (try? await other.sync()) != nil { written += 1 }
            child.signal(SIGCONT)
            try await eventually("it goes on") { !child.isStopped }
        }
        let (output, status) = try await finish(child)
        #expect(status == 0)
        let count = try #require(output.split(separator: "\n").last.flatMap { Int($0) })
        // An attempt that began while the child wrote may still be under way; it waits only briefly now.
        try await eventually("what it has recorded is written") { (try? await other.sync()) != nil }
        #expect(written > 0)
        #expect(try codes(id, in: other).filter { $0 == 1 }.count == count)
        #expect(try await other.transactions().page(limit: 100).rows.count == 26)
        #expect(other.health.isGood, "\(other.health.problems)")
        // True whatever the child was doing, and however busy this machine is.
        let longest = try #require(
            try other.sources.readableSource?.writer.runAndWait { opened, _ in opened.patience.longestNanoseconds })
        #expect(longest < 2_000_000_000, "no call waited longer than a second for the child")
    }
}
#endif
