import Dispatch
import Foundation
import PowerLoss
import TestSupport
import Testing
import WaybillCore

@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct SourceWriterTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func writer(_ place: ResolvedLocation) -> SourceWriter {
        SourceWriter(
            source: SourceIdentity(id: GUID()), place: place, clock: SystemClock(), capacity: 1_000,
            writesByItself: false)
    }

    private func open(in writer: SourceWriter) {
        _ = writer.recorder.record(
            .opened(Fact.Opened(transaction: GUID(), useCase: 0, timeoutMicroseconds: 1_000_000)), part: 0)
    }

    /// Breaks when the first facts wait for SQLite. A program that ends soon would lose them.
    @Test func theFirstFactIsJournaledWithoutAStore() throws {
        let writer = SourceWriter(
            source: SourceIdentity(id: GUID()), place: .folder(folder.file("new/store")), clock: SystemClock(),
            capacity: 1_000, journalPatience: .seconds(60))
        let (isHeld, held) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        writer.thread.perform { _ in
            isHeld.signal()
            held.wait()
        }
        isHeld.wait()
        let opened = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0)
        #expect(opened.result == .journaled)
        #expect(writer.recorder.record(event: 0, part: opened.sequence).result == .journaled)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("new/store").path).count == 1)
        held.signal()
        #expect(try writer.runAndWait { _, store in try store.connection.integer("SELECT recorded FROM sources") } == 2)
    }

    /// Breaks when a system that gives no thread ends the safety from crashes silently.
    @Test func aJournalWithoutAThreadIsAProblemAndOpensLater() throws {
        let writer = SourceWriter(
            source: SourceIdentity(id: GUID()), place: .folder(folder.url), clock: SystemClock(), capacity: 1_000,
            startThread: { _ in EAGAIN }, writesByItself: false)
        let (isHeld, held) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        writer.thread.perform { _ in
            isHeld.signal()
            held.wait()
        }
        isHeld.wait()
        open(in: writer)
        let problem = writer.state.withLock { $0.journalProblem }
        let groups = [writer.recorder.opening, writer.recorder.recovering]
        let areFree = groups.map { $0.wait(timeout: .now()) == .success }
        held.signal()
        #expect(areFree == [true, true])
        let told = try #require(problem)
        #expect(told.message.contains("no thread") && told.cause == String(cString: strerror(EAGAIN)))
        try eventually("the journal is open") { writer.recorder.hasJournal }
        #expect(writer.problem == nil)
    }

    /// Breaks when a disk that does not respond blocks the caller, or when facts that wait in memory meanwhile are lost
    /// or duplicated.
    @Test func aJournalThatOpensLateTakesWhatWaitsInMemory() throws {
        let source = GUID()
        var lock: LockedJournalFile? = try LockedJournalFile(of: source, in: folder.url)
        let writer = SourceWriter(
            source: SourceIdentity(id: source), place: .folder(folder.url), clock: SystemClock(), capacity: 1_000,
            writesByItself: false)
        let opened = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0)
        #expect(opened.result == .inMemory)
        #expect(lock != nil)
        lock = nil
        try eventually("the journal is open") { writer.recorder.hasJournal }
        #expect(writer.recorder.record(event: 0, part: opened.sequence).result == .journaled)
        let left = try RecoveredJournalCopy(of: source, in: folder)
        #expect(left.facts.map(\.sequence) == [1, 2])
        #expect(try writer.runAndWait { _, store in try store.facts(of: source).map(\.sequence) } == [1, 2])
    }

    /// The facts that recovery would find in the journal of a running process.
    private struct RecoveredJournalCopy {
        let facts: [Fact]

        init(of source: GUID, in folder: TemporaryDirectory) throws {
            let copy = folder.file("copy")
            try FileManager.default.copyItem(at: folder.file("journal-\(source)"), to: copy)
            let journal = try RecoveredJournal(LockedJournalFile(path: copy.path))
            facts = journal.next(limit: .max)
        }
    }

    private func partCount(_ reader: StoreReader) throws -> Int {
        try reader.connection.integer("SELECT count(*) FROM parts")
    }

    /// Breaks when a running process uses its old schema to write into a store that a newer version has migrated, or
    /// reports this again with each batch.
    @Test func whatRunsStopsWritingOnceANewerVersionHasMigratedTheStore() async throws {
        let (time, said) = (ManualTime(), Locked<[WaybillError]>([]))
        let writer = SourceWriter(
            source: SourceIdentity(id: GUID()), place: .folder(folder.url), clock: time, capacity: 1_000, timer: time,
            tell: { error in said.withLock { $0.append(error) } })
        open(in: writer)
        try await writer.drain()
        let newer = try Connection(
            folder.file("waybill.sqlite").path, .readWrite, at: folder.file("waybill.sqlite").path)
        try newer.execute("PRAGMA user_version = \(Schema.version + 1)")
        for _ in 0..<3 {
            open(in: writer)
            await #expect(throws: WaybillError.self) { try await writer.drain() }
            try time.advance(by: .seconds(2))
        }
        await #expect(throws: WaybillError.self) { try await writer.sync() }
        #expect(try newer.integer("SELECT count(*) FROM parts WHERE sequence > 0") == 1)
        #expect(said.withLock(\.self).map { $0.message.contains("newer version") } == [true])
        #expect(writer.problem?.message.contains("newer version") == true)
        #expect(writer.recorder.hasJournal, "what was recorded since is in the journal, for an updated app")
    }

    /// Breaks when a batch counts as stored before it is written. Facts that could not be written would be lost.
    @Test(arguments: [true, false]) func aBatchThatCannotBeWrittenIsHandedOutAgain(hasJournal: Bool) async throws {
        let time = ManualTime()
        // No disk has room for this journal.
        let size = hasJournal ? JournalSize() : JournalSize(segmentCount: 1 << 10, segmentByteCount: 1 << 50)
        let writer = SourceWriter(
            source: SourceIdentity(id: GUID()), place: .folder(folder.url), clock: time, capacity: 1_000, timer: time,
            journalSize: size)
        open(in: writer)
        _ = writer.problem
        #expect(writer.recorder.hasJournal == hasJournal)
        try writer.runAndWait { _, store in
            try store.connection.execute(
                "CREATE TRIGGER full BEFORE INSERT ON parts BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        }
        for _ in 0..<3 {
            open(in: writer)
            try time.advance(by: .seconds(2))
        }
        #expect(writer.problem?.code == .store)
        try writer.runAndWait { _, store in try store.connection.execute("DROP TRIGGER full") }
        try time.advance(by: .seconds(2))
        #expect(try await writer.read { try partCount($0) } == 4)
        let ledger = try await writer.run { [source = writer.source] _, store in try store.ledgers()[source] }
        #expect(ledger == Ledger(recorded: 4, pending: 4))
    }

    /// Breaks when each early drain leaves one more timer behind. Under load the timers would multiply, and the store
    /// would be written all the time.
    @Test func drainsThatComeEarlyLeaveOneTimer() async throws {
        let time = ManualTime()
        let writer = SourceWriter(
            source: SourceIdentity(id: GUID()), place: .folder(folder.url), clock: time, capacity: 1_000, timer: time)
        for _ in 0..<10 {
            open(in: writer)
            try await writer.drain()
        }
        open(in: writer)
        #expect(time.timerCount(within: .seconds(1)) == 1)
        try time.advance(by: .seconds(1))
        #expect(try partCount(StoreReader(.folder(folder.url))) == 11)
    }

    /// Breaks when a screen does not show the facts of an app's extension, or is notified of them again and again; or
    /// when a store is checked although nobody watches.
    @Test func whatOthersRecordIsToldWhileSomebodyWatches() async throws {
        let (time, feed) = (ManualTime(), ChangeFeed())
        let writer = SourceWriter(
            source: SourceIdentity(id: GUID()), place: .folder(folder.url), clock: time, capacity: 1_000,
            changes: feed, timer: time)
        let other = SourceWriter(
            source: SourceIdentity(id: GUID()), place: .folder(folder.url), clock: time, capacity: 1_000, timer: time)
        func record(_ writer: SourceWriter) async throws -> GUID {
            let id = GUID()
            _ = writer.recorder.record(.opened(Fact.Opened(transaction: id, useCase: 0)), part: 0)
            try await writer.drain()
            return id
        }
        writer.watchOthers()
        try await writer.drain()
        #expect(time.timerCount(within: .seconds(60)) == 0, "nobody watches")

        var watching: (watcher: ChangeWatcher, bell: AsyncStream<Void>)? = feed.watch()
        writer.watchOthers()
        try await writer.drain()
        let first = try await record(other)
        try time.advance(by: .seconds(1))
        #expect(watching?.watcher.take() == .transactions([first]), "there was no store before")
        let own = try await record(writer)
        #expect(watching?.watcher.take() == .transactions([own]), "at once")
        let second = try await record(other)
        try time.advance(by: .seconds(1))
        #expect(watching?.watcher.take() == .transactions([second]))
        try time.advance(by: .seconds(10))
        #expect(watching?.watcher.take() == nil, "syncs are no changes")
        _ = try await other.run { _, store in try store.erase(.transactions([first]), at: 0) }
        try time.advance(by: .seconds(1))
        #expect(watching?.watcher.take() == .reload)
        watching = nil
        try time.advance(by: .seconds(10))
        #expect(time.timerCount(within: .seconds(2)) == 0, "nobody watches any more")
    }

    /// Breaks when every fact that a full journal refuses requests another drain. A busy app would queue thousands
    /// while the disk is slow or full, and a health check would wait behind them.
    @Test func factsThatAreRefusedShareOneDrain() async throws {
        let clock = CountingClock()
        let writer = SourceWriter(
            source: SourceIdentity(id: GUID()), place: .folder(folder.url), clock: clock, capacity: 1_000,
            journalSize: JournalSize(segmentCount: 2, segmentByteCount: 4096), journalPatience: .seconds(60))
        open(in: writer)
        #expect(writer.recorder.hasJournal)
        try await writer.drain()
        let written = DispatchSemaphore(value: 0)
        writer.perform { _ in written.wait() }
        let before = clock.wallReadCount
        var refusedCount = 0
        // Far more than the journal and the memory beside it can hold.
        for _ in 0..<10_000 where refusedCount < 2_000 {
            let part = writer.recorder.record(
                .opened(Fact.Opened(transaction: GUID(), useCase: 0, timeoutMicroseconds: 1_000_000)), part: 0)
            refusedCount += part.result == .refused ? 1 : 0
        }
        written.signal()
        try await writer.drain()
        #expect(clock.wallReadCount - before < 100, "each drain looks at the wall clock")
        #expect(refusedCount == 2_000 && writer.recorder.refusedCount == 2_000)
        #expect(try await writer.read { try partCount($0) } > 1, "what was taken before is stored")
    }

    /// Breaks when a burst that fits into the journal wakes the writer, which takes the processor from the app on a
    /// single-core device; or when nothing is stored before the journal is full.
    @Test func aBurstWakesTheWriterWhenHalfOfTheJournalIsFull() async throws {
        let time = ManualTime()
        let writer = SourceWriter(
            source: SourceIdentity(id: GUID()), place: .folder(folder.url), clock: time, capacity: 1_000, timer: time,
            journalSize: JournalSize(segmentCount: 8, segmentByteCount: 16_384))
        func eventCount() throws -> Int {
            try StoreReader(.folder(folder.url)).connection.integer("SELECT count(*) FROM events")
        }
        open(in: writer)
        try await writer.drain()
        // An event takes 40 bytes. This fills a third of the journal, then two thirds.
        for _ in 0..<1_100 { #expect(writer.recorder.record(event: 0, part: 1).result == .journaled) }
        writer.thread.sync { _ in }
        #expect(try eventCount() == 0)
        for _ in 0..<1_100 { #expect(writer.recorder.record(event: 0, part: 1).result == .journaled) }
        writer.thread.sync { _ in }
        #expect(try eventCount() > 1_500, "no time has passed")
        try time.advance(by: .seconds(1))
        #expect(try eventCount() == 2_200)
    }

    /// Breaks when a list lacks facts that were recorded a moment ago.
    @Test(arguments: [true, false]) func whoeverReadsReadsTheirOwnWrites(inMemory: Bool) async throws {
        let writer = writer(inMemory ? .memory(name: GUID().description) : .folder(folder.url))
        for count in 1...3 {
            open(in: writer)
            #expect(try await writer.read { try partCount($0) } == count)
        }
    }

    /// Breaks when an export that takes a minute fills the memory for waiting facts.
    @Test func aReadThatTakesLongHoldsUpNoWriting() async throws {
        let writer = writer(.folder(folder.url))
        open(in: writer)
        let (started, written) = (Gate(), DispatchSemaphore(value: 0))
        async let counts = writer.read { reader in
            try reader.read { () throws(WaybillError) in
                let before = try reader.connection.integer("SELECT count(*) FROM parts")
                started.open()
                written.wait()
                return [before, try reader.connection.integer("SELECT count(*) FROM parts")]
            }
        }
        await started.opened()
        open(in: writer)
        let stored = try await writer.run { _, store in try store.connection.integer("SELECT count(*) FROM parts") }
        written.signal()
        #expect(stored == 2, "written while the reader was at it")
        #expect(try await counts == [1, 1], "and the reader saw one state of the store")
    }

    /// Breaks when an error of a reader is swallowed, or spoils the next read.
    @Test func errorsReachTheReaderWhoAsked() async throws {
        let writer = writer(.folder(folder.url))
        let error = WaybillError(.store, "No.")
        await #expect(throws: error) { try await writer.read { _ in throw error } }
        #expect(try await writer.read { try partCount($0) } == 0)
    }
}

/// The system's clocks, with a count of the requests for the time of day.
private final class CountingClock: TransactionClock {
    private let count = Locked(0)

    var wallReadCount: Int { count.withLock { $0 } }

    func uptimeMicroseconds() -> Int64 { SystemClock().uptimeMicroseconds() }

    func wallMicroseconds() -> Int64 {
        count.withLock { $0 += 1 }
        return SystemClock().wallMicroseconds()
    }
}
