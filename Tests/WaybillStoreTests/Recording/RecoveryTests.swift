import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Opening a store imports the facts that dead processes left in their journals, once.
@Suite(.timeLimit(.minutes(5))) struct RecoveryTests {
    private let dead: TemporaryDirectory
    private let folder: TemporaryDirectory

    init() throws { (dead, folder) = (try TemporaryDirectory(), try TemporaryDirectory()) }

    private func writer(_ source: GUID = GUID(), in folder: TemporaryDirectory) -> SourceWriter {
        SourceWriter(
            source: SourceIdentity(id: source, app: "shop", appVersion: "1"), place: .folder(folder.url),
            clock: SystemClock(),
            capacity: 100,
            writesByItself: false)
    }

    /// Leaves a source with one transaction and this number of facts. Its journal holds all of them; the drained ones
    /// are also in its folder's store.
    private func leave(_ count: Int, drained: Int = 1) throws -> GUID {
        let source = GUID()
        let writer = writer(source, in: dead)
        writer.note([RecordedName(useCase: 0, name: "login")])
        let part = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0).sequence
        try writer.runAndWait { _, _ in }
        for number in 1..<count {
            if number == drained { try writer.runAndWait { _, _ in } }
            try #require(writer.recorder.record(.event(Fact.Event(code: number)), part: part).result == .journaled)
        }
        // A copy of the journal is the remains of a process: the file, without a lock.
        for name in try dead.names()
        where name.hasPrefix("journal-") && !FileManager.default.fileExists(atPath: folder.file(name).path) {
            try FileManager.default.copyItem(at: dead.file(name), to: folder.file(name))
        }
        return source
    }

    private func open() throws -> (ledgers: [GUID: Ledger], problems: [String], facts: [GUID: [Fact]]) {
        let writer = writer(in: folder)
        return try writer.runAndWait { opened, store in
            let reader = try opened.reader()
            let ledgers = try reader.sources().map { ($0.id, $0.ledger) }.filter { $0.0 != opened.source.id }
            return (
                Dictionary(uniqueKeysWithValues: ledgers), try reader.verify().problems,
                Dictionary(uniqueKeysWithValues: try ledgers.map { ($0.0, try store.facts(of: $0.0)) })
            )
        }
    }

    /// Breaks when a fact between two batches of the recovery is lost, or stored twice.
    @Test(arguments: [[1], [4_999], [5_000], [5_001], [3, 10_001, 2]])
    func whatIsLeftInJournalsComesInOnce(counts: [Int]) throws {
        let sources = try counts.map { try leave($0) }
        for _ in 1...2 {
            let opened = try open()
            #expect(opened.problems == [])
            for (source, count) in zip(sources, counts) {
                #expect(opened.facts[source]?.map(\.sequence) == Array(1...Int64(count)))
                #expect(opened.ledgers[source]?.pending == Int64(count))
            }
        }
        #expect(
            try !folder.names().contains { name in sources.contains { name == "journal-\($0)" } },
            "stored, so not needed any more")
    }

    /// Breaks when facts drained before the process died are stored again, or facts recorded after that are skipped.
    @Test func whatWasDrainedBeforeIsNotDoubled() throws {
        let source = try leave(300, drained: 200)
        try Store(.folder(dead.url)).snapshot(to: folder.file("waybill.sqlite"))
        #expect(try Store(.folder(folder.url)).facts(of: source).count == 200)
        let opened = try open()
        #expect(opened.facts[source]?.map(\.sequence) == Array(1...300))
        #expect(opened.problems == [])
    }

    /// Marks the journal of a source as written by a newer version, or by this one.
    private func write(version: UInt64, into name: String) throws {
        let file = try FileHandle(forUpdating: folder.file(name))
        defer { try? file.close() }
        try file.seek(toOffset: UInt64(JournalLayout.HeaderWord.version * 8))
        try file.write(contentsOf: withUnsafeBytes(of: version) { Data($0) })
    }

    /// Breaks when facts recorded by a newer version are lost because an older one was launched in between, or are
    /// stored twice.
    @Test func aJournalOfANewerVersionIsReadOnceItCanBe() throws {
        let source = try leave(300, drained: 200)
        try Store(.folder(dead.url)).snapshot(to: folder.file("waybill.sqlite"))
        let name = "journal-\(source)"
        try write(version: JournalLayout.version + 1, into: name)
        for _ in 0..<2 {
            #expect(try open().facts[source]?.count == 200)
            let names = try folder.names()
            #expect(!names.contains(name) && names.contains(name + ".newer"))
        }
        // The next version can read it.
        try write(version: JournalLayout.version, into: name + ".newer")
        for _ in 0..<2 {
            let opened = try open()
            #expect(opened.facts[source]?.map(\.sequence) == Array(1...300))
            #expect(opened.problems == [])
            #expect(try !folder.names().contains { $0.hasPrefix(name) })
        }
    }

    /// Breaks when an erasure leaves the bytes of journals that it could not read.
    @Test func anErasureRemovesTheJournalsThatCannotBeRead() throws {
        let source = try leave(3)
        try write(version: JournalLayout.version + 1, into: "journal-\(source)")
        _ = try open()
        #expect(try folder.names().contains("journal-\(source).newer"))
        _ = try Store(.folder(folder.url)).erase(.all, at: 0)
        #expect(try !folder.names().contains { $0.hasPrefix("journal-\(source)") })
    }

    /// Breaks when the names of a process that died before its first batch are lost, or its transactions stay open
    /// forever.
    @Test func namesComeWithTheFactsAndWhatWasOpenIsInterrupted() throws {
        _ = try leave(2)
        _ = try open()
        let reader = try StoreReader(.folder(folder.url))
        #expect(try reader.all().map(\.useCaseName) == ["login"])
        #expect(try reader.all().map(\.outcome) == [.interrupted])
    }
}
