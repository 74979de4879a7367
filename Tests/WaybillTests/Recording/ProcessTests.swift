import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// Processes that die or multiply.
@Suite(.timeLimit(.minutes(5))) struct ProcessTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// Breaks when a login that a crash interrupted looks like one in progress.
    @Test func aProcessThatDiedWithATransactionOpenLeavesItInterrupted() async throws {
        let (output, _) = try ChildProcess("TestProcess", ["die", folder.url.path()]).finish()
        let id = try #require(GUID(output.trimmingCharacters(in: .whitespacesAndNewlines)))
        let next = TransactionManager(store: .directory(folder.url))
        let record = try #require(try next.allRecords().first { $0.summary.id == id })
        #expect(record.summary.outcome == .interrupted)
        #expect(record.timeline.last?.label == "requestSent", "the last event is there")
        #expect(next.health.isGood)
    }

    /// Breaks when an app crashes because standard error has no reader.
    @Test(arguments: ["unheard", "unheard-ignored"])
    func aMessageWithoutAReaderEndsNoProcess(verb: String) throws {
        let (output, status) = try ChildProcess("TestProcess", [verb, "/dev/null/waybill"]).finish()
        #expect(output == "alive\n" && status == 0, "\(output)")
    }

    /// Breaks when a journal gets the number of a standard output that is closed, and what the app prints overwrites it.
    @Test func whatAnAppPrintsWithoutAnOutputStaysOutOfItsJournal() throws {
        _ = try ChildProcess("TestProcess", ["closed", folder.url.path()]).finish()
        let next = TransactionManager(store: .directory(folder.url))
        let record = try #require(try next.allRecords().first)
        #expect(record.summary.outcome == .succeeded && record.timeline.contains { $0.label == "requestSent" })
        #expect(next.health.isGood)
    }

    private func sources(of transactions: TransactionManager) throws -> [SourceRecord] {
        try transactions.sources.readableSource?.writer.runAndWait { opened, _ in try opened.reader().sources() } ?? []
    }

    /// Breaks when the next launch calls a crash a kill or an exit, or when the process doesn't die of its signal (no
    /// core dump, and another exit status), or when an earlier handler is not called.
    @Test(
        arguments: [
            ("end-exit", 7, .exit), ("end-kill", SIGKILL, .system), ("end-segv", SIGSEGV, .signal("SIGSEGV")),
            ("end-abort", SIGABRT, .signal("SIGABRT")), ("end-term", SIGTERM, .signal("SIGTERM")),
            ("end-handled-exit", 7, .exit), ("end-handled-kill", SIGKILL, .system),
            ("end-handled-deadly", SIGSEGV, .signal("SIGSEGV")), ("end-ignored", SIGKILL, .system),
            ("end-ignored-info", SIGKILL, .system), ("end-uncaught", SIGSEGV, nil),
            ("end-written", SIGSEGV, .signal("SIGSEGV")),
            ("end-stack", SIGSEGV, .signal("SIGSEGV")),
        ] as [(String, Int32, SourceEnd?)])
    func theNextLaunchSaysHowAProcessEnded(verb: String, status: Int32, end: SourceEnd?) async throws {
        let (output, code) = try ChildProcess("TestProcess", [verb, folder.url.path()]).finish()
        #expect(code == status)
        #expect(output == (verb.contains("handled") ? "handled\n" : ""))
        let next = TransactionManager(store: .directory(folder.url))
        let record = try #require(try next.allRecords().first)
        #expect(record.summary.outcome == .interrupted)
        #expect(record.summary.endedBy == end)
        #expect(record.sources.map(\.endedBy) == [end])
        #expect(try sources(of: next).first { $0.id == record.sources.first?.id }?.endedBy == end)
        #expect(next.health.isGood)
    }

    /// Breaks when only one of an app's two stores knows how the app ended.
    @Test func eachStoreOfAProcessKnowsHowItEnded() async throws {
        let code = try ChildProcess("TestProcess", ["end-two", folder.url.path()]).finish().status
        #expect(code == SIGABRT)
        for name in ["one", "two"] {
            let next = TransactionManager(store: .directory(folder.file(name)))
            #expect(try next.allRecords().map(\.summary.endedBy) == [.signal("SIGABRT")])
        }
    }

    /// Breaks when the end of a manager looks like a crash although its process goes on.
    @Test func aManagerThatGoesAwayEndsItsSourceByItself() async throws {
        do { TransactionManager(store: .directory(folder.url)).perform(Login.self) { $0.log(.initiated) } }
        try await eventually("the thread of the first manager writes what waits") {
            try sources(of: TransactionManager(store: .directory(folder.url))).contains { $0.endedBy == .exit }
        }
    }

    /// Breaks when a child that hangs keeps all tests waiting, and the output doesn't show which one.
    @Test func aChildThatDoesNotEndIsKilled() async throws {
        let endless = try ChildProcess("TestProcess", ["journal", folder.url.path()])
        #expect(await endless.finished(within: .seconds(1)).status == SIGKILL)
    }

    /// Breaks when facts that `log` called journaled are lost in a crash, or are recorded twice.
    @Test func whatWasJournaledSurvivesSIGKILLOnce() async throws {
        let child = try ChildProcess("TestProcess", ["journal", folder.url.path()])
        for _ in 0..<2_000 { try #require(child.line() != nil) }
        child.kill()
        let said = 2_000 + child.finish().output.split(separator: "\n").count
        let next = TransactionManager(store: .directory(folder.url))
        let record = try #require(try next.allRecords().first)
        let numbers = record.timeline.compactMap { entry -> Int64? in
            if case .integer(let number) = entry.attributes["number"] { number } else { nil }
        }
        // A refused fact, or one in memory, has the number of the next journaled one.
        var journaled: [Int64] = []
        for number in numbers where journaled.last != number { journaled.append(number) }
        #expect(journaled.prefix(said) == ArraySlice(0..<Int64(said)))
        #expect(journaled.count <= said + 1, "one may have been journaled and not said")
        #expect(record.timeline.map(\.id.sequence) == Array(1...Int64(record.timeline.count)))
        #expect(record.summary.outcome == .interrupted)
        #expect(next.health.isGood)
        #expect(try !folder.names().contains("journal-\(record.sources[0].id)"), "what it held is in the store")
    }

    private func shortRuns(_ verb: String, count: Int = 10) throws -> [String] {
        try (0..<count).map { _ in
            let (output, status) = try ChildProcess("TestProcess", [verb, folder.url.path()]).finish()
            #expect(status == (verb == "short-kill" ? SIGKILL : 0))
            return output
        }
    }

    /// Breaks when a tool of five lines loses all its facts, or needs a `sync()`.
    @Test(arguments: ["short-end", "short-exit", "short-late"])
    func aShortProgramKeepsEveryFact(verb: String) async throws {
        let count = try shortRuns(verb).count
        #expect(try folder.names().count { $0.hasPrefix("journal-") } < count, "what some left, others have stored")
        let next = TransactionManager(store: .directory(folder.url))
        let records = try next.allRecords()
        #expect(records.count == count)
        #expect(records.allSatisfy { $0.timeline.compactMap(\.code) == [0, 1, 2] })
        #expect(records.allSatisfy { $0.summary.outcome == .succeeded })
        #expect(next.health.isGood)
    }

    /// Breaks when `exit` waits for a disk that does not answer.
    @Test func aJournalThatCannotBeOpenedDoesNotKeepAProcessFromEnding() throws {
        _ = try shortRuns("short-never", count: 1)
    }

    /// Breaks when facts that `log` called journaled are lost because the process was killed before it had a store.
    @Test func whatWasJournaledInTheFirstMillisecondsSurvivesSIGKILL() throws {
        let said = try shortRuns("short-kill", count: 20).flatMap { $0.split(separator: "\n").compactMap { Int($0) } }
        let next = TransactionManager(store: .directory(folder.url))
        let records = try next.allRecords()
        let stored = records.flatMap(\.timeline).compactMap { entry -> Int? in
            if case .integer(let number) = entry.attributes["number"] { Int(number) } else { nil }
        }
        let (saidCounts, storedCounts) = (Dictionary(grouping: said) { $0 }, Dictionary(grouping: stored) { $0 })
        for (number, saidCount) in saidCounts {
            #expect(storedCounts[number]?.count ?? 0 >= saidCount.count, "number \(number)")
        }
        #expect(next.health.isGood)
    }

    /// Breaks when two running processes on one store take each other for dead.
    @Test func aSourceThatStillRunsIsNotTakenForDead() async throws {
        let first = TransactionManager(store: .directory(folder.url))
        let login = first.begin(Login.self)
        try await first.sync()
        let second = TransactionManager(store: .directory(folder.url))
        #expect(try second.last(Login.self)?.outcome == .open)
        login.finish()
        try await first.sync()
        #expect(try second.last(Login.self)?.outcome == .succeeded)
    }

    #if os(Linux)
    // On other systems a forked child must not run Swift or Objective-C before it executes another program.

    /// Breaks when a forked child reports the end of its parent.
    @Test func howAForkedChildEndedIsNotHowItsParentDid() async throws {
        try await theNextLaunchSaysHowAProcessEnded(verb: "end-fork", status: 7, end: .exit)
    }

    /// Breaks when a child that runs on keeps its parent's journal locked: the parent's last facts would not be stored,
    /// and its transactions would stay open.
    @Test func aForkedChildDoesNotStandForItsParent() async throws {
        let parent = try ChildProcess("TestProcess", ["fork-orphan", folder.url.path()])
        let words = try #require(parent.line()).split(separator: " ")
        let child = try #require(words.first.flatMap { Int32($0) })
        defer { kill(child, SIGKILL) }
        // Foundation considers the parent running while the child holds the other end of a pipe.
        try await eventually("the parent has died") {
            let state = try? String(contentsOfFile: "/proc/\(parent.id)/stat", encoding: .utf8)
            return state?.contains(") Z ") ?? true
        }
        #expect(kill(child, 0) == 0, "it runs")
        // A multithreaded process is a zombie before its last thread has released its files.
        try await eventually("what it recorded comes in") {
            let records = try? TransactionManager(store: .directory(folder.url)).allRecords()
            return records?.first?.summary.outcome == .interrupted
        }
        let record = try #require(try TransactionManager(store: .directory(folder.url)).allRecords().first)
        #expect(record.summary.id.description == words.last.map(String.init))
        #expect(record.timeline.compactMap(\.code) == [0], "from the journal")
        #expect(kill(child, 0) == 0, "it still runs")
    }

    /// Breaks when parent and child assign the same IDs and sequences, and the collector takes half of the facts for
    /// repeats.
    @Test(arguments: ["fork", "clone"]) func aForkedChildIsANewSourceAndTheParentGoesOn(verb: String) throws {
        let (output, status) = try ChildProcess("TestProcess", [verb, folder.url.path()]).finish()
        #expect(status == 0)
        let lines = output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.count == 2, "\(output)")
        let child = try #require(lines.first { $0.first == "child" })
        let parent = try #require(lines.first { $0.first == "parent" })
        #expect(child[1] == "off", "the parent's part is not the child's to add to")
        let tails = try [child[3], parent[2]].map { try #require(GUID($0)).supportCode }
        #expect(tails[0] != tails[1], "the first ID after the fork is not the same in both")
        let records = try TransactionManager(store: .directory(folder.url)).allRecords()
        let ofParent = try #require(records.first { $0.summary.id.description == parent[1] })
        #expect(ofParent.timeline.compactMap(\.code) == [0, 2])
        #expect(ofParent.summary.outcome == .succeeded)
    }
    #endif

    /// Breaks when facts from the last quarter of a second of a manager are lost, or are dated 1970.
    @Test func whatWaitsWhenAManagerGoesAwayIsWrittenAndDated() async throws {
        let before = SystemClock().wallMicroseconds()
        do { TransactionManager(store: .directory(folder.url)).perform(Login.self) { $0.log(.initiated) } }
        let next = TransactionManager(store: .directory(folder.url))
        try await eventually("the thread of the first manager writes what waits") {
            try !next.transactions(Login.self).flatMap(\.events).isEmpty
        }
        #expect(try next.last(Login.self)?.outcome == .succeeded)
        #expect(try #require(next.transactions(Login.self).first).summary.begunMicroseconds >= before)
    }

    /// Breaks when a copy sent to support lacks the last facts.
    @Test func aSnapshotIsOneFileWithEverythingInIt() async throws {
        let transactions = TransactionManager(store: .directory(folder.url))
        transactions.perform(Login.self) { $0.log(.initiated) }
        let file = folder.file("copy.sqlite")
        try await transactions.snapshot(to: file)
        let copy = try TemporaryDirectory()
        try FileManager.default.moveItem(at: file, to: copy.file("waybill.sqlite"))
        #expect(
            try TransactionManager(store: .directory(copy.url)).transactions(Login.self).flatMap {
                $0.events.map(\.event)
            } == [.initiated])
    }
}
