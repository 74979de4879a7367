import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import WaybillStore

/// A journal returns each appended fact once, in order, and survives its process. It does so whether it is mapped or
/// written.
@Suite(.timeLimit(.minutes(5))) struct JournalTests {
    private let folder: TemporaryDirectory
    private let source = SourceIdentity(id: GUID(), app: "shop", appVersion: "1.4.0", attributes: ["lane": "test"])
    private let anchor = ClockAnchor(atMicroseconds: 0, offsetMicroseconds: 1_700_000_000_000_000)

    init() throws { folder = try TemporaryDirectory() }

    private func file(_ name: String = "journal", segments: Int = 4, kibibytes: Int = 8, isMapped: Bool) throws
        -> JournalFile
    {
        let description = TransactionSet(
            id: source.id, sources: [TransactionSet.Share(source: source, clocks: [anchor], facts: [])])
        return try JournalFile(
            LockedJournalFile(path: folder.file(name).path), description: description.encoded(), startMicroseconds: 0,
            size: JournalSize(segmentCount: segments, segmentByteCount: kibibytes * 1024, isMapped: isMapped))
    }

    private func journal(_ file: JournalFile) -> Journal {
        Journal(file, lastSequence: 0, openCount: 0, refusedCount: 0)
    }

    /// Returns what recovery would find. It reads a copy, because this process must not lock the journal that is read.
    private func recovered(_ name: String = "journal") throws -> (facts: [Fact], journal: RecoveredJournal) {
        let journal = try RecoveredJournal(LockedJournalFile(path: copy(name).path))
        return (journal.next(limit: .max), journal)
    }

    private func copy(_ name: String = "journal") throws -> URL {
        let copy = folder.file("\(GUID())")
        try FileManager.default.copyItem(at: folder.file(name), to: copy)
        return copy
    }

    /// One fact of each kind, with every possible member.
    private let contents: [Fact.Content] = {
        let error = RecordedError(domain: "NSURLErrorDomain", code: -1009, text: "offline ✈️")
        let fields = [
            HeaderField(name: "Accept", value: "*/*"),
            HeaderField(name: "X-Long", value: String(repeating: "é", count: 300)),
        ]
        let attributes: Attributes = [
            "a": "", "b": -7, "c": 0.5, "d": true, "ü": .string(String(repeating: "x", count: 17)),
        ]
        return [
            .opened(Fact.Opened(transaction: GUID(), useCase: 3, attributes: attributes)),
            .opened(
                Fact.Opened(
                    transaction: GUID(), useCase: 0, isJoined: true, timeoutMicroseconds: 0,
                    cause: FactID(source: GUID(), sequence: 9))),
            .opened(Fact.Opened(transaction: GUID(), useCase: 1, parent: GUID(), parentPart: 1)),
            .opened(Fact.Opened(transaction: GUID(), useCase: 1, parent: GUID(), attributes: ["a": 1])),
            .event(
                Fact.Event(
                    code: 2,
                    error: RecordedError(
                        domain: "Shop", code: 3, name: "rejected",
                        underlying: [.init(domain: "D", code: -1), .init(code: 2, name: "é")]))),
            .event(Fact.Event(code: 12)), .event(Fact.Event(code: 1, error: error, attributes: attributes)),
            .attributesSet(Fact.AttributesSet(attributes: attributes, removed: ["gone", "ü"])),
            .attributesSet(Fact.AttributesSet(removed: ["gone"])),
            .exchangeOpened(
                Fact.ExchangeOpened(
                    role: .server, method: "POST", scheme: "https", host: "api.example.com", port: 8443, path: "/login",
                    query: "",
                    headerFields: fields)),
            .exchangeOpened(Fact.ExchangeOpened(method: "GET", path: "")),
            .exchangeClosed(
                Fact.ExchangeClosed(
                    exchange: 5, state: .completed, status: 200, firstByteAtMicroseconds: 8, sentByteCount: 0,
                    receivedByteCount: 1 << 40,
                    headerFields: fields)),
            .exchangeClosed(Fact.ExchangeClosed(exchange: 6, state: .failed, error: error)),
            // One without WebSocket traffic and one with it. The traffic comes after everything else.
            .exchangeClosed(
                Fact.ExchangeClosed(
                    exchange: 6, state: .completed, transfer: Fact.Transfer(httpVersion: "1.1", rule: "slow"))),
            .exchangeClosed(
                Fact.ExchangeClosed(
                    exchange: 6, state: .completed,
                    transfer: Fact.Transfer(
                        webSocket: Fact.WebSocket(
                            sentMessageCount: 1, receivedMessageCount: 1, pingCount: 2, closeCode: 1000,
                            closeReason: "später",
                            messages: [
                                .init(atMicroseconds: 5, isSent: true, isText: false, byteCount: 1 << 33),
                                .init(atMicroseconds: 6, isSent: false, isText: true, byteCount: 0),
                            ])))),
            .closed(Fact.Closed(outcome: .failed, error: error, attributes: attributes)),
            .closed(Fact.Closed(outcome: .succeeded)),
        ]
    }()

    /// Breaks when a fact read from the journal or from the file of a dead process differs from the recorded one.
    @Test(arguments: [true, false])
    func everyFactComesBackAsItWas(isMapped: Bool) throws {
        let file = try file(isMapped: isMapped)
        let journal = journal(file)
        journal.append(RecordedName(useCase: 3, name: "purchase"))
        for (index, content) in contents.enumerated() {
            guard case .done = journal.append(content, part: 1, atMicroseconds: Int64(index) * 1_000) else {
                throw TestFailure("refused")
            }
        }
        journal.append(RecordedName(useCase: 3, event: 12, name: "paid"))

        let left = try recovered()
        let taken = journal.take(limit: 1_000)
        #expect(taken.map(\.content) == contents)
        #expect(taken.map(\.sequence) == Array(1...Int64(contents.count)))
        #expect(taken.map(\.atMicroseconds) == contents.indices.map { Int64($0) * 1_000 })
        #expect(taken.map(\.part) == [1, 2, 3, 4] + Array(repeating: 1, count: contents.count - 4))
        #expect(left.facts == taken)
        #expect(left.journal.damagedCount == 0)
        #expect(left.journal.source == source)
        #expect(left.journal.clocks == [anchor])
        #expect(
            left.journal.names == [
                RecordedName(useCase: 3, name: "purchase"), RecordedName(useCase: 3, event: 12, name: "paid"),
            ])
    }

    /// Breaks when a page is mapped that the file system may be unable to write. That kills the app by SIGBUS.
    @Test func onlyFileSystemsThatWereTriedAreMapped() {
        // linux/magic.h: ext4 and tmpfs; then XFS, btrfs, overlayfs, F2FS, NFS, FUSE, exFAT, ZFS, and an unknown type.
        let types: [UInt32] = [
            0xEF53, 0x0102_1994, 0x5846_5342, 0x9123_683E, 0x794C_7630, 0xF2F5_2010, 0x6969, 0x6573_5546, 0x2011_BAB0,
            0x2FC1_2FC1, 0,
        ]
        #expect(types.filter { LockedJournalFile.canBeMapped(on: $0) } == [0xEF53, 0x0102_1994])
    }

    #if os(Linux)
    /// Breaks when an event in a container costs a system call, or the journal of another file system can be mapped.
    @Test func inAContainerTheFileSystemBelowCounts() throws {
        let names = ["lower", "upper", "work", "over"]
        for name in names { try StoreFolder.make(folder.file(name)) }
        let paths = names.map { folder.file($0).path(percentEncoded: false) }
        let mount = Process()
        mount.executableURL = URL(filePath: "/usr/bin/env")
        mount.arguments = [
            "mount", "-t", "overlay", "-o", "lowerdir=\(paths[0]),upperdir=\(paths[1]),workdir=\(paths[2])", "test",
            paths[3],
        ]
        mount.standardError = FileHandle.nullDevice
        try mount.runAlone()
        mount.waitUntilExit()
        guard mount.terminationStatus == 0 else { return }  // only root may mount, and not everywhere
        defer { umount2(paths[3], Int32(MNT_DETACH)) }
        let (below, above) = (
            try LockedJournalFile(path: folder.file("below").path), try LockedJournalFile(path: paths[3] + "/above")
        )
        var flags: Int32 = 0
        let areRead = ioctl(below.descriptor, 0x8008_6601, &flags) == 0  // FS_IOC_GETFLAGS of linux/fs.h
        let hasExtents = areRead && flags & 0x80000 != 0
        #expect(above.canBeMapped == hasExtents, "only ext4 has them")
    }
    #endif

    /// Breaks when a reboot is mistaken for a crash or the other way round, or damage for a signal.
    @Test(arguments: [true, false])
    func theBootTellsARestartOfTheDeviceFromAnEndWithoutOne(isMapped: Bool) throws {
        let file = try file(isMapped: isMapped)
        let journal = journal(file)
        _ = journal.append(contents[0], part: 0, atMicroseconds: 0)
        func end(boot: String) throws -> SourceEnd? {
            try RecoveredJournal(LockedJournalFile(path: copy().path), boot: boot).end
        }
        #expect(try end(boot: Moment.thisBoot) == nil, "killed, or a crash: signals are not caught")
        #expect(try end(boot: "another") == .reboot)
        #expect(try end(boot: "") == nil, "the system does not say")
        for bit in 0..<64 {
            file.words[JournalLayout.HeaderWord.end] ^= 1 << UInt64(bit)
            file.write(JournalLayout.HeaderWord.end..<JournalLayout.HeaderWord.boot)
            // The lower bits are the number itself, usually of a signal that is not caught.
            if bit > 15 { #expect(try end(boot: Moment.thisBoot) == nil, "bit \(bit)") }
            file.words[JournalLayout.HeaderWord.end] ^= 1 << UInt64(bit)
        }
        withExtendedLifetime(journal) {}
    }

    /// Breaks when two threads get the same sequence or record, or when the reader skips a record that is not published
    /// yet.
    @Test func eightThreadsAndAReaderLoseAndDoubleNothing() throws {
        let file = try file(segments: 8, kibibytes: 64, isMapped: true)
        let journal = journal(file)
        let appended = Locked<[Int64: (thread: Int, number: Int)]>([:])
        let isDone = Locked(false)
        let threads = DispatchGroup()
        for thread in 0..<8 {
            threads.enter()
            Thread.detachNewThread {
                defer { threads.leave() }
                var number = 0
                var mine: [Int64: (Int, Int)] = [:]
                do {
                    try eventually("thread \(thread) finds room for fact \(number)") {
                        switch journal.append(
                            .event(Fact.Event(code: thread * 100_000 + number)), part: 7, atMicroseconds: Int64(number))
                        {
                        case .done(let sequence, _, _):
                            mine[sequence] = (thread, number)
                            number += 1
                        case .refused: break  // full: the reader is behind
                        }
                        return number == 5_000
                    }
                } catch {
                    Issue.record(error)
                }
                appended.withLock { $0.merge(mine.mapValues { (thread: $0.0, number: $0.1) }) { first, _ in first } }
            }
        }
        Thread.detachNewThread {
            threads.wait()
            isDone.withLock { $0 = true }
        }
        var facts: [Fact] = []
        try eventually("everything is taken") {
            let wasDone = isDone.withLock { $0 }
            let batch = journal.take(limit: 500)
            facts += batch
            journal.confirm()
            journal.confirmSync()
            return wasDone && batch.isEmpty
        }
        let expected = appended.withLock { $0 }
        #expect(expected.count == 40_000)
        #expect(facts.map(\.sequence) == Array(1...40_000))
        for fact in facts {
            guard case .event(let event) = fact.content, let (thread, number) = expected[fact.sequence] else {
                throw TestFailure("\(fact)")
            }
            #expect(event.code == thread * 100_000 + number)
        }
    }

    /// Breaks when a full journal overwrites facts that are not stored, or when open transactions can no longer be
    /// closed.
    @Test(arguments: [true, false])
    func whenItIsFullEventsAreRefusedAndWhatIsOpenCanBeClosed(isMapped: Bool) throws {
        let file = try file(isMapped: isMapped)
        let journal = journal(file)
        var parts: [Int64] = []
        while case .done(let part, _, _) = journal.append(
            .opened(Fact.Opened(transaction: GUID(), useCase: 0)), part: 0, atMicroseconds: 0)
        {
            parts.append(part)
            if parts.count == 20 { break }
        }
        try #require(parts.count == 20)
        var events = 0
        var refused = 0
        try eventually("the journal is full") {
            switch journal.append(.event(Fact.Event(code: 1)), part: parts[0], atMicroseconds: 0) {
            case .refused: refused += 1
            case .done: events += 1
            }
            return refused == 3
        }
        #expect(journal.refusedCount == 3)
        let text = String(repeating: "why", count: 3_000)  // more than fits: the closing is written without it
        for part in parts {
            let closing = Fact.Content.closed(Fact.Closed(outcome: .failed, error: RecordedError(code: 1, text: text)))
            if case .refused = journal.append(closing, part: part, atMicroseconds: 0) {
                Issue.record("part \(part) cannot be closed")
            }
        }
        let facts = journal.take(limit: .max)
        #expect(facts.map(\.sequence) == Array(1...Int64(40 + events)))
        #expect(journal.refusedCount == 3)
    }

    /// Returns a journal of the usual size without room for more events, and its open parts.
    private func filled(openCount: Int, isMapped: Bool, event: Fact.Content) throws -> (Journal, parts: [Int64]) {
        let journal = journal(try file(segments: 8, kibibytes: 256, isMapped: isMapped))
        var parts: [Int64] = []
        for _ in 0..<openCount {
            let opening = Fact.Content.opened(Fact.Opened(transaction: GUID(), useCase: 0))
            guard case .done(let part, _, _) = journal.append(opening, part: 0, atMicroseconds: 0) else {
                throw TestFailure("\(parts.count) are open, and no more are taken")
            }
            parts.append(part)
            guard parts.count.isMultiple(of: 2_000) else { continue }
            _ = journal.take(limit: .max)
            journal.confirm()
            journal.confirmSync()
        }
        try eventually("the journal is full") {
            if case .refused = journal.append(event, part: 1, atMicroseconds: 0) { true } else { false }
        }
        return (journal, parts)
    }

    private var longAttributes: Attributes {
        var attributes: Attributes = [:]
        for number in 0..<32 { attributes["attribute\(number)"] = .string(String(repeating: "x", count: 400)) }
        return attributes
    }

    /// Breaks when the end of one transaction uses the room reserved for the end of another, or when the unused end of
    /// a segment does.
    @Test(arguments: [1, 30_000]) func longClosingsLeaveRoomForOthers(eventBytes: Int) throws {
        let text = String(repeating: "x", count: eventBytes)
        let event = Fact.Content.event(Fact.Event(code: 1, attributes: ["text": .string(text)]))
        let (journal, parts) = try filled(openCount: 1_500, isMapped: true, event: event)
        let closing = Fact.Content.closed(Fact.Closed(outcome: .failed, attributes: longAttributes))
        let kept = parts.count { part in
            if case .done(_, true, _) = journal.append(closing, part: part, atMicroseconds: 0) { true } else { false }
        }
        #expect(kept == 1_500, "all are in the file")
    }

    /// Breaks when so many transactions are open that the journal has no room for their ends, and these are lost or
    /// reordered; or when facts that were not stored are not handed out again.
    @Test func whateverIsOpenCanBeClosedAlsoWhereTheFileHasNoRoom() throws {
        let (journal, parts) = try filled(openCount: 20_000, isMapped: true, event: .event(Fact.Event(code: 1)))
        var keptCount = 0
        for part in parts {
            let closing = Fact.Content.closed(Fact.Closed(outcome: .succeeded, attributes: longAttributes))
            guard case .done(_, let isKept, _) = journal.append(closing, part: part, atMicroseconds: 0) else {
                throw TestFailure("part \(part) cannot be closed")
            }
            keptCount += isKept ? 1 : 0
        }
        #expect((4_000..<20_000).contains(keptCount))
        let first = journal.take(limit: .max)
        journal.giveBack()
        var facts: [Fact] = []
        try eventually("all is taken") {
            let batch = journal.take(limit: 5_000)
            facts += batch
            journal.confirm()
            journal.confirmSync()
            return batch.isEmpty && !journal.hasMore
        }
        #expect(facts == first)
        #expect(facts.map(\.sequence) == Array(20_001...20_000 + Int64(facts.count)))
        #expect(facts.count { if case .closed = $0.content { true } else { false } } == 20_000)
        guard case .done(let next, true, _) = journal.append(event: 1, part: 1, atMicroseconds: 0) else {
            throw TestFailure("there is room again")
        }
        #expect(next == 20_001 + Int64(facts.count))
        #expect(journal.take(limit: 5).map(\.sequence) == [next])
    }

    /// Breaks when room is used again before its facts are on the disk. A power cut would destroy both.
    @Test func aSegmentIsUsedAgainOnlyWhenWhatWasInItIsSynced() throws {
        let file = try file(isMapped: true)
        let journal = journal(file)
        func fill() throws -> Int {
            var count = 0
            try eventually("the journal is full") {
                if case .refused = journal.append(.event(Fact.Event(code: 1)), part: 1, atMicroseconds: 0) {
                    return true
                }
                count += 1
                return false
            }
            return count
        }
        let first = try fill()
        #expect(first > 100)
        #expect(journal.take(limit: .max).count == first)
        #expect(try fill() == 0)
        journal.confirm()
        #expect(try fill() == 0)
        #expect(journal.wantsSync)
        journal.confirmSync()
        #expect(!journal.wantsSync)
        let second = try fill()
        #expect(second > 100)
        #expect(journal.take(limit: .max).map(\.sequence) == Array(Int64(first + 1)...Int64(first + second)))
        // A record of the previous round must not pass for one of this round. Recovery finds the facts appended since,
        // and the remains of the previous round.
        let sequences = try recovered().facts.map(\.sequence)
        #expect(Set(sequences).count == sequences.count)
        #expect(sequences.suffix(second) == Array(Int64(first + 1)...Int64(first + second))[...])
    }

    /// Breaks when a segment that is full to its last word, and stored, is freed before the next one takes over its
    /// count of sequences.
    @Test func sequencesGoOnAfterASegmentThatWasFilledToItsLastWord() throws {
        let file = try file(kibibytes: 16, isMapped: true)
        let journal = journal(file)
        let wordsOfAnEvent = JournalRecord.prefixWordCount + 1
        let (count, rest) = file.layout.largestRecordWordCount.quotientAndRemainder(dividingBy: wordsOfAnEvent)
        try #require(rest == 0)
        for round in 0..<6 {
            for _ in 0..<count { _ = journal.append(.event(Fact.Event(code: 1)), part: 1, atMicroseconds: 0) }
            #expect(
                journal.take(limit: .max).map(\.sequence)
                    == Array(Int64(round * count + 1)...Int64((round + 1) * count)))
            journal.confirm()
            journal.scrub()
        }
    }

    /// Breaks when facts that could not be stored are not handed out again, or in another order.
    @Test func whatWasGivenBackComesAgain() throws {
        let journal = journal(try file(isMapped: true))
        for code in 1...5 { _ = journal.append(.event(Fact.Event(code: code)), part: 1, atMicroseconds: 0) }
        let first = journal.take(limit: 3)
        journal.giveBack()
        #expect(journal.take(limit: 3) == first)
        journal.confirm()
        #expect(journal.take(limit: 10).map(\.sequence) == [4, 5])
    }

    /// Breaks when a source records into a file that another process has removed meanwhile, because it mistook the file
    /// for a dead process's.
    @Test func aMarkIsSetOnTheFileThatHasItsName() async throws {
        let source = GUID()
        let path = LockedJournalFile.path(of: source, in: folder.url)
        var looker: LockedJournalFile? = try LockedJournalFile(path: path)
        let folder = folder.url
        async let mark = Task.detached {
            try StoreThread(label: "mark") { () throws(WaybillError) in try LockedJournalFile(of: source, in: folder) }
        }.value
        unlink(path)
        looker = nil
        let thread = try await mark
        #expect(looker == nil && LockedJournalFile.isLocked(for: source, in: folder))
        thread.sync { _ in }
    }

    /// Breaks when damage goes unnoticed: a changed kind, a last record without a successor, or a segment whose place
    /// in the order is lost.
    @Test func whatIsDamagedIsNoticedAndCounted() throws {
        let file = try file(kibibytes: 64, isMapped: false)
        let journal = journal(file)
        for code in 1...20 { _ = journal.append(.event(Fact.Event(code: code)), part: 1, atMicroseconds: 5) }
        let bytes = try Data(contentsOf: folder.file("journal"))
        func recovered(flipping bit: Int) throws -> (facts: [Fact], journal: RecoveredJournal) {
            var damaged = bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            let path = folder.file("damaged-\(bit)")
            try damaged.write(to: path)
            return try self.recovered(path.lastPathComponent)
        }
        let segment = file.layout.headerWordCount * 64
        let eventWordCount = 5
        let last = segment + (JournalLayout.segmentHeaderWordCount + 19 * eventWordCount) * 64
        for bit in last..<last + 64 {
            let (facts, left) = try recovered(flipping: bit)
            #expect(facts.map(\.sequence) == Array(1...19), "bit \(bit - last)")
            #expect(left.damagedCount == 1, "bit \(bit - last)")
            #expect(left.recorded == 20, "bit \(bit - last)")
        }
        for bit in segment..<segment + JournalLayout.segmentHeaderWordCount * 64 {
            let (facts, left) = try recovered(flipping: bit)
            #expect(facts.map(\.sequence) == Array(1...20), "bit \(bit - segment)")
            #expect(left.damagedCount == 1, "bit \(bit - segment)")
        }
    }

    /// Breaks when a journal still promises to survive after its file was deleted.
    @Test(arguments: [true, false]) func aDeletedJournalPromisesNothing(isMapped: Bool) throws {
        let journal = journal(try file(isMapped: isMapped))
        let append = { journal.append(.event(Fact.Event(code: 1)), part: 1, atMicroseconds: 0) }
        guard case .done(1, true, _) = append() else { throw TestFailure("it is there") }
        try FileManager.default.removeItem(at: folder.file("journal"))
        _ = journal.take(limit: .max)
        journal.confirm()
        guard case .done(2, false, _) = append() else { throw TestFailure("it is gone") }
        #expect(journal.problem?.description.contains("was deleted") == true)
    }

    /// Breaks when a flipped bit makes recovery crash, invent a fact, or lose more than the records it touched.
    @Test func aFlippedBitCostsTheRecordThatItIsIn() throws {
        let file = try file(kibibytes: 4, isMapped: false)
        let journal = journal(file)
        for content in contents { _ = journal.append(content, part: 1, atMicroseconds: 5) }
        let facts = try recovered().facts
        let bytes = try Data(contentsOf: folder.file("journal"))
        var random = SystemRandomNumberGenerator()
        var found = 0
        for position in stride(from: 0, to: bytes.count, by: 41) {
            var damaged = bytes
            damaged[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let path = folder.file("damaged-\(position)")
            try damaged.write(to: path)
            let mark = try LockedJournalFile(path: path.path)
            do throws(RecoveredJournal.Failure) {
                let journal = try RecoveredJournal(mark)
                let left = journal.next(limit: .max)
                #expect(left.allSatisfy(facts.contains), "byte \(position)")
                #expect(left.count >= facts.count - 1 || left.isEmpty, "byte \(position)")
                found += journal.damagedCount
            } catch {
                #expect(position < file.layout.headerWordCount * 8, "byte \(position)")
            }
            try FileManager.default.removeItem(at: path)
        }
        #expect(found > 0)
    }

    /// Breaks when recovery loses, repeats or reorders facts at the border between two batches.
    @Test(arguments: [1, 2, 7, 64]) func aJournalIsReadTheSameInBatchesOfAnySize(limit: Int) throws {
        let journal = journal(try file(kibibytes: 64, isMapped: true))
        for number in 1...200 {
            _ = journal.append(contents[number % contents.count], part: 1, atMicroseconds: Int64(number))
            if number % 50 == 0 { journal.append(RecordedName(useCase: number, name: "name")) }
        }
        let whole = try recovered().facts
        #expect(whole.count == 200)
        let left = try RecoveredJournal(LockedJournalFile(path: copy().path))
        var batches: [[Fact]] = []
        try eventually("all is read") {
            batches.append(left.next(limit: limit))
            return batches.last?.count != limit
        }
        #expect(batches.flatMap { $0 } == whole)
        #expect(batches.allSatisfy { $0.count <= limit })
        #expect(left.names.map(\.useCase) == [50, 100, 150, 200])
    }

    /// Breaks when an unknown file is deleted, or mistaken for ours.
    @Test func whatIsNoJournalIsDamagedAndWhatIsNewerIsNewer() throws {
        try Data(repeating: 7, count: 8192).write(to: folder.file("other"))
        #expect(throws: RecoveredJournal.Failure.damaged) { try recovered("other") }
        try Data().write(to: folder.file("empty"))
        #expect(throws: RecoveredJournal.Failure.empty) { try recovered("empty") }
        let file = try file("newer", isMapped: false)
        file.words[JournalLayout.HeaderWord.version] = 9
        file.write(0..<file.layout.headerWordCount)
        #expect(throws: RecoveredJournal.Failure.newer) { try recovered("newer") }
    }

    #if os(Linux)
    /// Breaks when each manager in a widget or a keyboard has 2 MB of memory that cannot be given back. The system ends
    /// these processes for some tens of MB.
    @Test func aJournalThatIsNotMappedTakesMemoryForWhatIsNotStoredAlone() throws {
        let file = try file(segments: 8, kibibytes: 256, isMapped: false)
        let journal = journal(file)
        #expect(try dirtyKibibytes(of: file) <= 16, "nothing but the header")
        var most = 0
        for round in Int64(0)..<200 {
            for _ in 0..<500 { _ = journal.append(event: 1, part: 1, atMicroseconds: round) }
            while !journal.take(limit: 5_000).isEmpty {}
            journal.confirm()
            most = max(most, try dirtyKibibytes(of: file))
            journal.scrub()
            #expect(try dirtyKibibytes(of: file) <= 32, "what is stored has given its pages back")
        }
        #expect(most < 100, "\(most) KiB: 500 events, of 40 bytes each")
        // The rest of the last round is all that recovery finds: no facts, and the count.
        let found = try recovered()
        #expect(found.facts.isEmpty)
        #expect(found.journal.recorded == 100_000)
        #expect(found.journal.damagedCount == 0)
    }

    /// Returns the size of the journal pages that belong to this process alone: neither untouched, nor the one page of
    /// zeros that all processes share (Documentation/admin-guide/mm/pagemap.rst: bit 63, present; bit 56, mapped by one
    /// alone).
    private func dirtyKibibytes(of file: JournalFile) throws -> Int {
        let pageBytes = Int(getpagesize())
        let handle = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/pagemap"))
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(UInt(bitPattern: file.words) / UInt(pageBytes) * 8))
        let data = try #require(try handle.read(upToCount: file.layout.wordCount * 8 / pageBytes * 8))
        let count = stride(from: 0, to: data.count, by: 8).count {
            data[$0 + 7] & 0x80 != 0 && data[$0 + 7] & 0x01 != 0
        }
        return count * pageBytes / 1024
    }
    #endif
}

private struct TestFailure: Error {
    var text: String
    init(_ text: String) { self.text = text }
}
