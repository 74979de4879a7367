import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore
@testable import WaybillStoreTests

/// Facts that are lost with a journal, or with a store that a power cut rolled back, are counted.
@Suite(.timeLimit(.minutes(10))) struct LostFactTests {
    private let folder: TemporaryDirectory
    private let source = SourceIdentity(id: GUID(), app: "shop", appVersion: "1.4.0")
    private let store: Store

    init() throws {
        folder = try TemporaryDirectory()
        store = try Store(.folder(folder.url))
    }

    /// Leaves a journal behind like a process that died: drained up to a sequence, and followed by these facts.
    private func leaveJournal(
        drained: Int64, facts: [Fact.Content] = [],
        size: JournalSize = JournalSize(segmentCount: 2, segmentByteCount: 8192, isMapped: false)
    ) throws {
        let anchor = ClockAnchor(atMicroseconds: 0, offsetMicroseconds: FactWriter.wall)
        let description = TransactionSet(
            id: source.id, sources: [TransactionSet.Share(source: source, clocks: [anchor], facts: [])])
        let file = try JournalFile(
            LockedJournalFile(of: source.id, in: folder.url), description: description.encoded(), startMicroseconds: 0,
            size: size)
        let journal = Journal(file, lastSequence: drained, openCount: 0, refusedCount: 0)
        for content in facts { _ = journal.append(content, part: drained + 1, atMicroseconds: 0) }
    }

    private var opening: Fact.Content { .opened(Fact.Opened(transaction: GUID(), useCase: 0)) }

    private func ledger() throws -> Ledger? {
        #expect(try store.recoverJournals(in: folder.url, installation: nil) == [])
        #expect(try StoreReader(.folder(folder.url)).verify().problems == [])
        return try store.ledgers()[source.id]
    }

    /// Breaks when a store that a power cut has rolled back balances by forgetting, or waits for facts that will never
    /// arrive.
    @Test func whatIsNeitherInTheStoreNorInTheJournalIsBookedAsDamaged() throws {
        try store.register(source)
        try store.append(
            RecordedBatch(source: source.id, facts: [Fact(sequence: 1, part: 1, atMicroseconds: 0, content: opening)]))
        try leaveJournal(drained: 10, facts: [opening, .event(Fact.Event(code: 1))])
        #expect(try ledger() == Ledger(recorded: 12, dropped: ["damaged": 9], pending: 3))
        // The same happens again if the journal's removal did not reach the disk.
        try leaveJournal(drained: 10, facts: [opening, .event(Fact.Event(code: 1))])
        #expect(try ledger() == Ledger(recorded: 12, dropped: ["damaged": 9], pending: 3))
    }

    /// Breaks when the loss goes uncounted because only the journal's count of the facts is left.
    @Test func aJournalWithoutFactsStillSaysHowManyThereWere() throws {
        try leaveJournal(drained: 7)
        #expect(try ledger() == Ledger(recorded: 7, dropped: ["damaged": 7]))
    }

    /// Breaks when a flipped bit in the journal's count invents facts.
    @Test(arguments: 0..<64) func aFlippedBitInTheCountMakesUpNoFacts(bit: Int) throws {
        try leaveJournal(drained: 7, facts: [opening])
        let path = LockedJournalFile.path(of: source.id, in: folder.url)
        var bytes = try Data(contentsOf: URL(filePath: path))
        bytes[JournalLayout.HeaderWord.drained * 8 + bit / 8] ^= 1 << UInt8(bit % 8)
        try bytes.write(to: URL(filePath: path))
        // A fact that is present proves that its predecessors were recorded.
        #expect(try ledger() == Ledger(recorded: 8, dropped: ["damaged": 7], pending: 1))
    }

    /// Breaks when more than one batch is recovered, and a gap between two batches belongs to neither.
    @Test func gapsAreBookedAlsoBetweenBatches() throws {
        let events = Array(repeating: Fact.Content.event(Fact.Event(code: 1)), count: 11_999)
        try leaveJournal(drained: 0, facts: [opening] + events, size: JournalSize(isMapped: false))
        try damageJournal { $0 % 1_000 == 0 }
        #expect(try store.recoverJournals(in: folder.url, installation: nil).count == 1)
        #expect(try store.ledgers()[source.id] == Ledger(recorded: 12_000, dropped: ["damaged": 12], pending: 11_988))
    }

    /// Breaks when a partly damaged journal stays and uses space, although everything readable in it is stored.
    @Test func aJournalOfWhichSomeRecordsCannotBeReadGoesOnceTheOthersAreStored() throws {
        try leaveJournal(drained: 0, facts: [opening, .event(Fact.Event(code: 1))])
        try damageJournal { $0 == 2 }
        #expect(
            try store.recoverJournals(in: folder.url, installation: nil).map(\.message).allSatisfy {
                $0.contains("booked as damaged")
            })
        #expect(try !folder.names().contains { $0.hasPrefix("journal-") })
    }

    /// Breaks when an unreadable journal is deleted, or kept under a name that no message mentions.
    @Test func aJournalBeyondReadingIsSetAside() throws {
        try Data("no journal at all, but of some length".utf8).write(to: folder.file("journal-\(source.id)"))
        let problems = try store.recoverJournals(in: folder.url, installation: nil).map(\.message)
        #expect(
            problems.count == 1
                && problems.allSatisfy { $0.contains("it is kept as") && $0.contains("journal-\(source.id).damaged.") })
        #expect(try folder.names().filter { $0.hasPrefix("journal-") } == ["journal-\(source.id).damaged"])
        #expect(try store.recoverJournals(in: folder.url, installation: nil) == [], "told once")
        _ = try store.erase(.all, at: FactWriter.wall)
        #expect(try !folder.names().contains { $0.hasPrefix("journal-") }, "what was erased may stand in it")
    }

    /// Breaks when a message says that a file was renamed although it couldn't be. Someone who looks for it under that
    /// name finds something else.
    @Test func aJournalThatCannotBeSetAsideStaysAndThatIsSaid() throws {
        let name = "journal-\(source.id)"
        try Data("no journal at all, but of some length".utf8).write(to: folder.file(name))
        // A folder of that name blocks every user, root included.
        try FileManager.default.createDirectory(at: folder.file("\(name).damaged"), withIntermediateDirectories: false)
        for _ in 1...2 {
            let problem = try #require(try store.recoverJournals(in: folder.url, installation: nil).first)
            #expect(problem.message.contains("could not be renamed"), "\(problem.message)")
            #expect(!problem.message.contains("kept as") && problem.cause != nil)
            #expect(FileManager.default.fileExists(atPath: folder.file(name).path))
        }
    }

    /// Flips a bit in the records of the facts with the chosen sequences.
    private func damageJournal(where isChosen: (Int) -> Bool) throws {
        let url = URL(filePath: LockedJournalFile.path(of: source.id, in: folder.url))
        var words = try Data(contentsOf: url).withUnsafeBytes { Array($0.bindMemory(to: UInt64.self)) }
        let layout = try JournalLayout(header: words)
        for segment in 0..<layout.segmentCount {
            let index = layout.headerWordCount + segment * layout.segmentWordCount
            var offset = JournalLayout.segmentHeaderWordCount
            while offset < layout.segmentWordCount, case let heading = JournalHeading(word: words[index + offset]),
                heading.kind != nil
            {
                if heading.kind != .filler, isChosen(Int(words[index + offset + 1])) {
                    words[index + offset + 1] ^= 1 << 40
                }
                offset += heading.wordCount
            }
        }
        try words.withUnsafeBytes { try Data($0).write(to: url) }
    }
}
