#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries

/// `list` and `show` on a store and through a collector.
@Suite(.timeLimit(.minutes(5))) struct LookingTests {
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws {
        folder = try TemporaryDirectory()
        try folder.makeStore(of: login.clientSet(), login.serverSet())
    }

    private var store: String { folder.url.path }

    @Test func aListHasALineForEachTransaction() async throws {
        let list = try await Command.waybill("list", store)
        #expect(list.status == 0)
        #expect(list.errors.isEmpty)
        let code = login.transaction.supportCode
        #expect(
            list.text == """
                BEGUN (UTC)              USE CASE  OUTCOME  DURATION  SOURCES  EVENTS  REQUESTS  ERROR         SUPPORT CODE  ID
                2026-03-01 12:00:00.000  login     failed    15.0 ms        2       3         1  LoginError 3  \(code)     \(login.transaction)
                """)
    }

    /// Breaks when a list wraps on a terminal and becomes unreadable.
    @Test func aNarrowListKeepsTheErrorAndTheSupportCode() async throws {
        let list = try await Command.waybill("list", store, environment: ["COLUMNS": "80"])
        #expect(
            list.text == """
                BEGUN (UTC)              USE CASE  OUTCOME  DURATION  ERROR         SUPPORT CODE
                2026-03-01 12:00:00.000  login     failed    15.0 ms  LoginError 3  \(login.transaction.supportCode)
                """)
    }

    /// Breaks when a program that reads the list has to derive the code that people read out.
    @Test func jsonHasTheSupportCode() async throws {
        let list = try await Command.waybill("list", store, "--json")
        #expect(list.output.contains("\"support_code\" : \"\(login.transaction.supportCode)\""))
    }

    /// Breaks when payments fill a list of checkouts, or the outcome of a checkout doesn't find its payment.
    @Test func whatIsBelowAnotherTransactionIsFoldedFoundAndDrawn() async throws {
        let set = URL(filePath: #filePath).appending(path: "../../../../Schemas/examples/valid/parent-and-child.json")
        let shop = folder.file("shop").path
        let taken = try await Command.waybill("import", set.standardizedFileURL.path, "--to", shop)
        #expect(taken.status == 0, "\(taken.errors)")
        func useCases(_ arguments: String...) async throws -> [String] {
            let list = try await Command.waybill(["list", shop] + arguments)
            return list.text.split(separator: "\n").dropFirst().map { String($0.split(separator: " ")[2]) }
        }
        #expect(try await useCases().sorted() == ["checkout", "payment", "payment"])
        #expect(try await useCases("--fold").sorted() == ["checkout", "payment"])
        #expect(try await Command.waybill("list", shop, "--fold").text.contains("1, 1 failed"))
        #expect(try await useCases("parent:checkout outcome:failed") == ["payment"])
        let shown = try await Command.waybill("show", shop, "HSYP-RPTA")
        #expect(shown.text.contains("\n  payment 24H2-4CSK  failed · 197.9 ms"))
        #expect(try await Command.waybill("show", shop, "24H2-4CSK").text.contains("checkout HSYP-RPTA"))
        let byParent = try await Command.waybill(
            "ask", "duration", shop, "--use-case", "payment", "--by", "parent.outcome")
        #expect(byParent.text.contains("\nsucceeded           1"))
        let mistaken = try await Command.waybill("list", shop, "--fold", "--network")
        #expect(mistaken.errors.contains("--fold does not go with --network."))
    }

    @Test func aFileAndACollectorAreListedAlike() async throws {
        let list = try await Command.waybill("list", store)
        #expect(try await Command.waybill("list", "\(store)/waybill.sqlite").output == list.output)
        let json = try await Command.waybill("list", store, "--json")
        let serve = try await ServeProcess.start(folder)
        #expect(try await Command.waybill("list", serve.url).output == list.output)
        #expect(try await Command.waybill("list", serve.url, "--json").output == json.output)
    }

    @Test(arguments: [
        ["--use-case", "login"], ["--use-case", "0"], ["--outcome", "failed,timed_out"], ["--since", "2026-03-01"],
        ["--text", "LoginError"],
    ])
    func aListIsFiltered(arguments: [String]) async throws {
        #expect(try await Command.waybill(["list", store] + arguments).status == 0)
    }

    @Test(arguments: [
        (["--use-case", "7"], "There is no transaction of use case 7 here; there are some of login."),
        (["--outcome", "open"], "The only transaction here is not open."),
        (
            ["--until", "2026-03-01"],
            "There is 1 transaction here, but none began before 2026-03-01T00:00:00Z; the newest began at 2026-03-01T12:00:00Z."
        ), (["--text", "nowhere"], "The only transaction here does not mention “nowhere”."),
    ])
    func nothingFoundIs1AndSaysWhy(arguments: [String], why: String) async throws {
        let list = try await Command.waybill(["list", store] + arguments)
        #expect(list.status == 1)
        #expect(list.output.isEmpty)
        #expect(list.errors == why + "\n")
        let json = try await Command.waybill(["list", store, "--json"] + arguments)
        #expect(json.status == 1)
        #expect(
            try JSONDecoder.waybill().decode(RecordPage<TransactionSummary>.self, from: Data(json.output.utf8)).rows
                .isEmpty)
    }

    @Test func anUnknownUseCaseIsToldWithThoseThatAreKnown() async throws {
        let list = try await Command.waybill("list", store, "--use-case", "logon")
        #expect(list.status == 1)
        #expect(list.errors == "Error: There is no use case “logon” here; did you mean “login”?\n")
    }

    @Test func aPageTellsTheCursorOfTheNext() async throws {
        try folder.makeStore(of: LoginHistory().clientSet())
        let first = try await Command.waybill("list", store, "--limit", "1")
        let cursor = try #require(first.errors.wholeMatch(of: #/There are more: --cursor (\S+)\n/#)?.1)
        let second = try await Command.waybill("list", store, "--limit", "1", "--cursor", String(cursor))
        #expect(second.errors.isEmpty)
        #expect(second.output != first.output)
    }

    @Test func aTransactionIsShownByItsIDAndByItsSupportCode() async throws {
        let show = try await Command.waybill("show", store, "\(login.transaction)")
        #expect(show.status == 0)
        #expect(show.errors.isEmpty)
        #expect(
            show.text == """
                login failed after 15.0 ms

                id            \(login.transaction)
                support code  \(login.transaction.supportCode)
                begun         2026-03-01 12:00:00.000 UTC
                error         LoginError 3
                attributes    variant=B
                clocks        Times are aligned to the clock of app.

                SOURCE  VERSION  DEVICE               PART                  TOOK  CLOCK
                app     1.2      iPhone17,1 iOS 18.1  began, failed      15.0 ms  reference
                server  4.0      x86_64 Linux 6.1     joined, succeeded  9.00 ms  +0 µs ± 2.00 ms, by its own exchange alone

                                              0               5 ms             10 ms
                app                  15.0 ms  ●──────────────────────────────────────────────●─┤
                  POST /login  401 · 13.0 ms     ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░
                    server           9.00 ms     ~~~~~~~├~~~~~~───────────────────●───┤
                ├──┤ part   ● event   ✕ error   ▒ connect   ▓ send   ░ wait   █ receive   ~ may begin here

                     AT     SINCE  SOURCE  WHAT HAPPENED
                      0            app     ┌ begun                                 variant=B
                 250 µs   +250 µs  app     │ requestSent
                1.00 ms   +750 µs  app     ├─▶ POST https://api.example.com/login
                3.00 ms  +2.00 ms  server  │   ┌ joined
                11.0 ms  +8.00 ms  server  │   │ serverRejected
                12.0 ms  +1.00 ms  server  │   └ succeeded                         took 9.00 ms
                14.0 ms  +2.00 ms  app     ├─◀ 401                                 took 13.0 ms · server 9.00 ms · way there and back 4.00 ms · sent 42 B
                14.1 ms   +100 µs  app     │ event 2
                15.0 ms   +900 µs  app     └ failed                                took 15.0 ms · LoginError 3
                """)
        let code = login.transaction.supportCode.description
        #expect(try await Command.waybill("show", store, code).output == show.output)
        #expect(
            try await Command.waybill("show", store, code.lowercased().replacing("-", with: "")).output == show.output)
        let serve = try await ServeProcess.start(folder)
        #expect(try await Command.waybill("show", serve.url, code).output == show.output)
    }

    @Test func jsonIsWhatACollectorAnswers() async throws {
        let show = try await Command.waybill("show", store, "\(login.transaction)", "--json")
        let record = try JSONDecoder.waybill().decode(TransactionRecord.self, from: Data(show.output.utf8))
        #expect(record.summary.id == login.transaction)
        #expect(record.timeline.count == 9)
        #expect(show.output.contains(#""begun_us" : 1772366400000000"#))
    }

    /// Compares times with a server whose clock is five minutes ahead.
    @Test func timesAreThoseOfTheBeginnerUnlessRawOnesAreAskedFor() async throws {
        let skewed = try TemporaryDirectory()
        var set = login.serverSet()
        set.sources[0].clocks = [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: LoginHistory.begun + 300_000_000)]
        try skewed.makeStore(of: login.clientSet(), set)
        let code = login.transaction.supportCode.description
        let show = try await Command.waybill("show", skewed.url.path, code)
        #expect(show.text.contains("clocks        Times are aligned to the clock of app."))
        #expect(show.text.contains("app     1.2      iPhone17,1 iOS 18.1  began, failed      15.0 ms  reference\n"))
        #expect(show.text.contains("  9.00 ms  +300.000 s ± 2.00 ms, by its own exchange alone\n"))
        let same = try await Command.waybill("show", store, code)
        #expect(
            show.text.replacing(#/\+300.000 s/#, with: "+0 µs") == same.text,
            "But for that it looks as if the clocks were right.")
        let raw = try await Command.waybill("show", skewed.url.path, code, "--clocks", "raw")
        #expect(raw.text.contains("clocks        Times are raw: as each source's own clock said."))
        #expect(raw.text.contains("5 min 0 s") && !raw.text.contains("~"))
        let serve = try await ServeProcess.start(skewed)
        #expect(try await Command.waybill("show", serve.url, code).output == show.output)
        let json = try await Command.waybill("show", serve.url, code, "--json")
        let record = try JSONDecoder.waybill().decode(TransactionRecord.self, from: Data(json.output.utf8))
        #expect(record.timeline.last?.timeMicroseconds == LoginHistory.begun + 300_012_000, "JSON has raw times,")
        #expect(
            record.aligned.timeline.last?.timeMicroseconds == LoginHistory.begun + 15_000,
            "and what makes aligned ones of them.")
        #expect(try await Command.waybill("show", store, code, "--json", "--clocks", "raw").status == 64)
        #expect(try await Command.waybill("show", store, code, "--clocks", "late").status == 64)
    }

    @Test func aTransactionThatIsNotThereIs1() async throws {
        let serve = try await ServeProcess.start(folder)
        for place in [store, serve.url] {
            let show = try await Command.waybill("show", place, "0000-0000")
            #expect(show.status == 1)
            #expect(show.errors == "Error: There is no transaction with the support code 0000-0000 here.\n")
        }
    }
}
#endif
