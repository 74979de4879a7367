import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Messages about places without a usable store. The tests here must not create a new file.
@Suite(.timeLimit(.minutes(5))) struct OpeningTests {
    private let folder: TemporaryDirectory
    private let app = FactWriter()

    init() throws { folder = try TemporaryDirectory() }

    private func makeStore(named name: String = "waybill.sqlite") throws -> Store {
        let store = try Store(.file(folder.file(name)))
        app.open(GUID())
        try app.record(into: store)
        return store
    }

    #if os(Linux)
    /// Breaks when reading the header closes a descriptor of the file. All locks of this process on it would be
    /// released, and another process could damage the store.
    @Test func aLookAtTheHeaderKeepsTheLocksOfThisProcess() throws {
        let store = try Store(.folder(folder.url))
        _ = try store.setting("installation")
        let before = try FileLocks.held(by: getpid(), in: folder.url)
        #expect(before.contains("waybill.sqlite"))
        #expect(!HeaderRepair.isNeeded(for: folder.file("waybill.sqlite").path))
        #expect(try FileLocks.held(by: getpid(), in: folder.url) == before)
        // The same holds for a file that needs the repair.
        let damaged = folder.file("damaged.sqlite")
        var bytes = try Data(contentsOf: folder.file("waybill.sqlite"))
        bytes[0] = 0
        try bytes.write(to: damaged)
        #expect(HeaderRepair.isNeeded(for: damaged.path))
        withExtendedLifetime(store) {}
    }
    #endif

    private func message(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "nothing was thrown"
        } catch { return (error as? WaybillError)?.message ?? "\(error)" }
    }

    @Test func aMissingStoreIsSaidToBeMissing() throws {
        let missing = folder.file("nowhere")
        #expect(message { _ = try StoreReader(.file(missing)) } == "There is no store at \(missing.path).")
        #expect(
            message { _ = try StoreReader(.folder(missing)) } == "There is no store at \(missing.path)/waybill.sqlite.")
        #expect(
            message { _ = try StoreReader(.folder(folder.url)) }.hasSuffix(
                "holds no Waybill store: there is no waybill.sqlite in it."))
        #expect(try folder.names() == [])
    }

    @Test func aFolderInPlaceOfTheFileIsSaidToBeOne() throws {
        let place = folder.file("store")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        #expect(
            message { _ = try StoreReader(.file(place)) }
                == "\(place.path) is a folder, and a store's file was expected.")
        #expect(
            message { _ = try Store(.file(place)) }.hasPrefix(
                "\(place.path) is a folder, and a store's file was expected there."))
        #expect(ResolvedLocation(path: place.path) == .folder(URL(filePath: place.path)))
    }

    @Test func aFileThatIsNotSQLiteIsSaidNotToBe() throws {
        let file = folder.file("notes.txt")
        try Data(repeating: 0x41, count: 5_000).write(to: file)
        #expect(
            message { _ = try StoreReader(.file(file)) }
                == "\(file.path) is not a Waybill store: it is not an SQLite database.")
        #expect(
            message { _ = try Store(.file(file)) }
                == "\(file.path) is not a Waybill store: it is not an SQLite database.")
        #expect(try Data(contentsOf: file) == Data(repeating: 0x41, count: 5_000))
    }

    @Test func anSQLiteFileOfSomethingElseIsLeftAlone() throws {
        let file = folder.file("other.sqlite")
        do {
            let other = try Connection("file:\(file.path)", .create, at: file.path)
            try other.execute("CREATE TABLE other(x); PRAGMA user_version = 1")
        }
        let expected = "\(file.path) is not a Waybill store: it is an SQLite database of something else."
        #expect(message { _ = try StoreReader(.file(file)) } == expected)
        #expect(message { _ = try Store(.file(file)) } == expected)
        let other = try Connection("file:\(file.path)", .readWrite, at: file.path)
        #expect(try other.integer("SELECT count(*) FROM sqlite_schema") == 1)
        // It is left alone even without a version.
        try other.execute("PRAGMA user_version = 0")
        #expect(message { _ = try Store(.file(file)) } == expected)
    }

    enum Interruption: CaseIterable { case fileMade, walSet, tablesHalfMade }

    /// Breaks when a store whose creation was interrupted is mistaken for another program's database.
    @Test(arguments: Interruption.allCases) func aStoreWhoseCreationWasInterruptedOpens(_ interruption: Interruption)
        throws
    {
        let file = folder.file("waybill.sqlite")
        try Data().write(to: file)
        if interruption != .fileMade {
            let half = try Connection("file:\(file.path)", .readWrite, at: file.path)
            try half.execute("PRAGMA journal_mode = WAL")
            if interruption == .tablesHalfMade { try half.execute("BEGIN IMMEDIATE; CREATE TABLE sources(id)") }
        }
        let reader = try StoreReader(.file(file))
        #expect(try reader.all().isEmpty)
        #expect(reader.warnings.count == 1)
        #expect(try reader.verify().problems == [])
        app.open(GUID())
        try app.record(into: Store(.file(file)))
        #expect(try StoreReader(.file(file)).all().count == 1)
    }

    /// Breaks when someone who looks for the facts of a short program does not learn that they exist.
    @Test func journalsWithoutAStoreAreNamed() throws {
        try Data().write(to: folder.file("journal-\(GUID())"))
        #expect(
            message { _ = try StoreReader(.folder(folder.url)) }.hasSuffix(
                "hold recorded facts that no program has stored yet."))
    }

    @Test func aStoreOfANewerVersionIsNeitherReadNorWritten() throws {
        let store = try makeStore()
        try store.connection.execute("PRAGMA user_version = 99")
        let file = folder.file("waybill.sqlite")
        let expected =
            "The store at \(file.path) was written by a newer version of Waybill (schema 99, known here up to \(Schema.version)). Update Waybill to read it."
        #expect(message { _ = try StoreReader(.file(file)) } == expected)
        #expect(message { _ = try Store(.file(file)) } == expected)
    }

    /// Breaks when a later version's step loses stored data, or when a program that only reads mistakes a store that
    /// lacks the step for a complete one.
    @Test func aLaterVersionAddsItsStepToAStore() throws {
        do { _ = try makeStore() }
        let file = folder.file("waybill.sqlite")
        let later =
            Schema.migrations + [
                Schema.Migration(name: "a later column", script: "ALTER TABLE sources ADD COLUMN later TEXT;")
            ]
        let connection = try Connection("file:\(file.path)", .readWrite, at: file.path)
        #expect(message { try Schema.checkCurrent(connection, version: later.count) }.contains("an older version"))
        #expect(try connection.transaction { () throws(WaybillError) in try Schema.migrate(connection, by: later) })
        #expect(try connection.integer("SELECT count(*) FROM sources WHERE later IS NULL") == 1)
        #expect(try connection.integer("PRAGMA user_version") == later.count)
        #expect(message { _ = try StoreReader(.file(file)) }.contains("a newer version"))
    }

    /// Breaks when a copy without its WAL is shown as if it were complete, or when reading it leaves files beside it.
    @Test func aCopyWithoutItsWALIsReadWithAWarning() throws {
        let store = try makeStore()
        try store.checkpoint()
        let copies = try TemporaryDirectory()
        try FileManager.default.copyItem(at: folder.file("waybill.sqlite"), to: copies.file("copy.sqlite"))
        let reader = try StoreReader(.file(copies.file("copy.sqlite")))
        #expect(reader.warnings.count == 1 && reader.warnings[0].contains("has no WAL file"))
        #expect(try reader.all().count == 1)
        #expect(try copies.names() == ["copy.sqlite"])
        #expect(try StoreReader(.folder(folder.url)).warnings == [])
    }

    /// Breaks when the last connection removes the WAL. Every reader would then warn about a store that lacks nothing.
    @Test func theWALStaysWhenTheWriterGoes() throws {
        do { _ = try makeStore() }
        #expect(try folder.names().contains("waybill.sqlite-wal"))
        let reader = try StoreReader(.folder(folder.url))
        #expect(reader.warnings == [])
        #expect(try reader.all().count == 1)
    }

    /// Breaks when a reader can write, or sees a partial write.
    @Test func aReaderReadsBesideTheWriterAndWritesNothing() throws {
        let store = try makeStore()
        let reader = try StoreReader(.folder(folder.url))
        try reader.read { () throws(WaybillError) in
            #expect(try reader.connection.integer("SELECT count(*) FROM parts") == 1)
            try? app.record(into: store)
            try? store.append(
                RecordedBatch(
                    source: app.id,
                    facts: [Fact(sequence: 2, part: 1, atMicroseconds: 9, content: .event(Fact.Event(code: 1)))]))
            #expect(try reader.connection.integer("SELECT count(*) FROM events") == 0)
        }
        #expect(try reader.connection.integer("SELECT count(*) FROM events") == 1)
        #expect(throws: WaybillError.self) { try reader.connection.execute("DELETE FROM parts") }
    }

    // MARK: Folders that cannot be written

    @Test func inAReadOnlyFolderAStoreCannotBeWrittenAndCanBeRead() throws {
        do { _ = try makeStore() }
        try FileManager.default.removeItem(at: folder.file("waybill.sqlite-shm"))
        try folder.readOnly {
            #expect(message { _ = try Store(.folder(folder.url)) }.contains("permissions"))
            #expect(message { _ = try Store(.folder(folder.file("new"))) }.contains("permissions"))
            let reader = try StoreReader(.folder(folder.url))
            #expect(reader.warnings.count == 1 && reader.warnings[0].contains("cannot be written"))
            #expect(try reader.connection.integer("PRAGMA user_version") == Schema.version)
        }
    }

    @Test func inAReadOnlyFolderAStoreWhoseWriterHasRunIsReadWhole() throws {
        let store = try makeStore()
        try folder.readOnly {
            let reader = try StoreReader(.folder(folder.url))
            #expect(reader.warnings == [])
            #expect(try reader.all().count == 1)
        }
        _ = store
    }
}

extension TemporaryDirectory {
    /// Runs `body` with the folder and its files read-only, and without the rights of root, who may write anything.
    func readOnly(_ body: () throws -> Void) throws {
        let files = try names().map { file($0).path }
        for path in files { chmod(path, 0o444) }
        chmod(url.path, 0o555)
        defer {
            chmod(url.path, 0o755)
            for path in files { chmod(path, 0o644) }
        }
        #if os(Linux)
        // Applies to this thread only: setfsuid(2), which no module declares. Leaving 0 also drops CAP_DAC_OVERRIDE.
        let symbol = try #require(dlsym(nil, "setfsuid"))
        let setUser = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> Int32).self)
        let user = setUser(65_534)
        defer { _ = setUser(uid_t(bitPattern: user)) }
        #endif
        try body()
    }
}
