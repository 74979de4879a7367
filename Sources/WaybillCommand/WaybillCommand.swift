#if Collector
import ArgumentParser
import WaybillCollector
import WaybillCore
import WaybillExport

@main
struct WaybillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "waybill",
        abstract: "Look at the records of an app and its servers, and collect them.",
        discussion: """
            STORE is the folder of a store, a store in one file, the URL of a collector, or the URL of a ClickHouse database. \
            Pass a collector's token with --token-file, or in the variable WAYBILL_TOKEN.

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
            """,
        // The only place for the version. README and CHANGELOG are compared with it.
        version: "0.1.0",
        subcommands: [
            List.self, Show.self, Ask.self, Check.self, Export.self, Reproduce.self, Serve.self, Token.self,
            Import.self, Verify.self,
            Erase.self, Backup.self, Migrate.self, Move.self, MCP.self,
        ]
    )

    /// Runs the command, and prints errors without control characters.
    static func main() async {
        do {
            try checkVerb(CommandLine.arguments.dropFirst())
            var command = try await asyncParseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: Terminal.printable(error))
        }
    }

    /// Names the closest verb for an unknown one. The parser suggests only options.
    static func checkVerb(_ arguments: some Sequence<String>) throws {
        var verbs = configuration.subcommands
        for argument in arguments {
            if argument == "help" { continue }
            guard !verbs.isEmpty, !argument.hasPrefix("-") else { return }
            guard let verb = verbs.first(where: { $0._commandName == argument }) else {
                let names = verbs.map { $0._commandName }
                let nearest = argument.nearest(among: names).map { "did you mean “\($0)”?" }
                let hint = nearest ?? "the verbs are \(names.joined(separator: ", "))."
                throw ValidationError("There is no verb “\(argument.printable)”; \(hint)")
            }
            verbs = verb.configuration.subcommands
        }
    }
}
#else
import Foundation
import WaybillCollector

/// Explains that the product needs a trait.
@main
enum WaybillCommand {
    static func main() {
        let sentence = "waybill was built without its trait: build it with `swift build --traits Collector`.\n"
        try? FileHandle.standardError.write(contentsOf: Data(sentence.utf8))
        exit(69)  // EX_UNAVAILABLE of sysexits.h
    }
}
#endif
