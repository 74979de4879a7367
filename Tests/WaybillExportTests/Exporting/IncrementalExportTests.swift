import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillExport
import WaybillReading
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

    /// Kills a run for good at each of its steps, then runs twice more while facts come in: each fact is in one file.
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
        #expect(try FileManager.default.contentsOfDirectory(atPath: lake.path).allSatisfy { !$0.hasPrefix(".") })
    }

    @Test func filesThatWereTakenAwayAreNotWrittenAgain() async throws {
        let login = LoginHistory()
        try ingest(login.clientSet())
        let first = try #require(try await run())
        try FileManager.default.removeItem(at: first.file)
        #expect(try await run() == nil)
        try ingest(login.serverSet())
        let second = try #require(try await run())
        #expect(second.factCount == 3)
        #expect(second.file.lastPathComponent == "facts-000002.ndjson")
    }

    @Test func twoRunsAtATimeDoNotMeet() async throws {
        let other = try IncrementalFolder(lake, suffix: "ndjson")
        let error = await #expect(throws: WaybillError.self) { try await run() }
        #expect(error?.code == .setting)
        withExtendedLifetime(other) {}
    }

    @Test func aCursorThatCannotBeReadStopsTheRun() async throws {
        try ingest(LoginHistory().clientSet())
        _ = try await run()
        try Data("{".utf8).write(to: lake.appending(path: "cursor.json"))
        let error = await #expect(throws: WaybillError.self) { try await run() }
        #expect(error?.code == .format)
    }

    private func ingest(_ set: TransactionSet) throws {
        _ = try store.ingest(DecodedSet(set: set), receivedAt: LoginHistory.begun)
    }

    private func run() async throws -> ExportSummary? {
        let export = IncrementalExport(as: .ndjson)
        let store = try SQLiteStore(folder.file("store"), clock: SystemClock())
        return try await export.run(of: store, into: IncrementalFolder(lake, suffix: export.suffix))
    }

    private func facts() throws -> [Fact.ID] {
        let files = try FileManager.default.contentsOfDirectory(atPath: lake.path).filter { $0.hasPrefix("facts-") }
            .sorted()
        return try files.flatMap { name in
            try Data(contentsOf: lake.appending(path: name)).split(separator: 0x0A).map {
                try JSONDecoder().decode(Fact.ID.self, from: $0)
            }
        }
    }
}
