#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a store, or a collector's folder, while it is written to.",
        discussion: """
            Of a folder all projects, the tokens' hashes and the cursors of --otlp are copied, into a folder that can be served; of a file, the \
            file. Each store is copied as it was at one moment, checked whole, and synced. The backup appears whole or not at all, and \
            nothing is overwritten. Bodies stay where they are. Exits with 1 where a copy is not sound.

            EXAMPLES
              waybill backup ./collected /backup/2026-11-21
              waybill backup ./collected/shop.sqlite shop-copy.sqlite
            """)

    @Argument(help: "The folder of a collector or of a store, or a store in one file.")
    var store: String

    @Argument(help: "What to make: a folder of a folder, a file of a file.")
    var backup: String

    func run() async throws {
        let (copies, warnings) = try await StoreBackup.run(of: URL(filePath: store), to: URL(filePath: backup))
        for warning in warnings { Terminal.warn(warning) }
        Terminal.write(
            copies.map { "\($0.name): \(Words.count($0.factCount, "fact")), \(Words.count($0.byteCount, "byte"))." })
    }
}

struct Move: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a store into a ClickHouse database.",
        discussion: """
            Facts keep when they were received; ledgers, names and what was erased come along. Nothing of the store is changed: take it away \
            when you have seen that all is there. What is there already is left out, so that a copy that broke off goes on when it is made \
            again, and one that is made while a collector still writes to the folder brings what is new when it is made once more.

            Exchanges' bodies stay where they are, as with every collector; so do spans that wait for others, and what old clients sent that \
            could not be read.

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
        let source = try SQLiteStore(URL(filePath: store), clock: CommandClock.current)
        for warning in await source.warnings() { Terminal.warn(warning) }
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
        Terminal.write(["\(Words.count(Int(count), "fact")) copied."])
    }
}

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make the tables of a ClickHouse database, or bring them to this version.",
        discussion: """
            Prints each statement that it runs. A version adds tables or columns and changes none, so that collectors of the version before go \
            on meanwhile: bring the database up to date first, then the collectors. User and password are WAYBILL_CLICKHOUSE_USER and \
            WAYBILL_CLICKHOUSE_PASSWORD.

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
        Terminal.write(statements.isEmpty ? ["There is nothing to do."] : statements.map { "\($0);" })
    }
}
#endif
