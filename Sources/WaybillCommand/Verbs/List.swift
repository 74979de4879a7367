#if Collector
import ArgumentParser
import WaybillCollector
import WaybillCore

/// `waybill list`: transactions, a line for each.
struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List transactions, newest first.",
        discussion: """
            All conditions that are given must hold. Exits with 1 where nothing was found.

            EXAMPLES
              waybill list ./collected
              waybill list ./collected --use-case login --since 24h
              waybill list ./collected --outcome failed,timed_out
              waybill list http://127.0.0.1:8477 --text K7QD --json
            """)

    @OptionGroup var place: StoreOptions

    @OptionGroup var filter: FilterOptions

    @Option(help: ArgumentHelp("How many at most, up to \(TransactionQuery.limits.upperBound).", valueName: "count"))
    var limit: String = "\(TransactionQuery.defaultLimit)"

    @Option(help: "Go on where the page before ended; it tells the cursor.")
    var cursor: String?

    @Flag(help: "Print JSON, as a collector answers it.")
    var json = false

    func validate() throws {
        do throws(QueryFailure) { try query.validate() } catch { throw ValidationError(error.description) }
    }

    func run() async throws {
        let page = try await place.reader().transactions(query)
        if json {
            try Terminal.write(json: page)
        } else if !page.rows.isEmpty {
            Terminal.write(TextTable(transactions: page.rows).lines(.standardOutput()))
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
