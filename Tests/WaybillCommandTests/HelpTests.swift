#if Collector
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct HelpTests {
    /// Breaks when a bug report names a version that no changelog entry describes.
    @Test func theVersionIsTheOneThatReadmeAndChangelogName() async throws {
        let (status, output) = try await { ($0.status, $0.output) }(Command.waybill("--version"))
        let version = output.trimmingCharacters(in: .newlines)
        #expect(status == 0 && version.wholeMatch(of: /\d+\.\d+\.\d+/) != nil)
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
        #expect(readme.contains(#"from: "\#(version)""#))
        let changelog = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
        let newest = try #require(changelog.firstMatch(of: /\n## (\S+)/))
        #expect(newest.output.1 == version)
    }

    @Test func theToolExplainsItself() async throws {
        let help = try await Command.waybill("--help")
        #expect(help.status == 0)
        #expect(
            help.output == """
                OVERVIEW: Look at the records of an app and its servers, and collect them.

                STORE is the folder of a store, a store in one file, the URL of a collector, or
                the URL of a ClickHouse database. Pass a collector's token with --token-file,
                or in the variable WAYBILL_TOKEN.

                EXAMPLES
                  waybill serve ./collected --insecure
                      Runs a collector on http://127.0.0.1:8477.
                  waybill list http://127.0.0.1:8477 --since 24h
                      What happened since yesterday?
                  waybill list ./collected --outcome failed,timed_out
                      What went wrong?
                  waybill show ./collected K7QD-3M2X
                      One transaction, by the support code that a user read out.
                  waybill ask summary ./collected --since 7d
                      How did it go this week?
                  waybill check budgets.json ./collected
                      Are durations, failures and errors within their budgets?
                  waybill list ./collected --network --status 5xx
                      Which requests went wrong?
                  waybill show ./collected K7QD-3M2X:17
                      One request, as the list before called it.
                  waybill export ./collected --format csv --output facts.csv
                      Facts for other tools.
                  waybill export ./collected --since 15m --format html --output report.html
                      A report to share.
                  waybill export ./collected --format har --output exchanges.har
                      Requests for the network panel of a browser.
                  waybill reproduce ./collected K7QD-3M2X --output Tests
                      A test that fails as the app did.
                  waybill import ./outbox --to ./collected
                      Imports sets that an app wrote to files.
                  waybill verify ./collected
                      Is anything damaged or missing?
                  waybill erase ./collected --before 30d
                      Erases transactions older than a month.
                  waybill backup ./collected ./copy
                      A copy to keep elsewhere, while the collector runs.
                  waybill move ./collected clickhouse://127.0.0.1:8123/waybill
                      Copies it into a database that several collectors can use.
                  waybill mcp ./collected
                      Answers the questions of a coding agent that starts it.

                EXIT CODES
                  0 done, 1 nothing found or something wrong, 64 a wrong command line

                USAGE: waybill <subcommand>

                OPTIONS:
                  --version               Show the version.
                  -h, --help              Show help information.

                SUBCOMMANDS:
                  list                    List transactions, or network exchanges, newest first.
                  show                    Show one transaction with its sources and timeline,
                                          or one network exchange.
                  ask                     Ask where time goes, where users give up, and what
                                          fails.
                  check                   Check budgets for durations, failures and new errors,
                                          in CI for example.
                  export                  Write transactions for other tools, or as a report.
                  reproduce               Write a Swift test from a recorded transaction.
                  serve                   Run a collector: receive sets, and answer questions
                                          about them.
                  token                   Make, list and revoke the tokens of a collector.
                  import                  Import sets from files.
                  verify                  Check a store (integrity, balance, gaps), or the file
                                          of a set.
                  erase                   Erase transactions, network exchanges, or all records
                                          of an installation.
                  backup                  Back up a store, or a collector's folder, while it is
                                          in use.
                  migrate                 Create or update the tables of a ClickHouse database.
                  move                    Copy a store into a ClickHouse database.
                  mcp                     Let a coding agent look into a store, by the Model
                                          Context Protocol.

                  See 'waybill help <subcommand>' for detailed help.

                """)
        #expect(try await Command.waybill().output == help.output)
    }

    @Test(arguments: [
        "list", "show", "ask", "export", "serve", "token", "import", "verify", "erase", "backup", "migrate", "move",
        "mcp", "check", "reproduce",
    ])
    func everyVerbExplainsItselfByExamples(verb: String) async throws {
        let help = try await Command.waybill(verb, "--help")
        #expect(help.status == 0)
        #expect(help.output.contains("EXAMPLES\n  waybill \(verb) "))
        #expect(help.output.contains("USAGE: waybill \(verb) "))
        let examples = help.output.split(separator: "\n").drop { $0 != "EXAMPLES" }.prefix { !$0.hasPrefix("USAGE") }
        #expect(examples.allSatisfy { $0.count <= 80 })
    }

    @Test(arguments: [
        ["lists"], ["list"], ["list", "here", "--limit", "0"], ["list", "here", "--limit", "many"],
        ["list", "here", "--outcome", "ok"],
        ["list", "here", "--since", "noon"], ["show", "here"], ["serve", "here", "--port", "65536"],
        ["import", "file"],
        ["import", "--to", "x"],
        ["verify"], ["verify", ""], ["backup", "here"], ["erase", "here"],
        ["erase", "here", "--all", "--before", "1d"],
        ["erase", "here", "--before", "noon"],
        ["erase", "http://localhost:1", "--all"], ["erase", "here", "--installation", "x"],
        ["list", "here", "--no-such-option"],
        ["ask", "summary"], ["ask", "how", "here"], ["ask", "summary", "here", "--every", "30s"],
        ["ask", "funnel", "here"],
        ["ask", "summary", "here", "--json", "--csv"], ["ask", "compare", "here", "--a", "A", "--b", "B"],
        ["ask", "compare", "here", "--a", "1h..2h", "--b", "1h..0h"], ["ask", "network", "here", "--by", "port"],
        ["ask", "network", "here", "--sort", "age"], ["ask", "network", "here", "--limit", "0"],
        ["ask", "network", "here", "--template", "users"],
    ])
    func aWrongCommandLineIs64AndSaysWhy(arguments: [String]) async throws {
        let result = try await Command.waybill(arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: "))
    }

    /// Breaks when a typo prints the whole help.
    @Test(arguments: [
        (["lst", "here"], "There is no verb “lst”; did you mean “list”?"),
        (["ask", "sumary", "here"], "There is no verb “sumary”; did you mean “summary”?"),
        (["token", "make"], "There is no verb “make”; the verbs are add, list, revoke."),
        (["help", "exprt"], "There is no verb “exprt”; did you mean “export”?"),
        (["list", "here", "--outcom", "failed"], "Unknown option '--outcom'. Did you mean '--outcome'?"),
    ])
    func aMisspelledVerbOrOptionIsCorrected(arguments: [String], sentence: String) async throws {
        let result = try await Command.waybill(arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(sentence), "\(result.errors)")
    }
}
#endif
