#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Back up a store, or a collector's folder, while it is in use.",
        discussion: """
            The backup of a folder has all projects, the hashes of the tokens, and the cursors of --otlp. You can serve it. The backup of a file is a file. \
            Each copy is consistent, checked and synced. The backup appears only when it is complete, and overwrites nothing. It contains no bodies. \
            Exits with 1 if a copy is damaged.

            EXAMPLES
              waybill backup ./collected /backup/2026-11-21
              waybill backup ./collected/shop.sqlite shop-copy.sqlite
            """)

    @Argument(
        help: "The folder of a collector or of a store, or a store in one file.", transform: StoreArgument.path)
    var store: String

    @Argument(help: "The new folder for a folder, or the new file for a file.", transform: StoreArgument.path)
    var backup: String

    @Flag(help: "Print the counts as JSON.")
    var json = false

    func run() async throws {
        SQLiteStore.storeJournals(in: URL(filePath: store))
        let (copies, warnings) = try await Progress.shown("copying") {
            try await StoreBackup.run(of: URL(filePath: store), to: URL(filePath: backup))
        }
        for warning in warnings { Terminal.warn(warning) }
        if json { return try Terminal.write(json: Made(stores: copies)) }
        try Terminal.write(
            copies.map { "\($0.name): \(Words.count($0.factCount, "fact")), \(Words.count($0.byteCount, "byte"))." })
    }

    private struct Made: Encodable, Redactable {
        var stores: [StoreBackup.Copy]

        func redact(by redactor: Redactor) {}
    }
}

struct Move: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a store into a ClickHouse database.",
        discussion: """
            The copy has all facts with their arrival times, ledgers, names and erasures. The store stays unchanged, so delete it once you have checked the copy. \
            Run the command again to continue an interrupted copy, or to add facts that a collector has received meanwhile.

            The copy has no bodies of exchanges, no spans that wait for others, and no unreadable data of old clients.

            EXAMPLES
              waybill move ./collected clickhouse://127.0.0.1:8123/waybill
            """)

    @Argument(help: "The folder of a store, or a store in one file.")
    var store: String

    @Argument(help: "clickhouse://host:8123/database, with its tables: see `waybill migrate`.")
    var database: String

    func validate() throws {
        guard case .database = StoreArgument(argument: database), case .place = StoreArgument(argument: store) else {
            throw ValidationError("Name a folder, and then a database: clickhouse://host:8123/database.")
        }
    }

    func run() async throws {
        let source = try await SQLiteStore.opened(URL(filePath: store))
        let told = Locked<Int64>(0)
        let count = try await Database(database).take(from: source) { seen, total in
            let percent = total > 0 ? seen * 100 / total : 100
            // A line for each tenth keeps logs short.
            guard
                told.withLock({ told in
                    defer { told = max(told, percent / 10) }
                    return percent / 10 > told
                })
            else { return }
            Terminal.warn("\(percent) % of \(Words.count(Int(total), "fact"))")
        }
        try Terminal.write(["\(Words.count(Int(count), "fact")) copied."])
    }
}

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Create or update the tables of a ClickHouse database.",
        discussion: """
            Prints each statement that it runs. A new version only adds tables and columns, so collectors of the previous version continue to work. Migrate the \
            database first, then update the collectors. Set the user and the password in WAYBILL_CLICKHOUSE_USER and WAYBILL_CLICKHOUSE_PASSWORD.

            EXAMPLES
              waybill migrate clickhouse://127.0.0.1:8123/waybill --dry-run
              waybill migrate 'clickhouse://a:8123/waybill?replicas=b:8123&cluster=waybill'
            """)

    @Argument(help: "clickhouse://host:8123/database, with ?cluster= for tables on all servers of a cluster.")
    var database: String

    @Flag(help: "Print what would be done, and do nothing.")
    var dryRun = false

    func validate() throws {
        guard case .database = StoreArgument(argument: database) else {
            throw ValidationError("“\(database)” is no database: write clickhouse://host:8123/database.")
        }
    }

    func run() async throws {
        let statements = try await Database(database).migrate(isTried: dryRun)
        try Terminal.write(statements.isEmpty ? ["There is nothing to do."] : statements.map { "\($0);" })
    }
}
#endif
