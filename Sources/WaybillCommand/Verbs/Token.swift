#if Collector
public import ArgumentParser
import Foundation
package import WaybillCollector
import WaybillCore
import WaybillQueries

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make, list and revoke the tokens of a collector.",
        discussion: """
            A token belongs to one project and has one role: `ingest` sends sets, `read` reads, and `admin` does both and erases. The file `tokens` \
            in the folder stores only a hash of each. A running collector notices changes at the next request, and rejects expired tokens.

            EXAMPLES
              waybill token add ./collected --role ingest
              waybill token add ./collected --role read --project shop > token.txt
              waybill token add ./collected --role ingest --expires 90d
              waybill token list ./collected
              waybill token revoke ./collected 4f1d02a9
            """,
        subcommands: [Add.self, List.self, Revoke.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a token and print it; it cannot be printed again.")

        @Argument(help: "The folder of the collector, created if it is missing.", transform: StoreArgument.path)
        var folder: String

        @Option(help: "The role: \(Role.allCases.map(\.rawValue).joined(separator: ", ")).")
        var role: Role

        @Option(help: "The project of the token: a-z, 0-9 and -.")
        var project = ProjectName.standard

        @Option(
            help: ArgumentHelp(
                "The end of the token: 90d or 12h from now, or an ISO 8601 date or time. Default: never.",
                valueName: "time"))
        var expires: String?

        func validate() throws {
            if let expires, Self.end(expires, now: 0) == nil {
                throw ValidationError("“\(expires)” is no time: give 90d, 12h, or an ISO 8601 date or time.")
            }
        }

        /// `nil` if the text is no time, or one after the year 9999.
        private static func end(_ text: String, now: Int64) -> Int64? {
            let latest: Int64 = 253_402_300_799_000_000
            if let length = TimeExpression.length(text) { return length <= latest - now ? now + length : nil }
            return TimeExpression.instant(text).flatMap { (0...latest).contains($0) ? $0 : nil }
        }

        func run() async throws {
            let now = CommandClock.current.wallMicroseconds()
            let (secret, token) = try TokenFile(folder: URL(filePath: folder, directoryHint: .isDirectory)).add(
                role: role, project: project, now: now, end: expires.flatMap { Self.end($0, now: now) })
            try Terminal.write([secret.text])
            Terminal.warn(
                "\(token.id): \(token.role.rawValue) for the project \(token.project)\(token.end.map { ", until \($0)" } ?? ""). Keep the token; only its hash is kept here."
            )
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the tokens, without the tokens themselves.")

        @Argument(help: "The folder of the collector.", transform: StoreArgument.path)
        var folder: String

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            let tokens = try TokenFile(folder: URL(filePath: folder, directoryHint: .isDirectory)).tokens()
            let now = CommandClock.current.wallMicroseconds()
            if json {
                try Terminal.write(json: Listed(rows: tokens.map { Row($0, hasEnded: $0.hasEnded(now: now)) }))
                if tokens.isEmpty { throw ExitCode.failure }
                return
            }
            guard !tokens.isEmpty else { throw WaybillError(.notFound, "There is no token in \(folder).") }
            var table = TextTable(columns: [
                ("ID", .left), ("ROLE", .left), ("PROJECT", .left), ("MADE (UTC)", .left), ("ENDS (UTC)", .left),
            ])
            table.rows = tokens.map { token in
                let end = token.end.map { token.hasEnded(now: now) ? "ended \($0)" : $0 } ?? "never"
                return [
                    Cell(token.id), Cell(token.role.rawValue), Cell("\(token.project)"), Cell(token.made), Cell(end),
                ]
            }
            try Terminal.write(table.lines(.standardOutput()))
        }

        private struct Listed: Encodable, Redactable {
            var rows: [Row]

            /// The file's fields have fixed forms, and no room for secrets.
            func redact(by redactor: Redactor) {}
        }

        private struct Row: Encodable {
            let id, role, project, made: String
            let end: String?
            let hasEnded: Bool

            init(_ token: AccessToken, hasEnded: Bool) {
                (id, role, project, made) = (token.id, token.role.rawValue, "\(token.project)", token.made)
                (end, self.hasEnded) = (token.end, hasEnded)
            }
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Take a token away: it opens nothing from now on.")

        @Argument(help: "The folder of the collector.", transform: StoreArgument.path)
        var folder: String

        @Argument(help: "The token's ID, from `waybill token list`.")
        var id: String

        func run() async throws {
            try TokenFile(folder: URL(filePath: folder, directoryHint: .isDirectory)).revoke(id)
            try Terminal.write(["\(id) is revoked."])
        }
    }
}

extension Role: ExpressibleByArgument {}

extension ProjectName: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}
#endif
