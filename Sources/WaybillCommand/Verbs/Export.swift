#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write transactions for other tools, or as a report.",
        discussion: """
            ndjson and csv have one fact in each row; Schemas/README.md lists the columns. For a spreadsheet, pass --rows transactions, events or exchanges, and \
            --bom. sqlite is a store in one file. har (HTTP Archive 1.2) and curl (a command for each request) contain network exchanges. rules \
            (Schemas/rules.v1.schema.json) answer an app's requests as they were answered. html is a report to share, with the newest \
            \(TransactionReport.limit) transactions. perfetto is a trace for ui.perfetto.dev and chrome://tracing. FILTER selects transactions; with har, curl, \
            rules and --rows exchanges, it selects exchanges. All text is redacted again. A file appears only when it is complete. Exits with 1 if nothing matches.

            otlp contains OpenTelemetry spans, for files or, with --to, for a tracing backend. Each closed part and each ended exchange becomes a span. Spans that \
            are sent again have the same IDs. --follow and --cursor accept no filter.

            --incremental adds the facts since the previous run to a folder or a bucket, without repeating or omitting one. Read only the files that increments/ \
            names. For a bucket, set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, and AWS_REGION or AWS_ENDPOINT_URL. The bucket must support \
            If-None-Match.

            EXAMPLES
              waybill export ./collected --format csv --output facts.csv
              waybill export ./collected --format csv --rows transactions --bom --output transactions.csv
              waybill export ./collected 'since:24h outcome:failed' > failed.ndjson
              waybill export ./collected --since 15m --format html --output report.html
              waybill export ./collected --format sqlite --output copy.sqlite
              waybill export ./collected 'status:5xx' --format har --output failed.har
              waybill export ./collected --outcome failed --format perfetto --output trace.json
              waybill export ./collected --incremental ./lake --gzip
              waybill export ./collected --incremental s3://facts/shop --gzip
              waybill export ./collected --format otlp --to http://127.0.0.1:4318 --follow --cursor ./sent
              waybill export http://127.0.0.1:8477 --output facts.ndjson.gz
            """)

    @OptionGroup var place: StoreOptions

    @Option(
        help: ArgumentHelp("\(FormatArgument.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "format"))
    var format = FormatArgument.ndjson

    @OptionGroup var filter: FilterOptions

    @OptionGroup var exchanges: ExchangeOptions

    @OptionGroup var csv: CSVOptions

    @Option(
        help: ArgumentHelp("The file to write or replace; - is standard output.", valueName: "file")
    )
    var output = "-"

    @Flag(help: "Compress, even if the file's name does not end with .gz.")
    var gzip = false

    @Option(
        help: ArgumentHelp("Add new facts to this folder, or to s3://BUCKET/PREFIX.", valueName: "folder"),
        transform: StoreArgument.path)
    var incremental: String?

    @OptionGroup var backend: BackendOptions

    func validate() throws {
        try filter.check(request, about: isAboutExchanges ? .exchanges : .transactions)
        if incremental != nil {
            guard request == ListRequest() else {
                throw ValidationError(
                    "An incremental export takes no filter: what it left out would be left out for good.")
            }
            guard output == "-" else {
                throw ValidationError("An incremental export names its files itself; leave --output out.")
            }
            guard format.text != nil else {
                throw ValidationError("An incremental export is ndjson, csv or otlp.")
            }
        }
        guard isAboutExchanges || exchanges.areUnset else {
            throw ValidationError(
                "--method, --status and --state go with --format har, curl, rules, or csv --rows exchanges.")
        }
        guard csv.areUnset || format == .csv && incremental == nil else {
            throw ValidationError("--rows, --times and --bom go with --format csv, and not with --incremental.")
        }
        if format == .sqlite {
            guard output != "-" else { throw ValidationError("Name the SQLite file with --output.") }
        }
        if format == .sqlite || format == .html {
            guard !gzip else {
                throw ValidationError("sqlite and html are not compressed as they are written; leave --gzip out.")
            }
        }
        guard output != "-" || !gzip || incremental != nil || !StandardOutput.isTerminal else {
            throw ValidationError("A terminal shows nothing of what is compressed; name a file with --output.")
        }
        try validateBackend()
    }

    private func validateBackend() throws {
        guard backend.url != nil else { return }
        guard format == .otlp else { throw ValidationError("--to goes with --format otlp.") }
        guard output == "-", incremental == nil, !gzip else {
            throw ValidationError("With --to nothing is written; leave --output, --incremental and --gzip out.")
        }
        guard !backend.isContinued || request == ListRequest() else {
            throw ValidationError("--follow and --cursor take no filter: what it left out would be left out for good.")
        }
    }

    private var isAboutExchanges: Bool { format.exchanges != nil || csv.rows == .exchanges }

    private var request: ListRequest { isAboutExchanges ? exchanges.added(to: filter.request) : filter.request }

    func run() async throws {
        // A line of progress would mix with facts on the same terminal, and following never ends.
        let isShown = Progress.isTerminal && !backend.follow && (output != "-" || !StandardOutput.isTerminal)
        try await filter.marking { try await Progress.shown("writing", isTerminal: isShown) { try await write() } }
    }

    private func write() async throws {
        let store = try await place.opened()
        if output != "-", let store = store as? SQLiteStore, store.owns(URL(filePath: output)) {
            throw WaybillError(.setting, "\(output) is a file of the store itself. Name another file with --output.")
        }
        if let backend = try backend.backend() { return try await send(to: backend, from: store) }
        if let incremental, let format = format.text {
            return try await add(format, from: store, to: lake(incremental))
        }
        guard output != "-" else {
            let terminal = try ExportOutput(isCompressed: gzip, to: StandardOutput.write)
            _ = try await write(from: store, to: terminal)
            _ = try terminal.finish()
            return
        }
        let file = URL(filePath: output)
        guard format != .sqlite else {
            return tell(Words.count(try await store.copy(.of(request), to: file).byteCount, "byte"))
        }
        let whole = try ExportOutput(to: file, isCompressed: gzip || format != .html && file.endsInGzip)
        let count = try await write(from: store, to: whole)
        let byteCount = try whole.finish()
        tell(count ?? Words.count(byteCount, "byte"))
    }

    private func tell(_ count: String) { Terminal.warn("\(output): \(count).") }

    /// Returns the count of rows; `nil` to count bytes.
    private func write(from store: some ExportingStore, to output: ExportOutput) async throws -> String? {
        if let format = format.exchanges {
            let document = ExchangeExport(as: format, redactor: .command)
            if let note = try await store.export(request, as: document, to: output) { Terminal.warn(note) }
            return nil
        }
        if let format = format.text, csv.rows == .facts || csv.rows == .events {
            let style = format == .csv ? csv.style : CSVStyle()
            try await store.write(.of(request), as: format, style: style, to: output)
            return nil
        }
        if csv.rows == .exchanges {
            let count = try await output.write(
                ListPages(request, of: store.exchanges), style: csv.style, redactor: .command)
            return Words.count(count, "exchange")
        }
        let count: Int
        if csv.rows == .transactions {
            count = try await output.write(
                ListPages(request, of: store.transactions), style: csv.style, redactor: .command)
        } else if format == .perfetto {
            count = try await store.writeTrace(request, redactor: .command, to: output)
        } else {
            let report = try await store.report(request)
            try output.write(Array(report.html))
            count = report.records.count
        }
        return Words.count(count, "transaction")
    }

    private func add(_ format: TextFormat, from store: some ExportingStore, to lake: any Lake) async throws {
        let export = IncrementalExport(as: format, isCompressed: gzip)
        guard let increment = try await export.run(of: store, into: lake) else {
            return Terminal.warn("Nothing is new.")
        }
        try Terminal.write(increment.files.map { lake.place(of: $0.name) })
    }

    private func lake(_ place: String) throws -> any Lake {
        guard place.hasPrefix(BucketAddress.scheme) else {
            return try LakeFolder(URL(filePath: place, directoryHint: .isDirectory))
        }
        let environment = ProcessInfo.processInfo.environment
        return Bucket(
            try BucketAddress(place, environment: environment),
            by: try BucketCredentials(environment: environment), clock: CommandClock.current)
    }

    private func send(to backend: TraceBackend, from store: some ExportingStore) async throws {
        var relay = try SpanRelay(store, to: backend, cursorFile: self.backend.cursor.map { URL(filePath: $0) })
        if self.backend.follow { return try await relay.follow() }
        let receipt = try await relay.round(request)
        guard receipt.rejectedCount == 0 else { throw WaybillError(.refused, receipt.sentence) }
        Terminal.warn(receipt.sentence)
    }
}

enum FormatArgument: String, CaseIterable, ExpressibleByArgument {
    case ndjson, csv, otlp, har, curl, rules, perfetto, sqlite, html

    /// `nil` for formats without facts.
    var text: TextFormat? { TextFormat(rawValue: rawValue) }

    /// `nil` for formats with more than exchanges.
    var exchanges: ExchangeFormat? { ExchangeFormat(rawValue: rawValue) }
}

struct CSVOptions: ParsableArguments {
    @Option(help: "CSV: the content of a row: facts, transactions, events, exchanges.")
    var rows = Rows.facts

    @Option(
        help:
            "CSV: times as text in UTC (iso), or as microseconds since 1970 (us). The default is iso; incremental exports have us."
    )
    var times: Times?

    @Flag(help: "CSV: begin with a byte order mark, which Excel needs.")
    var bom = false

    enum Rows: String, CaseIterable, ExpressibleByArgument { case facts, transactions, events, exchanges }

    enum Times: String, CaseIterable, ExpressibleByArgument { case us, iso }

    var areUnset: Bool { rows == .facts && times == nil && !bom }

    var style: CSVStyle {
        var style = CSVStyle()
        (style.hasByteOrderMark, style.isForPeople, style.hasOnlyEvents) = (bom, times != .us, rows == .events)
        return style
    }
}
#endif
