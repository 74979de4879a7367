#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List transactions, or network exchanges, newest first.",
        discussion: """
            All conditions must hold. Exits with 1 if nothing matches.

            A FILTER consists of terms, and all of them must hold. A - before a term negates it; write -- before a filter that begins with -. Put \
            text with spaces into double quotes, and the whole filter into the shell's single quotes.

              useCase:login          by name or code
              outcome:failed,open    any of these
              event:requestSent      recorded by any source
              has:feedback           with the words of a user
              error:401              by code; error:rejected by name, domain or text;
                                     error:"LoginError 401" by both; error:* any
              attribute:variant=B    recorded by any source; attribute:variant has any value
              status:401             of an exchange; also 4xx and 400-499
              exchange:failed        an exchange in that state
              app:x version:1.2 device:x os:"iOS 18" osVersion:18.1
              source:ID              begun by that source; installation:ID by any
                                     source of that installation
              ended:signal           interrupted by one; also SIGSEGV, exit, reboot,
                                     system, unknown
              sampled:unchosen       by rate, and delivered for how it ended; also
                                     chosen, none
              oneIn:100              one in a hundred, the same each time
              took>2s took<500ms     from opening to closing
              since:24h until:7d     begun at or after, begun before; also today,
                                     yesterday, "last week" (in UTC), dates
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

            --fold hides a transaction whose parent is in the list. The parent's line has the number of its children.

            --follow prints the newest transactions, the latest last, and then each new one until you interrupt it.

            --network lists exchanges. --use-case and --outcome then refer to their transactions, times to the beginning of the exchange, and --text to its \
            method, URL, header fields, error and kept bodies. Pass the ID under EXCHANGE to waybill show. A FILTER has the following terms, and from above \
            error:, took, since:, until:, the terms of the source such as app:, and those of the transaction: useCase:, outcome:, event:, has:, attribute:, sampled:, \
            oneIn:, parent:, root: and child:.

              host:example.com       that host, or api.example.com below it
              path:/orders           that path, or /orders/17 below it
              method:GET,HEAD        any of these
              status:401             also 4xx and 400-499
              state:failed,cancelled  any of these
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

    @Option(help: ArgumentHelp("The most rows, up to \(ListRequest.limits.upperBound).", valueName: "count"))
    var limit: String = "\(ListRequest.defaultLimit)"

    @Option(help: "Continue after the previous page, which printed the cursor.")
    var cursor: String?

    @Flag(help: "List network exchanges instead of transactions.")
    var network = false

    @OptionGroup var exchanges: ExchangeOptions

    @Flag(help: "Hide children of other transactions.")
    var fold = false

    @Flag(help: "Print new matches until interrupted.")
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
            var following = Following(place: place, request: request, isJSON: json)
            return try await following.run()
        }
        let store = try await place.opened()
        if network {
            try show(await store.exchanges(request)) { TextTable(exchanges: $0, width: Terminal.width()) }
        } else {
            try show(await store.transactions(request)) { TextTable(transactions: $0, width: Terminal.width()) }
        }
    }

    private func show<Row: Redactable>(_ page: RecordPage<Row>, table: (Redacted<[Row]>) -> TextTable) throws {
        if json {
            try Terminal.write(json: page)
        } else if !page.rows.isEmpty {
            try Terminal.write(table(Redactor.command.redacted(page.rows)).lines(.standardOutput()))
            if let next = page.next { Terminal.warn("There are more: --cursor \(next)") }
        } else {
            Terminal.warn(Redactor.command.redacted(page.whyEmpty).value ?? "Nothing was found.")
        }
        if let note = Redactor.command.redacted(page.note).value, !json { Terminal.warn(note) }
        if page.rows.isEmpty { throw ExitCode.failure }
    }

    var request: ListRequest {
        var request = network ? exchanges.added(to: filter.request) : filter.request
        (request[.limit], request[.cursor], request[.fold]) = (limit, cursor, fold ? "true" : nil)
        return request
    }
}

struct FilterOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A filter such as 'outcome:failed took>2s', in single quotes; see waybill help list.",
            valueName: "filter"))
    var expression: String?

    @Option(help: "Only this use case: its name or its code.", completion: .custom(Self.useCases))
    var useCase: String?

    @Option(
        help:
            "Only these outcomes, separated by commas: \(TransactionOutcome.allCases.map(\.name).joined(separator: ", ")).",
        completion: .list(TransactionOutcome.allCases.map(\.name))
    )
    var outcome: String?

    @Option(help: ArgumentHelp("Begun at or after this time: \(TimeExpression.forms).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Begun before this time.", valueName: "time"))
    var until: String?

    @Option(help: "Found in the ID, support code, names, attributes, errors, or in the host or path of a request.")
    var text: String?

    /// Completes the use cases of a store in a file or a folder. A collector or a database could keep the shell waiting.
    @Sendable private static func useCases(_ words: [String], _ index: Int, _ prefix: String) async -> [String] {
        let place = words.first { !$0.hasPrefix("-") && FileManager.default.fileExists(atPath: $0) && $0 != words[0] }
        guard let place, let store = try? SQLiteStore(URL(filePath: place), clock: CommandClock.current),
            let names = try? await store.names()
        else { return [] }
        return Set(names.filter { $0.event == nil }.map(\.name)).sorted()
    }

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

    @Option(help: "Of exchanges: only this status, as 404, 1xx to 5xx, or 400-499.")
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
