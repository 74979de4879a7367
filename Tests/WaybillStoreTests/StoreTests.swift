import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct StoreTests {
    private let folder: TemporaryDirectory
    private let app = FactWriter()

    init() throws { folder = try TemporaryDirectory() }

    private func mode(_ url: URL) throws -> Int? {
        (try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)?.intValue
    }

    /// Breaks when other users of the machine can read recorded facts.
    @Test func onlyTheOwnerCanReadAStore() throws {
        let place = folder.url.appending(path: "new/store", directoryHint: .isDirectory)
        let store = try Store(.folder(place))
        app.open(GUID())
        try app.record(into: store)
        #expect(try mode(place) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path).sorted()
        #expect(names == ["", "-lock", "-queue", "-shm", "-wal"].map { "waybill.sqlite" + $0 })
        for name in names { #expect(try mode(place.appending(path: name)) == 0o600, "\(name)") }
        try store.snapshot(to: folder.file("snapshot.sqlite"))
        #expect(try mode(folder.file("snapshot.sqlite")) == 0o600)
    }

    /// Breaks when a snapshot needs another file, lacks the latest facts, or replaces a file.
    @Test func aSnapshotIsOneFileThatOpens() throws {
        let store = try Store(.folder(folder.url))
        let id = GUID()
        app.close(app.open(id), .succeeded)
        try app.record(into: store)
        let copies = try TemporaryDirectory()
        try store.snapshot(to: copies.file("one.sqlite"))
        let reader = try StoreReader(.file(copies.file("one.sqlite")))
        #expect(reader.warnings == [])
        #expect(try reader.all().map(\.id) == [id])
        #expect(try reader.verify().problems == [])
        #expect(try copies.names() == ["one.sqlite"])
        #expect(throws: WaybillError.self) { try store.snapshot(to: copies.file("one.sqlite")) }
    }

    @Test func settingsAreKeptChangedAndTakenAway() throws {
        do {
            let store = try Store(.folder(folder.url))
            #expect(try store.setting("a") == nil)
            try store.set("a", to: "1")
            try store.set("a", to: "2")
        }
        let store = try Store(.folder(folder.url))
        #expect(try store.setting("a") == "2")
        try store.set("a", to: nil)
        #expect(try store.setting("a") == nil)
    }

    /// Breaks when repeating a written batch, whose recorder did not learn of it in time, duplicates facts or makes
    /// settled ones pending.
    @Test func aBatchWrittenAgainChangesNothing() throws {
        let (store, place) = try Store.inMemory()
        let part = app.open(GUID())
        let exchange = app.openExchange(part: part)
        app.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: part)
        app.event(1, part: part)
        app.close(part, .succeeded)
        try app.record(into: store)
        let before = try store.dump()
        try app.record(into: store)
        #expect(try store.dump() == before)
        #expect(try StoreReader(place).verify().problems == [])
    }

    /// Breaks when facts of an undescribed source are stored. No set could be made of them.
    @Test func aSourceMustBeRegistered() throws {
        let (store, _) = try Store.inMemory()
        #expect(throws: WaybillError.self) { try store.append(RecordedBatch(source: app.id, facts: [])) }
    }

    /// Breaks when a process that died with a transaction open leaves it open forever.
    @Test func whatADeadProcessLeftOpenIsInterrupted() throws {
        let open = GUID()
        do {
            let store = try Store(.folder(folder.url))
            app.open(open)
            app.close(app.open(GUID()), .succeeded)
            try app.record(into: store)
        }
        let next = FactWriter()
        let store = try Store(.folder(folder.url))
        try next.record(into: store)
        #expect(try store.endSources(isAlive: { $0 == next.id }) == [app.id])
        let reader = try StoreReader(.folder(folder.url))
        #expect(try reader.all().map(\.outcome) == [.succeeded, .interrupted])
        #expect(try reader.transaction(open, now: FactWriter.wall)?.parts.map(\.outcome) == [.interrupted])
        #expect(try reader.sources().map(\.hasEnded) == [true, false])
    }

    // MARK: The WAL

    /// Breaks when the WAL grows without end, or the store is checkpointed after every write.
    @Test func theWALIsCheckpointedWhenItHasGrown() throws {
        let store = try Store(.folder(folder.url))
        let part = app.open(GUID())
        for _ in 0..<30_000 {
            app.event(1, part: part, attributes: ["text": .string(String(repeating: "x", count: 900))])
        }
        var pages: [Int] = []
        for first in stride(from: 1, through: Int64(app.facts.count), by: 1_000) {
            try app.record(into: store, first...(first + 999))
            pages.append(store.connection.walPageCount)
        }
        // 30 MB were written through it.
        #expect(pages.allSatisfy { $0 <= 1_000 })
        #expect(pages.contains { $0 > 100 })
        let size =
            try FileManager.default.attributesOfItem(atPath: folder.file("waybill.sqlite-wal").path)[.size] as? Int
        #expect(try #require(size) < 8 << 20)
        try store.checkpoint()
        #expect(
            try FileManager.default.attributesOfItem(atPath: folder.file("waybill.sqlite-wal").path)[.size] as? Int == 0
        )
        let reader = try StoreReader(.folder(folder.url))
        let count = try reader.connection.integer("SELECT count(*) FROM events")
        #expect(count == 30_000)
    }

    private var walByteCount: Int {
        get throws {
            let path = folder.file("waybill.sqlite-wal").path
            return try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        }
    }

    /// Appends events with this total number of bytes.
    private func append(_ byteCount: Int, to store: Store, part: Int64) throws {
        let first = Int64(app.facts.count)
        for _ in 0..<byteCount / 1_000 {
            app.event(1, part: part, attributes: ["text": .string(String(repeating: "x", count: 900))])
        }
        try app.record(into: store, first + 1...Int64(app.facts.count))
    }

    /// Breaks when a WAL that grew because of a reader keeps its length permanently.
    @Test func aLongWALIsCutWhenTheReaderHasGone() throws {
        let store = try Store(.folder(folder.url))
        let part = app.open(GUID())
        try app.record(into: store)
        let reader = try StoreReader(.folder(folder.url))
        try reader.reading {
            _ = try reader.connection.integer("SELECT count(*) FROM events")
            for _ in 0..<12 { try append(1_000_000, to: store, part: part) }
        }
        #expect(try walByteCount > 12_000_000)
        #expect(store.walByteCount == Int64(try walByteCount))
        for _ in 0..<3 { try append(10_000, to: store, part: part) }
        #expect(try walByteCount <= 8_192_000)
    }

    /// Makes each of two readers end its read when the other one has begun another.
    private final class FairLock: @unchecked Sendable {  // safe because `news` guards all mutable state
        private let news = NSCondition()
        private var begun = [0, 0]
        private var isOver = false

        var areOn: Bool { news.withLock { !isOver } }
        var count: Int { news.withLock { begun.min() ?? 0 } }

        func waitForTheOther(of index: Int) {
            news.withLock {
                begun[index] += 1
                news.broadcast()
                let others = begun[1 - index]
                while begun[1 - index] == others, !isOver { news.wait() }
            }
        }

        func end() {
            news.withLock {
                isOver = true
                news.broadcast()
            }
        }
    }

    /// Breaks when the WAL grows without a bound because reads overlap, which leaves no moment without a reader.
    @Test func overlappingReadersDoNotKeepTheWALFromBeingEmptied() async throws {
        let store = try Store(.folder(folder.url))
        let part = app.open(GUID())
        try app.record(into: store)
        let turns = FairLock()
        let place = ResolvedLocation.folder(folder.url)
        let readers = (0..<2).map { index in
            Task.detached {
                let thread = try StoreThread(label: "reader") { () throws(WaybillError) in try StoreReader(place) }
                try await thread.run { reader throws(WaybillError) in
                    while turns.areOn {
                        try reader.read { () throws(WaybillError) in
                            _ = try reader.connection.integer("SELECT count(*) FROM parts")
                            turns.waitForTheOther(of: index)
                        }
                    }
                }
            }
        }
        defer { turns.end() }
        try await eventually("both read") { turns.count > 4 }
        for _ in 0..<50 { try append(1_000_000, to: store, part: part) }
        #expect(try walByteCount < 32_000_000, "50 MB were written")
        turns.end()
        for reader in readers { try await reader.value }
    }

    /// Breaks when two processes (here: two connections with their own locks) write or checkpoint at the same time, or
    /// when one gives up.
    @Test func severalWritersTakeTurns() async throws {
        let place = ResolvedLocation.folder(folder.url)
        _ = try Store(place)
        try await withThrowingTaskGroup(of: GUID.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let thread = try StoreThread(label: "writer") { () throws(WaybillError) in try Store(place) }
                    return try await thread.run { store in
                        let writer = FactWriter()
                        let part = writer.open(GUID())
                        for _ in 0..<200 {
                            writer.event(
                                1, part: part, attributes: ["text": .string(String(repeating: "x", count: 200))])
                        }
                        try store.register(writer.source)
                        for fact in writer.facts {
                            try store.append(RecordedBatch(source: writer.id, facts: [fact], clocks: writer.clocks))
                            if fact.sequence % 50 == 0 { try store.checkpoint() }
                        }
                        return writer.id
                    }
                }
            }
            try await group.waitForAll()
        }
        let verification = try StoreReader(place).verify()
        #expect(verification.problems == [] && verification.factCount == 603)
    }

    /// Breaks when each lock that a piece of work requests has a separate time limit, or SQLite's lock has one. While
    /// another process is suspended, every call of an app would be late by seconds.
    @Test func onePieceOfWorkHasOneLimitForAllItsWaits() throws {
        let path = folder.file("waybill.sqlite").path
        let (holder, other) = (try FileLock(of: path), try FileLock(of: folder.file("free").path))
        _ = try Store(.folder(folder.url))
        let patience = Patience(milliseconds: 100)
        let lock = try FileLock(of: path, patience: patience)
        let connection = try Connection(path, .readWrite, at: path, patience: patience)
        let blocking = try Connection(path, .readWrite, at: path)
        try holder.acquire()
        try blocking.execute("BEGIN IMMEDIATE")
        for _ in 0..<3 {
            #expect(throws: WaybillError.self) { try lock.acquire() }
            #expect(throws: WaybillError.self) { try connection.transaction { () throws(WaybillError) in } }
        }
        let waited = patience.longestNanoseconds
        #expect(waited >= 100_000_000 && waited < 2_000_000_000, "a tenth of a second, and the end of one sleep")
        #expect(patience.isHeldUp)

        // A success does not restore the spent time, but the next piece of work waits as long as usual.
        let free = try FileLock(of: folder.file("free").path, patience: patience)
        try free.acquire()
        #expect(!patience.isHeldUp)
        #expect(throws: WaybillError.self) { try lock.acquire() }
        #expect(patience.longestNanoseconds == waited)
        free.release()
        try other.acquire()
        patience.renew()
        #expect(throws: WaybillError.self) { try lock.acquire() }
        #expect(patience.longestNanoseconds >= waited || patience.isHeldUp)
        holder.release()
        try lock.acquire()
        #expect(!patience.isHeldUp)
    }

    /// Breaks when a process that writes continuously gets the lock again each time that a waiting process checks.
    @Test func whoWaitsForTheLockIsNext() async throws {
        let path = folder.file("waybill.sqlite").path
        let (first, turns) = (try FileLock(of: path), Locked<[String]>([]))
        try first.acquire()
        let thread = try StoreThread(label: "second") { () throws(WaybillError) in try FileLock(of: path) }
        async let second: Void = thread.run { lock throws(WaybillError) in
            try lock.acquire()
            turns.withLock { $0.append("second") }
            lock.release()
        }
        let queue = open(path + "-queue", O_RDWR)
        defer { close(queue) }
        try await eventually("the second one waits") {
            guard flock(queue, LOCK_EX | LOCK_NB) == 0 else { return true }
            flock(queue, LOCK_UN)
            return false
        }
        first.release()
        try first.acquire()
        turns.withLock { $0.append("first") }
        first.release()
        try await second
        #expect(turns.withLock(\.self) == ["second", "first"])
    }

    /// Breaks when a lock is held without writing. An app that is suspended with one is killed.
    @Test func theLockIsHeldOnlyWhileWriting() throws {
        let store = try Store(.folder(folder.url))
        app.open(GUID())
        try app.record(into: store)
        #expect(throws: WaybillError.self) { try store.append(RecordedBatch(source: GUID(), facts: [])) }
        let descriptor = open(folder.file("waybill.sqlite-lock").path, O_RDWR)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    }

    // MARK: Faults

    /// Breaks when half a batch is stored, when the store is unusable afterwards, or when an error shows recorded data.
    @Test func aFullDiskLosesNothingAndIsSaidInASentence() throws {
        let store = try Store(.folder(folder.url))
        let part = app.open(GUID())
        try app.record(into: store)
        for _ in 0..<200 {
            app.event(1, part: part, attributes: ["password": .string(String(repeating: "secret", count: 150))])
        }
        let pages = try store.connection.integer("PRAGMA page_count")
        try store.connection.execute("PRAGMA max_page_count = \(pages + 2)")
        let error = #expect(throws: WaybillError.self) { try app.record(into: store) }
        #expect(error?.message.hasPrefix("The disk is full") == true)
        #expect(error.map { "\($0)".contains("secret") } == false)
        #expect(try store.facts(of: app.id).count == 1)
        try store.connection.execute("PRAGMA max_page_count = 1000000")
        try app.record(into: store)
        #expect(try store.facts(of: app.id) == app.facts)
    }

    /// Breaks when damage is mistaken for something else, or crashes.
    @Test func aDamagedStoreIsSaidToBeDamaged() throws {
        do {
            let store = try Store(.folder(folder.url))
            for _ in 0..<500 { app.open(GUID()) }
            try app.record(into: store)
            try store.checkpoint()
        }
        let file = try FileHandle(forUpdating: folder.file("waybill.sqlite"))
        try file.seek(toOffset: 4_096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: 40_960))
        try file.close()
        let error = #expect(throws: WaybillError.self) {
            let store = try Store(.folder(folder.url))
            try app.record(into: store)
        }
        #expect(error?.message.contains("is damaged") == true, "\(String(describing: error))")
    }
}
