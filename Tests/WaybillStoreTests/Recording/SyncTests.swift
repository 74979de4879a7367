#if os(Linux)
import Foundation
import PowerLoss
import TestSupport
import Testing
import WaybillCore
@testable import WaybillStore

/// Checks when recorded facts reach the disk. Time is advanced manually.
@Suite(.timeLimit(.minutes(5))) struct SyncTests {
    private let folder: TemporaryDirectory
    private let time = ManualTime()
    private let disk: RecordingDisk

    init() throws {
        folder = try TemporaryDirectory()
        try FileManager.default.createDirectory(at: folder.file("disk"), withIntermediateDirectories: true)
        disk = try RecordingDisk(folder.file("disk"), clock: time)
    }

    private func writer(_ journalSize: JournalSize = JournalSize(segmentCount: 2, segmentByteCount: 8192))
        -> SourceWriter
    {
        SourceWriter(
            source: SourceIdentity(id: GUID()), place: .folder(disk.folder.appending(path: "store")), clock: time,
            capacity: 1_000,
            timer: time,
            journalSize: journalSize)
    }

    private func open(in writer: SourceWriter) {
        _ = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0)
        _ = writer.problem  // the store's thread has finished its work
    }

    /// Returns the number of parts found if the power fails now, with only synced data on the disk.
    private func partCount() throws -> Int {
        let found = folder.file("\(GUID())")
        try disk.rebuild(after: PowerCut(after: disk.look(), reach: .nothing), in: found)
        let store = try Store(.folder(found.appending(path: "store")))
        _ = try store.recoverJournals(in: found.appending(path: "store"), installation: nil)
        return try store.connection.integer("SELECT count(*) FROM parts")
    }

    /// Breaks when the timer is not set, is set too late, or waits for a journal; or when a folder's name was not
    /// synced.
    @Test(arguments: [true, false])
    func aFactIsOnTheDiskBeforeItIsFiveSecondsOld(hasJournal: Bool) throws {
        // No disk has room for this journal.
        let writer = hasJournal ? writer() : writer(JournalSize(segmentCount: 1 << 10, segmentByteCount: 1 << 50))
        open(in: writer)
        #expect(writer.recorder.hasJournal == hasJournal)
        #expect((writer.problem == nil) == hasJournal)
        try time.advance(by: .seconds(4))
        open(in: writer)
        try time.advance(by: .milliseconds(950))
        #expect(try partCount() >= 1)
        try time.advance(by: .seconds(4))
        #expect(try partCount() == 2)
    }

    /// Breaks when `sync()` returns too early.
    @Test func whatIsSyncedIsOnTheDiskAtOnce() async throws {
        let writer = writer()
        open(in: writer)
        try await writer.sync()
        #expect(try partCount() == 1)
    }

    private static let factCount = "SELECT (SELECT count(*) FROM parts) + (SELECT count(*) FROM events)"

    /// Breaks when facts in the journal are freed or overwritten before the store is synced. A power failure would
    /// destroy both.
    @Test(arguments: ["a full journal", "the timer", "a sync", "an erasure"])
    func whileTheStoreCannotBeSyncedTheJournalKeepsEverything(on occasion: String) async throws {
        // Half of the journal fills before a sync is requested. A quarter is reserved for closings.
        let writer = writer(JournalSize(segmentCount: 8, segmentByteCount: 8192))
        open(in: writer)
        try writer.runAndWait { _, store in
            try store.connection.execute(
                """
                CREATE TRIGGER full BEFORE INSERT ON settings WHEN new.key = 'syncs' \
                BEGIN SELECT RAISE(ABORT, 'disk full'); END
                """)
        }
        var count: Int64 = 1
        switch occasion {
        case "a full journal":
            for _ in 0..<100 where !writer.recorder.wantsSync {
                for _ in 0..<20 {
                    let recorded = writer.recorder.record(.event(Fact.Event(code: 1)), part: 1)
                    try #require(recorded.result == .journaled)
                    count += 1
                }
                try writer.runAndWait { _, _ in }
            }
            #expect(writer.recorder.wantsSync && count > 20)
        case "the timer":
            open(in: writer)
            count += 1
            try time.advance(by: .seconds(5))
        case "a sync": await #expect(throws: WaybillError.self) { try await writer.sync() }
        default:
            #expect(throws: WaybillError.self) {
                try writer.runAndWait { _, store in
                    _ = try writer.erase(.transactions([GUID()]), from: store, at: 0)
                }
            }
        }
        let stored: Int64 = try writer.runAndWait { _, store in
            try store.connection.integer(Self.factCount)
        }
        #expect(stored == count)
        // The disk has the journal, and nothing of the store.
        let found = folder.file("\(GUID())")
        try disk.rebuild(after: PowerCut(after: disk.look(), reach: .everything), in: found)
        let place = found.appending(path: "store")
        for name in try FileManager.default.contentsOfDirectory(atPath: place.path) where name.hasPrefix("waybill") {
            try FileManager.default.removeItem(at: place.appending(path: name))
        }
        let store = try Store(.folder(place))
        #expect(try store.recoverJournals(in: place, installation: nil) == [])
        #expect(try store.connection.integer(Self.factCount) == count)
        #expect(try store.connection.integer("SELECT count(*) FROM dropped") == 0)
    }

    /// Breaks when one failure leaves all facts stored since then to chance, and nobody learns about it.
    @Test func aSyncThatFailsIsTriedAgain() throws {
        let writer = writer()
        open(in: writer)
        try time.advance(by: .seconds(1))
        try writer.runAndWait { _, store in
            try store.connection.execute(
                "CREATE TRIGGER full BEFORE UPDATE ON settings BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        }
        try time.advance(by: .seconds(5))
        #expect(writer.problem != nil)
        try writer.runAndWait { _, store in try store.connection.execute("DROP TRIGGER full") }
        try time.advance(by: .seconds(1))
        #expect(writer.problem == nil)
        #expect(try partCount() == 1)
    }
}
#endif
