#if Collector
import ArgumentParser
import WaybillCore
import WaybillExport

/// `waybill migrate`: makes the tables of a database.
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
