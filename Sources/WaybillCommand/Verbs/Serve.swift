#if Collector
import ArgumentParser
import Foundation
import Hummingbird
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillInspector

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a collector: take in sets, and answer questions about them.",
        discussion: """
            The first line of output is where it listens. The first SIGTERM or SIGINT ends it: sets in flight are taken in, lists and \
            questions end, and what was acknowledged is on disk. Every request carries a token, made by `waybill token add`, unless it runs \
            with --insecure.

            Opened in a browser, the same address shows what was recorded to who logs in with a token to read. For a store in one file, e.g. \
            one that a phone handed over, there is nothing else: it is shown read-only, to this machine alone, and no token is asked for.

            What is not given as an option, like --max-connections, is taken from the environment, as WAYBILL_MAX_CONNECTIONS, then from \
            the file of --config, a JSON object, as "maxConnections".

            EXAMPLES
              waybill serve ./collected --insecure
              waybill serve ./collected --insecure --otlp http://127.0.0.1:4318
              waybill token add ./collected --role ingest
              waybill serve ./phone.sqlite
              waybill serve clickhouse://127.0.0.1:8123/waybill --tokens ./tokens
              waybill serve ./collected --host 0.0.0.0 --port 443 \\
                --tls-cert chain.pem --tls-key key.pem
              curl http://127.0.0.1:8477/v1/transactions?since=24h
            """)

    @Argument(
        help:
            "The folder of the stores and of the tokens; made where it is missing. Or a store in one file, to look at; or a database's address."
    )
    var folder: String

    @Option(
        help: ArgumentHelp(
            "With a database: the folder of the tokens, the same for all its collectors.", valueName: "folder"))
    var tokens: String?

    @OptionGroup var flags: ServeFlags

    @Option(help: ArgumentHelp("Settings, as a JSON object.", valueName: "file"))
    var config: String?

    @Flag(help: "Print the settings, without secrets, and do nothing else.")
    var printConfig = false

    func run() async throws {
        FreedMemory.giveBack()
        let settings = try await ServeSettings(flags, file: config)
        if printConfig { return Terminal.write(settings.lines) }
        if case .database(let address) = StoreArgument(argument: self.folder) {
            return try await serve(Database(address), settings)
        }
        guard tokens == nil else {
            throw WaybillError(.setting, "The tokens are in the folder of the stores: leave --tokens out.")
        }
        let file = URL(filePath: self.folder)
        if FileManager.default.fileExists(atPath: self.folder), !file.isFolder { return try await show(file, settings) }
        let folder = URL(filePath: folder, directoryHint: .isDirectory)
        try checkTokens(in: folder, settings)
        let collector = try Collector(
            folder: folder, access: settings.isInsecure ? .open : .tokens, limits: settings.limits)
        try await run(try settings.application(collector), settings)
    }

    private func serve(_ database: Database, _ settings: ServeSettings) async throws {
        guard settings.isInsecure || tokens != nil else {
            throw WaybillError(
                .setting,
                "Name the folder of the tokens by --tokens, made by `waybill token add`, or give --insecure on loopback."
            )
        }
        // Without tokens, the folder is not read.
        let folder = URL(filePath: tokens ?? ".", directoryHint: .isDirectory)
        try checkTokens(in: folder, settings)
        let collector = try await database.collector(
            tokens: folder, access: settings.isInsecure ? .open : .tokens, limits: settings.limits)
        try await run(try settings.application(collector), settings)
    }

    private func checkTokens(in folder: URL, _ settings: ServeSettings) throws(WaybillError) {
        guard !settings.isInsecure else { return }
        guard try !TokenFile(folder: folder).tokens().isEmpty else {
            throw WaybillError(
                .setting,
                "There is no token yet. Make one with `waybill token add \(folder.relativePath) --role ingest`, or give --insecure on loopback."
            )
        }
    }

    private func show(_ file: URL, _ settings: ServeSettings) async throws {
        guard settings.isLoopback else {
            throw WaybillError(
                .setting,
                "A store in one file is shown on loopback alone, and not on \(settings.host). Leave --host out.")
        }
        let inspector = try Inspector(
            file: file, readLimit: settings.limits.readDuration, redactor: settings.limits.redactor)
        for warning in await inspector.warnings() { Terminal.warn(warning) }
        try await run(try settings.application(inspector), settings)
    }

    private func run(_ application: some ApplicationProtocol, _ settings: ServeSettings) async throws {
        do {
            try await application.runService()
        } catch {
            throw WaybillError(
                .setting, "The collector cannot listen on \(settings.host), port \(settings.port).", cause: "\(error)")
        }
    }
}

struct BackendOptions: ParsableArguments {
    @Option(
        name: .customLong("to"),
        help: ArgumentHelp(
            "With --format otlp: post spans to this backend by OTLP/HTTP, e.g. http://127.0.0.1:4318. "
                + "OTEL_EXPORTER_OTLP_HEADERS has the header fields that it asks for.", valueName: "url"))
    var url: String?

    @Flag(help: "With --to: go on with what is new, until interrupted.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "With --to: begin where the last run with this file ended, and note in it where this one has.",
            valueName: "file"))
    var cursor: String?

    var isContinued: Bool { follow || cursor != nil }

    func validate() throws {
        guard url != nil || !isContinued else { throw ValidationError("--follow and --cursor go with --to.") }
    }

    func backend(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> TraceBackend? {
        guard let url else { return nil }
        // A text that is not even a URL gets the same error as one that is not HTTP.
        return try TraceBackend(URL(string: url) ?? URL(filePath: url), headers: TraceBackend.headers(of: environment))
    }
}
#endif
