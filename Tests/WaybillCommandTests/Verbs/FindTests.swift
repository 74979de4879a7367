#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCommand
import WaybillCore
@testable import WaybillQueries
@testable import WaybillStore

/// `list` and `export` with a filter, and `list --follow`.
@Suite(.timeLimit(.minutes(5))) struct FindCommandTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeStore(of: login.clientSet(), login.serverSet())
    }

    private var store: String { folder.url.path }

    @Test func aFilterFindsTheSameInAFolderAndAtACollector() async throws {
        let serve = try await ServeProcess.start(folder)
        let all = try await Command.waybill("list", store)
        for place in [store, serve.url] {
            let found = try await Command.waybill("list", place, "outcome:failed os:\"iOS 18\" -event:\"event 7\"")
            #expect(found.status == 0)
            #expect(found.output == all.output)
            let facts = try await Command.waybill("export", place, "took>1ms", "--outcome", "failed")
            #expect(facts.output.split(separator: "\n").count == 9)
            let none = try await Command.waybill("list", place, "took>1h")
            #expect(none.status == 1)
            #expect(none.errors == "The only transaction here does not pass took>1h.\n")
        }
    }

    /// The command marks a mistake in the syntax or in a name, whether the command or the collector finds it.
    @Test func aMistakeIsMarked() async throws {
        let wrong = try await Command.waybill("list", store, "outcome:failed took>fast")
        #expect(wrong.status == 64)
        #expect(
            wrong.errors.hasPrefix(
                """
                Error: “fast” is no duration: give 2s, 1.5s, 500ms, 80us, 3m or 1h.
                  outcome:failed took>fast
                                      ^^^^

                """))
        let serve = try await ServeProcess.start(folder)
        for (place, mark) in [(store, "^^^^^^^^^^^"), (serve.url, "^")] {
            let unknown = try await Command.waybill("list", place, "event:requestsent")
            #expect(unknown.status == 1)
            #expect(
                unknown.errors == """
                    Error: No event here is called “requestsent”; did you mean “requestSent”?
                      event:requestsent
                            \(mark)

                    """)
        }
    }

    /// Breaks when a new match is missing or shown twice, a transaction that doesn't match is shown, or the end leaves
    /// half a line.
    @Test func whatComesIsShownAsItComes() async throws {
        let serve = try await ServeProcess.start(folder)
        for place in [store, serve.url] {
            let follow = try ChildProcess("waybill-cli", ["list", place, "outcome:failed", "--follow", "--json"])
            func next() async throws -> GUID {
                let line = try #require(await following { follow.line() })
                return try JSONDecoder.waybill().decode(TransactionSummary.self, from: Data(line.utf8)).id
            }
            #expect(try await next() == login.transaction)
            let new = LoginHistory()
            #expect(await serve.post(new.serverSet()) != nil)  // doesn't match: nothing has failed yet
            #expect(await serve.post(new.clientSet()) != nil)
            #expect(try await next() == new.transaction)
            let newest = LoginHistory()
            #expect(await serve.post(new.clientSet()) != nil)
            #expect(await serve.post(newest.clientSet()) != nil)
            #expect(try await next() == newest.transaction)
            follow.signal(SIGINT)
            #expect(await following { follow.finish() }.output.isEmpty)
            // The next place must start with one transaction again.
            for id in [new.transaction, newest.transaction] {
                #expect(try await Command.waybill("erase", serve.url, "--id", "\(id)", "--yes").status == 0)
            }
        }
    }

    #if os(Linux)
    /// Breaks when following ends on a full disk as if nobody read any more.
    @Test(arguments: [["list"], ["show"], ["list", "--json"], ["show", "--json"]])
    func aFullDiskEndsFollowingWithAnError(arguments: [String]) async throws {
        let key = arguments[0] == "show" ? ["\(login.transaction)"] : []
        let run = try await Command.waybill(
            [arguments[0], store] + key + arguments.dropFirst() + ["--follow"], to: URL(filePath: "/dev/full"))
        #expect(run.status == 1 && run.errors.contains("Standard output cannot be written."), "\(run.errors)")
    }
    #endif

    /// Breaks when new facts of a transaction are missing, shown twice, or belong to another transaction.
    @Test func oneTransactionIsFollowedAsItGrows() async throws {
        let serve = try await ServeProcess.start(folder)
        for place in [store, serve.url] {
            let new = LoginHistory()
            #expect(await serve.post(new.clientSet()) != nil)
            let lines = try ChildProcess("waybill-cli", ["show", place, "\(new.transaction)", "--follow", "--json"])
            let text = try ChildProcess("waybill-cli", ["show", place, "\(new.transaction)", "--follow"])
            func next() async throws -> TransactionRecord {
                let line = try #require(await following { lines.line() })
                return try JSONDecoder.waybill().decode(TransactionRecord.self, from: Data(line.utf8))
            }
            let before = try await next()
            #expect(before.summary.id == new.transaction && before.parts.count == 1)
            var said: [String] = []
            while said.count < 100, said.last?.contains("└ failed") != true {
                said.append(try #require(await following { text.line() }))
            }
            #expect(await serve.post(LoginHistory().clientSet()) != nil)  // another transaction
            #expect(await serve.post(new.serverSet()) != nil)
            let after = try await next()
            #expect(after.parts.count == 2 && after.timeline.count > before.timeline.count)
            for _ in 0..<after.timeline.count - before.timeline.count {
                let line = try #require(await following { text.line() })
                #expect(line.contains("│"), "a line of the timeline, in the lane of the server: \(line)")
            }
            for process in [lines, text] {
                process.signal(SIGINT)
                #expect(await following { process.finish() }.output.isEmpty)
            }
        }
    }

    /// Breaks when nobody can follow a running app, whose process keeps writing the store.
    @Test func aTransactionOfARunningAppIsFollowed() async throws {
        let place = folder.file("running").path
        let app = try ChildProcess("TestProcess", ["live", place])
        let id = try #require(await following { app.line() }.flatMap { GUID($0) })
        let follow = try ChildProcess("waybill-cli", ["show", place, "\(id)", "--follow", "--json"])
        var counts: [Int] = []
        for _ in 0..<3 {
            let line = try #require(await following { follow.line() })
            let record = try JSONDecoder.waybill().decode(TransactionRecord.self, from: Data(line.utf8))
            #expect(record.summary.id == id && record.summary.outcome == .open)
            counts.append(record.summary.eventCount)
        }
        #expect(counts == Set(counts).sorted(), "each has more than the one before: \(counts)")
        follow.signal(SIGINT)
        #expect(await following { follow.finish() }.status == SIGINT)
        app.kill()
    }

    /// Breaks when the list is empty for somebody who tries a tool of five lines, which ends before it has a store.
    @Test func whatAShortProgramRecordedIsListedAtOnce() async throws {
        let place = folder.file("short").path
        #expect(try ChildProcess("TestProcess", ["short-end", place]).finish().status == 0)
        #expect(!FileManager.default.fileExists(atPath: place + "/waybill.sqlite"), "or this shows nothing")
        for count in 1...2 {
            let list = try await Command.waybill(["list", place, "--json"])
            let lines = list.output.split(separator: "\n").filter { $0.contains("succeeded") }
            #expect(list.status == 0 && lines.count == count, "\(list)")
            #expect(try ChildProcess("TestProcess", ["short-end", place]).finish().status == 0)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place).count { $0.hasPrefix("journal-") } == 1,
            "what is stored leaves no journal")
    }

    /// Breaks when a line of JSON repeats the stored text, which redaction at capture may have missed.
    @Test func aLineThatFollowsIsRedacted() throws {
        let summary = TransactionSummary(
            id: GUID(), useCase: 0, useCaseName: "login", outcome: .failed, begunMicroseconds: LoginHistory.begun,
            durationMicroseconds: 1,
            error: nil, attributes: ["password": "hunter22sunny"], sourceCount: 1, eventCount: 0, exchangeCount: 0,
            isWaitingForBeginner: false)
        let line = try Following.line(summary)
        #expect(!line.contains("hunter22sunny") && line.contains(Redactor.placeholder))
    }

    /// Runs a blocking closure on its own thread.
    private func following<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }

    @Test(arguments: [
        ["list", "here", "host:x"], ["list", "here", "sort:longest", "--network"],
        ["ask", "summary", "here", "host:x"],
        ["ask", "network", "here", "exchange:failed"], ["show", "here", "K7QD:17", "--follow"],
        ["list", "here", "--follow", "--network"],
        ["list", "here", "sort:longest", "--follow"],
        ["list", "here", "a", "b"], ["export", "here", "exchange:failed", "--format", "har"],
        ["export", "here", "host:x"],
    ])
    func whatDoesNotGoTogetherIs64(arguments: [String]) async throws {
        let result = try await Command.waybill(arguments)
        #expect(result.status == 64)
        #expect(result.errors.hasPrefix("Error: "))
    }
}
#endif
