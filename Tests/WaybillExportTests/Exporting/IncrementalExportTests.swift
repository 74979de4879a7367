import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct IncrementalExportTests {
    private let folder: TemporaryDirectory
    private let store: Store
    private let lake: URL

    init() async throws {
        folder = try TemporaryDirectory()
        store = try Store(.folder(folder.file("store")))
        lake = folder.file("lake")
    }

    /// Kills a run at each of its steps, then runs twice more while facts arrive: each fact must be in exactly one
    /// file.
    @Test(arguments: IncrementalExport.Step.allCases, [true, false])
    func killedAnywhereNothingIsLostAndNothingIsDoubled(step: IncrementalExport.Step, isFirst: Bool) async throws {
        let login = LoginHistory()
        if !isFirst {
            try ingest(login.serverSet())
            #expect(try await run() != nil)
        }
        try ingest(login.clientSet(1...4))
        let child = try ChildProcess("TestProcess", ["export-\(step.rawValue)", folder.url.path])
        #expect(child.finish().status == SIGKILL)
        try ingest(login.clientSet())
        if isFirst { try ingest(login.serverSet()) }
        #expect(try await run() != nil)
        #expect(try await run() == nil, "Nothing is new.")
        let lines = try facts()
        #expect(lines.count == 9)
        #expect(Set(lines).count == 9)
        for folder in ["", "facts", "increments"] { #expect(try names(in: folder).allSatisfy { !$0.hasPrefix(".") }) }
    }

    /// A run repeated after a kill has other facts: no reader may add the files of the killed run to them.
    @Test func whatAKilledRunHasLeftCountsForNothing() async throws {
        let login = LoginHistory()
        try ingest(login.clientSet(1...4))
        let child = try ChildProcess("TestProcess", ["export-written", folder.url.path])
        #expect(child.finish().status == SIGKILL)
        #expect(try names(in: "facts").count == 1 && increments().isEmpty)
        try ingest(login.clientSet())
        #expect(try await run()?.number == 1)
        #expect(try names(in: "facts").count == 2)
        #expect(try facts().count == 6)
    }

    /// Breaks when one increment number can belong to two runs from the same cursor: readers would then read their
    /// facts twice.
    @Test func ofTwoRunsThatGoOnFromTheSameCursorOneCounts() async throws {
        try ingest(LoginHistory().clientSet(1...4))
        let (late, store) = (SlowLake(folder: lake), try SQLiteStore(folder.file("store"), clock: SystemClock()))
        late.meanwhile { [lake] in
            try await IncrementalExport(as: .ndjson).run(of: store, into: LakeFolder(lake))
        }
        let error = await #expect(throws: WaybillError.self) {
            try await IncrementalExport(as: .csv).run(of: store, into: late)
        }
        #expect(error?.code == .setting)
        #expect(try facts().count == 4)
    }

    @Test func aLakeThatReplacesWhatItHasIsRefusedBeforeAnythingIsExported() async throws {
        try ingest(LoginHistory().clientSet())
        let (lake, store) = (ForgetfulLake(), try SQLiteStore(folder.file("store"), clock: SystemClock()))
        let error = await #expect(throws: WaybillError.self) {
            try await IncrementalExport(as: .ndjson).run(of: store, into: lake)
        }
        #expect(error?.message.contains("If-None-Match") == true)
        #expect(lake.names == ["lake.json", "lake.json"])
    }

    @Test(arguments: [TextFormat.ndjson, .csv], [true, false])
    func largeIncrementsAreSeveralFilesEachWithItsHeader(format: TextFormat, isCompressed: Bool) async throws {
        for _ in 0..<400 { try ingest(LoginHistory().clientSet()) }
        var export = IncrementalExport(as: format, isCompressed: isCompressed)
        export.longestFile = 1
        let store = try SQLiteStore(folder.file("store"), clock: SystemClock())
        let increment = try #require(try await export.run(of: store, into: LakeFolder(lake)))
        #expect(increment.files.count > 1)
        #expect(increment.files.reduce(0) { $0 + ($1.facts ?? 0) } == 2400)
        for file in increment.files {
            let bytes = try Array(Data(contentsOf: lake.appending(path: file.name)))
            #expect(file.bytes == bytes.count)
            #expect(file.name == "facts/\(SHA256.hex(bytes)).\(format)\(isCompressed ? ".gz" : "")")
            #expect(isCompressed || bytes.starts(with: format.header))
        }
    }

    @Test func filesThatWereTakenAwayAreNotWrittenAgain() async throws {
        let login = LoginHistory()
        try ingest(login.clientSet())
        let first = try #require(try await run()?.files.first)
        try FileManager.default.removeItem(at: lake.appending(path: first.name))
        #expect(try await run() == nil)
        try ingest(login.serverSet())
        let second = try #require(try await run())
        #expect(second.number == 2 && second.files.map(\.facts) == [3])
    }

    /// Breaks when facts are left out because another store had exported as many.
    @Test func theLakeOfAnotherStoreIsRefused() async throws {
        try ingest(LoginHistory().clientSet())
        _ = try await run()
        let other = try Store(.folder(folder.file("other")))
        for _ in 0..<3 { _ = try other.ingest(LoginHistory().clientSet(), receivedAt: LoginHistory.begun) }
        let error = await #expect(throws: (any Error).self) { try await run(of: "other") }
        #expect("\(error ?? CancellationError())".contains("The cursor is of another store"))
        #expect(try facts().count == 6)
    }

    /// A restored backup continues a lake that has nothing later than the backup.
    @Test(arguments: [true, false]) func aRestoredBackupContinuesOnlyWhatItHas(isLater: Bool) async throws {
        try ingest(LoginHistory().clientSet())
        if !isLater { _ = try await run() }
        let copy = folder.file("copy.sqlite")
        _ = try StoreReader(.folder(folder.file("store"))).backUp(to: copy)
        try ingest(LoginHistory().clientSet())
        if isLater { _ = try await run() }
        let restored = try Store(.file(copy))
        for _ in 0..<3 { _ = try restored.ingest(LoginHistory().clientSet(), receivedAt: LoginHistory.begun) }
        if isLater {
            await #expect(throws: (any Error).self) { try await run(of: "copy.sqlite") }
            #expect(try facts().count == 12)
        } else {
            #expect(try await run(of: "copy.sqlite") != nil)
            #expect(try facts().count == 24)
            await #expect(throws: (any Error).self) { try await run() }
        }
    }

    @Test func twoRunsAtATimeDoNotMeet() async throws {
        let other = try LakeFolder(lake)
        let error = await #expect(throws: WaybillError.self) { try await run() }
        #expect(error?.code == .setting)
        withExtendedLifetime(other) {}
    }

    @Test(arguments: ["increments/000000001.json", "lake.json"])
    func whatCannotBeReadStopsTheRun(name: String) async throws {
        try ingest(LoginHistory().clientSet())
        _ = try await run()
        try Data("{".utf8).write(to: lake.appending(path: name))
        let error = await #expect(throws: WaybillError.self) { try await run() }
        #expect(error?.code == .format)
    }

    private func ingest(_ set: TransactionSet) throws {
        _ = try store.ingest(set, receivedAt: LoginHistory.begun)
    }

    private func run(of name: String = "store") async throws -> Increment? {
        let store = try SQLiteStore(folder.file(name), clock: SystemClock())
        return try await IncrementalExport(as: .ndjson).run(of: store, into: LakeFolder(lake))
    }

    private func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: lake.appending(path: folder).path)
    }

    /// Returns the increments that a reader of the lake reads.
    private func increments() throws -> [Increment] {
        guard FileManager.default.fileExists(atPath: lake.appending(path: "increments").path) else { return [] }
        return try names(in: "increments").sorted().map {
            try JSONDecoder().decode(
                Increment.self, from: Data(contentsOf: lake.appending(path: "increments/\($0)")))
        }
    }

    private func facts() throws -> [FactID] {
        try increments().flatMap(\.files).flatMap { file in
            try Data(contentsOf: lake.appending(path: file.name)).split(separator: 0x0A).map {
                try JSONDecoder().decode(FactID.self, from: $0)
            }
        }
    }
}

/// A folder without its lock, because a bucket has none. Another run starts while one is under way.
private final class SlowLake: Lake {
    private let folder: URL
    private let other = Locked<(@Sendable () async throws -> Void)?>(nil)

    init(folder: URL) { self.folder = folder }

    /// - Parameter run: Finishes before the first file of facts exists.
    func meanwhile(_ run: @escaping @Sendable () async throws -> Increment?) {
        other.withLock { $0 = { _ = try await run() } }
    }

    func place(of name: String) -> String { name }

    func names(in folder: String) async throws -> [String] { try open().names(in: folder) }

    func bytes(of name: String) async throws -> [UInt8]? { try open().bytes(of: name) }

    func put(_ bytes: [UInt8], as name: String) async throws -> Bool {
        if name.hasPrefix("facts/") {
            let other = other.withLock { other in
                defer { other = nil }
                return other
            }
            try await other?()
        }
        return try open().put(bytes, as: name)
    }

    private func open() throws -> LakeFolder { try LakeFolder(folder) }
}

/// A lake that ignores `If-None-Match`.
private final class ForgetfulLake: Lake {
    private let put = Locked<[(name: String, bytes: [UInt8])]>([])

    var names: [String] { put.withLock { $0.map(\.name) } }

    func place(of name: String) -> String { name }

    func names(in folder: String) -> [String] { [] }

    func bytes(of name: String) -> [UInt8]? { put.withLock { $0.last { $0.name == name }?.bytes } }

    func put(_ bytes: [UInt8], as name: String) -> Bool {
        put.withLock { $0.append((name, bytes)) }
        return true
    }
}
