#if Collector
import ArgumentParser
import Foundation
package import WaybillCollector
import WaybillCore

/// `waybill token`: who may use a collector.
struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make, list and revoke the tokens of a collector.",
        discussion: """
            A token belongs to one project and has one role: ingest sends sets, read looks, admin does everything and erases. The folder's \
            file `tokens` holds a hash of each, and no token. A collector that runs notices what is changed.

            EXAMPLES
              waybill token add ./collected --role ingest
              waybill token add ./collected --role read --project shop > token.txt
              waybill token list ./collected
              waybill token revoke ./collected 4f1d02a9
            """,
        subcommands: [Add.self, List.self, Revoke.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a token and print it; it cannot be printed again.")

        @Argument(help: "The folder of the collector; made where it is missing.")
        var folder: String

        @Option(help: "What its bearer may do: \(Role.allCases.map(\.rawValue).joined(separator: ", ")).")
        var role: Role

        @Option(help: "The project that it is for: a-z, 0-9 and -.")
        var project = ProjectName.standard

        func run() async throws {
            let (secret, token) = try TokenFile(folder: URL(filePath: folder, directoryHint: .isDirectory)).add(
                role: role, project: project, now: CommandClock.current.wallMicroseconds())
            Terminal.write([secret.text])
            Terminal.warn(
                "\(token.id): \(token.role.rawValue) for the project \(token.project). Keep the token; only its hash is kept here."
            )
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the tokens, without the tokens themselves.")

        @Argument(help: "The folder of the collector.")
        var folder: String

        func run() async throws {
            let tokens = try TokenFile(folder: URL(filePath: folder, directoryHint: .isDirectory)).tokens()
            guard !tokens.isEmpty else { throw WaybillError(.notFound, "There is no token in \(folder).") }
            var table = TextTable(columns: [("ID", .left), ("ROLE", .left), ("PROJECT", .left), ("MADE (UTC)", .left)])
            table.rows = tokens.map { [Cell($0.id), Cell($0.role.rawValue), Cell("\($0.project)"), Cell($0.made)] }
            Terminal.write(table.lines(.standardOutput()))
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Take a token away: it opens nothing from now on.")

        @Argument(help: "The folder of the collector.")
        var folder: String

        @Argument(help: "The token's ID, as `waybill token list` tells it.")
        var id: String

        func run() async throws {
            try TokenFile(folder: URL(filePath: folder, directoryHint: .isDirectory)).revoke(id)
            Terminal.write(["\(id) is revoked."])
        }
    }
}

extension Role: ExpressibleByArgument {}

extension ProjectName: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
#endif
