#if Collector
import ArgumentParser
import WaybillCollector
import WaybillCore

/// `waybill list`: transactions, or network exchanges, a line for each.
struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List transactions, or network exchanges, newest first.",
        discussion: """
            All conditions that are given must hold. Exits with 1 where nothing was found.

            With --network there is a line for each exchange: --use-case and --outcome are those of its transaction, the times are when it was \
            opened, and --text is found in its method, URL, header fields or error. What stands under EXCHANGE goes to waybill show.

            EXAMPLES
              waybill list ./collected
              waybill list ./collected --use-case login --since 24h
              waybill list ./collected --outcome failed,timed_out
              waybill list http://127.0.0.1:8477 --text K7QD --json
              waybill list ./collected --network --status 5xx --since 24h
            """)

    @OptionGroup var place: StoreOptions

    @OptionGroup var filter: FilterOptions

    @Option(help: ArgumentHelp("How many at most, up to \(TransactionQuery.limits.upperBound).", valueName: "count"))
    var limit: String = "\(TransactionQuery.defaultLimit)"

    @Option(help: "Go on where the page before ended; it tells the cursor.")
    var cursor: String?

    @Flag(help: "List network exchanges in place of transactions.")
    var network = false

    @OptionGroup var exchanges: ExchangeOptions

    @Flag(help: "Print JSON, as a collector answers it.")
    var json = false

    func validate() throws {
        do throws(QueryFailure) { try query.validate() } catch { throw ValidationError(error.description) }
        guard network || exchanges.areUnset else { throw ValidationError("--method, --status and --state go with --network.") }
    }

    func run() async throws {
        let reader = try await place.reader()
        if network {
            try show(await reader.exchanges(exchanges.query(query))) { TextTable(exchanges: $0, width: Terminal.width()) }
        } else {
            try show(await reader.transactions(query)) { TextTable(transactions: $0) }
        }
    }

    private func show<Row>(_ page: Page<Row>, table: ([Row]) -> TextTable) throws {
        if json {
            try Terminal.write(json: page)
        } else if !page.rows.isEmpty {
            Terminal.write(table(page.rows).lines(.standardOutput()))
            if let next = page.next { Terminal.warn("There are more: --cursor \(next)") }
        } else {
            Terminal.warn(page.whyEmpty ?? "Nothing was found.")
        }
        if page.rows.isEmpty { throw ExitCode.failure }
    }

    private var query: TransactionQuery {
        var query = filter.query
        (query.limit, query.cursor) = (limit, cursor)
        return query
    }
}
#endif
