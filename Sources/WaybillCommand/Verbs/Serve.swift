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
        abstract: "Run a collector: receive sets, and answer questions about them.",
        discussion: """
            The first line of output is the collector's address. Each request needs a token, which `waybill token add` creates, unless you pass \
            --insecure. The first SIGTERM or SIGINT stops the collector: it finishes the sets that it is receiving, and ends lists and questions.

            In a browser, the same address shows the recorded transactions to anyone who logs in with a `read` token. A store in one file, such as \
            one from a phone, is read-only, serves only this machine, and needs no token.

            An option such as --max-connections overrides the variable WAYBILL_MAX_CONNECTIONS, which overrides the member "maxConnections" in the \
            JSON file of --config.

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
            "The folder of the stores and the tokens, created if it is missing; a store in one file; or the URL of a database.",
        transform: StoreArgument.path)
    var folder: String

    @Option(
        help: ArgumentHelp(
            "With a database: the folder of the tokens, which all its collectors share.", valueName: "folder"),
        transform: StoreArgument.path)
    var tokens: String?

    @OptionGroup var flags: ServeFlags

    @Option(help: ArgumentHelp("Settings, as a JSON object.", valueName: "file"))
    var config: String?

    @Flag(help: "Print the settings, without secrets, and do nothing else.")
    var printConfig = false

    func run() async throws {
        FreedMemory.giveBack()
        let settings = try await ServeSettings(flags, file: config)
        if printConfig { return try Terminal.write(settings.lines) }
        if case .database(let address) = StoreArgument(argument: self.folder) {
            return try await serve(Database(address), settings.forDatabase)
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
        guard flags.ofCollectors.isEmpty else {
            throw WaybillError(
                .setting,
                "A store in one file is only shown: leave out \(flags.ofCollectors.joined(separator: ", ")).")
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
            let cause = "\(error)"
            // SwiftNIO writes `errno: 98)`, and Network.framework `rawValue: 48)`.
            func isCaused(by code: Int32) -> Bool {
                cause.contains("errno: \(code))") || cause.contains("rawValue: \(code))")
            }
            let advice =
                if isCaused(by: EADDRINUSE) {
                    " Another program uses this port: stop it, or choose another with --port."
                } else if isCaused(by: EACCES) {
                    " Ports below 1024 need privileges: choose another with --port."
                } else {
                    ""
                }
            throw WaybillError(
                .setting, "The collector cannot listen on \(settings.host), port \(settings.port).\(advice)",
                cause: cause)
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

    @Flag(help: "With --to: send new spans until interrupted.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "With --to: continue after the previous run with this file, and store the new position in it.",
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
