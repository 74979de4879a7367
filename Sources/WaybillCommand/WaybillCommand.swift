#if Collector
import ArgumentParser

@main
struct WaybillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "waybill",
        abstract: "Look into what an app and its servers recorded, and collect it.",
        discussion: """
            STORE is where transactions lie: the folder of a store, a store in one file, \
            the URL of a collector, or that of a ClickHouse database. A collector that wants a token gets it from \
            --token-file or from the variable WAYBILL_TOKEN.

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
              waybill list ./collected --network --status 5xx
                  Which requests went wrong?
              waybill show ./collected K7QD-3M2X:17
                  One request, as the list before called it.
              waybill export ./collected --format csv --output facts.csv
                  Facts for other tools.
              waybill export ./collected --since 15m --format html --output report.html
                  A page to send to somebody.
              waybill export ./collected --format har --output exchanges.har
                  Requests for the network panel of a browser.
              waybill import ./outbox --to ./collected
                  Takes in sets that an app wrote to files.
              waybill verify ./collected
                  Is anything damaged or missing?
              waybill erase ./collected --before 30d
                  Takes away what is older than a month.
              waybill backup ./collected ./copy
                  A copy to keep elsewhere, while the collector runs.
              waybill move ./collected clickhouse://127.0.0.1:8123/waybill
                  Into a database, which several collectors can use.

            EXIT CODES
              0 done, 1 nothing found or something wrong, 64 a wrong command line
            """,
        // The only place for the version. README and CHANGELOG are compared with it.
        version: "0.1.0",
        subcommands: [
            List.self, Show.self, Ask.self, Export.self, Serve.self, Token.self, Import.self, Verify.self, Erase.self,
            Backup.self, Migrate.self, Move.self,
        ]
    )

    /// Runs the command, and prints errors without control characters.
    static func main() async {
        do {
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
}
#else
import Foundation
import WaybillCollector

/// Explains that the product needs a trait.
@main
enum WaybillCommand {
    static func main() {
        FileHandle.standardError.write(
            Data("waybill was built without its trait: build it with `swift build --traits Collector`.\n".utf8))
        exit(69)  // EX_UNAVAILABLE of sysexits.h
    }
}
#endif
