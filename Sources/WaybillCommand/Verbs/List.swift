#if Collector
import ArgumentParser
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List transactions, or network exchanges, newest first.",
        discussion: """
            All conditions that are given must hold. Exits with 1 where nothing was found.

            A FILTER has terms beside each other, all of which must hold; a - before one turns it round (after -- where it is the first). Text with \
            spaces stands in double quotes, and the whole in the shell's single ones.

              useCase:login          by name or code
              outcome:failed,open    any of these
              event:requestSent      recorded by any source
              error:401              by code; error:rejected by name, domain or text;
                                     error:"LoginError 401" by both; error:* any
              attribute:variant=B    with it, wherever it was said; attribute:variant with any value
              status:401             of an exchange; also 4xx and 400-499
              exchange:failed        an exchange in that state
              app:x version:1.2 device:x os:"iOS 18" osVersion:18.1
              ended:signal           interrupted by one; also SIGSEGV, exit, reboot,
                                     system, unknown
              sampled:unchosen       by rate, and delivered for how it ended; also
                                     chosen, none
              oneIn:100              one in a hundred, the same each time
              took>2s took<500ms     from opening to closing
              since:24h until:7d     begun at or after, begun before
              parent:checkout        begun below one of that use case, or with
                                     that outcome, ID or support code;
                                     parent:known below any
              root:checkout          the same of the topmost one above it
              child:payment          below which such a one was begun
              beginner:unknown       of which only joined parts are known; without
                                     it they are left out, beginner:any lists all
              sort:longest           or newest, oldest, shortest
              password               any other word: in ID, support code, names,
                                     attributes, errors, host or path

            With --fold what was begun below a transaction of the list has no line; that of its parent says how many there are.

            With --follow the newest are shown, the last one lowest, and then each that comes, once, until it is interrupted.

            With --network there is a line for each exchange: --use-case and --outcome are those of its transaction, the times are when it was \
            opened, and --text is found in its method, URL, header fields, error or kept bodies. What stands under EXCHANGE goes to waybill show. \
            A FILTER has these terms then, and as above error:, took, since:, until:, app: and its like, and of the transaction useCase:, \
            outcome:, event:, attribute:, sampled:, oneIn:, parent:, root: and child:

              host:example.com       that host, or api.example.com below it
              path:/orders           that path, or /orders/17 below it
              method:GET,HEAD        any of these
              status:401             also 4xx and 400-499
              state:failed,canceled  any of these
              size>100kB             of the response's body; B, kB, MB, GB
              close:1006             of a WebSocket; close:1002-1015 for a range

            EXAMPLES
              waybill list ./collected
              waybill list ./collected --use-case login --since 24h
              waybill list ./collected --outcome failed,timed_out
              waybill list ./collected 'outcome:failed error:401 took>2s'
              waybill list ./collected 'useCase:payment parent:failed'
              waybill list ./collected 'os:"iOS 18" -event:paid sort:longest'
              waybill list http://127.0.0.1:8477 'outcome:failed' --follow
              waybill list http://127.0.0.1:8477 --text K7QD --json
              waybill list ./collected --network --status 5xx --since 24h
              waybill list ./phone.sqlite --network 'host:example.com took>1s'
            """)

    @OptionGroup var place: StoreOptions

    @OptionGroup var filter: FilterOptions

    @Option(help: ArgumentHelp("How many at most, up to \(ListRequest.limits.upperBound).", valueName: "count"))
    var limit: String = "\(ListRequest.defaultLimit)"

    @Option(help: "Go on where the page before ended; it tells the cursor.")
    var cursor: String?

    @Flag(help: "List network exchanges in place of transactions.")
    var network = false

    @OptionGroup var exchanges: ExchangeOptions

    @Flag(help: "Leave out what was begun below another transaction.")
    var fold = false

    @Flag(help: "Go on with what is new, until interrupted.")
    var follow = false

    @Flag(help: "Print JSON, as a collector answers it; with --follow a line for each transaction.")
    var json = false

    func validate() throws {
        guard !fold || !network else { throw ValidationError("--fold does not go with --network.") }
        try filter.check(request, about: network ? .exchanges : .transactions)
        guard try !follow || !network && cursor == nil && request.hasNewestFirst else {
            throw ValidationError("--follow goes with neither --network, --cursor nor sort:.")
        }
        guard network || exchanges.areUnset else {
            throw ValidationError("--method, --status and --state go with --network.")
        }
    }

    func run() async throws {
        try await filter.marking { try await list() }
    }

    private func list() async throws {
        if follow {
            var following = Following(place, request, isJSON: json)
            return try await following.run()
        }
        let store = try await place.opened()
        if network {
            try show(await store.exchanges(request)) { TextTable(exchanges: $0, width: Terminal.width()) }
        } else {
            try show(await store.transactions(request)) { TextTable(transactions: $0) }
        }
    }

    private func show<Row: Redactable>(_ page: RecordPage<Row>, table: (Redacted<[Row]>) -> TextTable) throws {
        if json {
            try Terminal.write(json: page)
        } else if !page.rows.isEmpty {
            Terminal.write(table(Redactor.command.redacted(page.rows)).lines(.standardOutput()))
            if let next = page.next { Terminal.warn("There are more: --cursor \(next)") }
        } else {
            Terminal.warn(Redactor.command.redacted(page.whyEmpty).value ?? "Nothing was found.")
        }
        if let note = Redactor.command.redacted(page.note).value, !json { Terminal.warn(note) }
        if page.rows.isEmpty { throw ExitCode.failure }
    }

    private var request: ListRequest {
        var request = network ? exchanges.added(to: filter.request) : filter.request
        (request[.limit], request[.cursor], request[.fold]) = (limit, cursor, fold ? "true" : nil)
        return request
    }
}

struct FilterOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A filter such as 'outcome:failed took>2s', in the shell's quotes; see waybill help list.",
            valueName: "filter"))
    var expression: String?

    @Option(help: "Only this use case: its name or its code.")
    var useCase: String?

    @Option(
        help:
            "Only these outcomes, separated by commas: \(TransactionOutcome.allCases.map(\.name).joined(separator: ", "))."
    )
    var outcome: String?

    @Option(help: ArgumentHelp("Begun at or after this time: \(TimeExpression.forms).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Begun before this time.", valueName: "time"))
    var until: String?

    @Option(help: "Found in the ID, support code, names, attributes, errors, or in the host or path of a request.")
    var text: String?

    var request: ListRequest {
        ListRequest([
            .useCase: useCase, .outcome: outcome, .since: since, .until: until, .text: text, .filter: expression,
        ])
    }

    func check(_ request: ListRequest, about subject: ListRequest.Subject) throws {
        do throws(QueryFailure) { try request.validate(about: subject) } catch {
            throw ValidationError(message(for: error))
        }
    }

    /// Runs `body`, and reports a mistake in the filter with a mark below it.
    func marking(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let failure as QueryFailure {
            throw WaybillError(.setting, message(for: Redactor.command.redacted(failure).value))
        }
    }

    func message(for failure: QueryFailure) -> String {
        guard case .filter(let mistake) = failure, let expression else { return failure.description }
        return ([mistake.message] + mistake.marked(in: expression).map { "  \($0)" }).joined(separator: "\n")
    }
}

struct ExchangeOptions: ParsableArguments {
    @Option(help: "Of exchanges: only these methods, separated by commas.")
    var method: String?

    @Option(help: "Of exchanges: only this status, as 404, 4xx or 400-499.")
    var status: String?

    @Option(
        help:
            "Of exchanges: only these states, separated by commas: \(ExchangeRecord.State.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var state: String?

    var areUnset: Bool { method == nil && status == nil && state == nil }

    func added(to request: ListRequest) -> ListRequest {
        var request = request
        (request[.method], request[.status], request[.state]) = (method, status, state)
        return request
    }
}
#endif
