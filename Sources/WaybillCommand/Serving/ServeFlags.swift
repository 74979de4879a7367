#if Collector
import ArgumentParser
import Configuration
import WaybillCollector

/// The settings of `waybill serve` that are options; what is not given comes from the environment, the file, or the
/// defaults.
struct ServeFlags: ParsableArguments {
    @Option(help: "The address to listen on. Default: 127.0.0.1.")
    var host: String?

    @Option(help: "The port; 0 for any that is free. Default: 8477.")
    var port: Int?

    @Flag(help: "Ask for no token. On loopback alone.")
    var insecure = false

    @Flag(
        name: .customLong("allow-plain-http"),
        help: "Listen beyond loopback without TLS, since something before it does TLS. Else it does not start.")
    var allowPlainHTTP = false

    @Option(help: ArgumentHelp("The certificate and its chain, as PEM: serve HTTPS.", valueName: "file"))
    var tlsCert: String?

    @Option(
        help: ArgumentHelp(
            "The certificate's private key, as PEM; its password is WAYBILL_TLS_KEY_PASSWORD.", valueName: "file"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp(
            "trace, debug, info (a line for each answer), notice, warning, error. Default: warning.", valueName: "level"
        ))
    var logLevel: String?

    @Option(help: ArgumentHelp("The largest body as it is sent.", valueName: "count"))
    var maxBodyBytes: Int?

    @Option(help: ArgumentHelp("The largest body when it is decompressed.", valueName: "count"))
    var maxDecompressedBytes: Int?

    @Option(help: ArgumentHelp("All bodies that are being worked on; more get 503.", valueName: "count"))
    var maxPendingBytes: Int?

    @Option(help: ArgumentHelp("Facts of one set.", valueName: "count"))
    var maxSetFacts: Int?

    @Option(help: ArgumentHelp("Facts of one transaction; more are rejected.", valueName: "count"))
    var maxTransactionFacts: Int?

    @Option(help: ArgumentHelp("Requests of one token in a second; more get 429.", valueName: "count"))
    var maxRequestsPerSecond: Int?

    @Option(
        help: ArgumentHelp(
            "How long a transaction is kept after the last of it was received; 0: for ever. Default: 90.",
            valueName: "count"))
    var retentionDays: Int?

    @Option(
        help: ArgumentHelp(
            "What a project's store may take; the oldest goes. 0: as much as comes. Default: 10 GiB.",
            valueName: "count"))
    var maxStoreBytes: Int?

    @Option(
        help: ArgumentHelp(
            "How many transactions a project may have; the oldest go. 0: as many as come, the default.",
            valueName: "count"))
    var maxTransactions: Int?

    @Option(help: ArgumentHelp("How long somebody stays logged in to the inspector.", valueName: "count"))
    var sessionHours: Int?

    @Option(help: ArgumentHelp("Connections at a time; those at rest make room for more.", valueName: "count"))
    var maxConnections: Int?

    @Option(help: ArgumentHelp("How long the head of a request may take.", valueName: "count"))
    var headerSeconds: Int?

    @Option(help: ArgumentHelp("How long the body of a request may take.", valueName: "count"))
    var bodySeconds: Int?

    @Option(help: ArgumentHelp("How long a connection may rest between requests.", valueName: "count"))
    var idleSeconds: Int?

    @Option(help: ArgumentHelp("How long an answer may wait for its reader.", valueName: "count"))
    var writeSeconds: Int?

    @Option(
        help: ArgumentHelp("How long a body may come more slowly than --min-bytes-per-second.", valueName: "count"))
    var stalledSeconds: Int?

    @Option(help: ArgumentHelp("How fast a body has to come; a slower one gets 408.", valueName: "count"))
    var minBytesPerSecond: Int?

    @Option(
        help: ArgumentHelp(
            "How long a list or a question may take; one that takes longer gets 422. Default: 30.", valueName: "count"))
    var readSeconds: Int?

    @Option(
        help: ArgumentHelp(
            "Names whose values are secret, besides the well-known ones, with commas between them; as the apps have them.",
            valueName: "names"))
    var secretNames: String?

    @Option(
        help: ArgumentHelp(
            "Names whose values are no secrets, as an order's code, with commas between them; as the apps have them.",
            valueName: "names"))
    var visibleNames: String?

    @Option(
        help: ArgumentHelp(
            "Ask apps to deliver this share of a use case, as login=0.1; of all others, as 0.5. Several with commas between them, or one by one.",
            valueName: "rates"))
    var sample: [String] = []

    @Option(
        help: ArgumentHelp(
            "Send what comes to this tracing backend, as spans by OTLP/HTTP; header fields it asks for are WAYBILL_OTLP_HEADERS.",
            valueName: "url"))
    var otlp: String?

    /// Those that were given.
    var values: [AbsoluteConfigKey: ConfigValue] {
        let texts: [ServeSetting: String?] = [
            .host: host, .tlsCert: tlsCert, .tlsKey: tlsKey, .logLevel: logLevel, .otlp: otlp,
            .secretNames: secretNames, .visibleNames: visibleNames,
            .sample: sample.isEmpty ? nil : sample.joined(separator: ","),
        ]
        let numbers: [ServeSetting: Int?] = [
            .port: port, .maxBodyBytes: maxBodyBytes, .maxDecompressedBytes: maxDecompressedBytes,
            .maxPendingBytes: maxPendingBytes,
            .maxSetFacts: maxSetFacts, .maxTransactionFacts: maxTransactionFacts,
            .maxRequestsPerSecond: maxRequestsPerSecond,
            .retentionDays: retentionDays, .maxStoreBytes: maxStoreBytes,
            .maxTransactions: maxTransactions, .sessionHours: sessionHours,
            .maxConnections: maxConnections, .headerSeconds: headerSeconds, .bodySeconds: bodySeconds,
            .idleSeconds: idleSeconds, .writeSeconds: writeSeconds, .stalledSeconds: stalledSeconds,
            .minBytesPerSecond: minBytesPerSecond, .readSeconds: readSeconds,
        ]
        var contents: [ServeSetting: ConfigContent] = texts.compactMapValues { $0.map(ConfigContent.string) }
        contents.merge(numbers.compactMapValues { $0.map(ConfigContent.int) }) { $1 }
        if insecure { contents[.insecure] = .bool(true) }
        if allowPlainHTTP { contents[.allowPlainHttp] = .bool(true) }
        return Dictionary(
            uniqueKeysWithValues: contents.map { setting, content in
                (AbsoluteConfigKey([setting.rawValue]), ConfigValue(content, isSecret: setting.isSecret))
            })
    }
}

/// What can be set of `waybill serve`: one name, written `--max-connections` as an option, `WAYBILL_MAX_CONNECTIONS` in
/// the environment, and `maxConnections` in the file.
enum ServeSetting: String, CaseIterable {
    case host, port, insecure, allowPlainHttp
    case tlsCert, tlsKey, tlsKeyPassword
    case logLevel
    case maxBodyBytes, maxDecompressedBytes, maxPendingBytes, maxSetFacts, maxTransactionFacts, maxRequestsPerSecond
    case retentionDays, maxStoreBytes, maxTransactions, sessionHours
    case maxConnections, headerSeconds, bodySeconds, idleSeconds, writeSeconds, stalledSeconds, minBytesPerSecond
    case readSeconds
    case secretNames, visibleNames
    case sample
    case otlp, otlpHeaders

    var key: ConfigKey { ConfigKey([rawValue]) }

    /// Never printed, and no option: what stands on a command line can be seen by all users of the machine.
    var isSecret: Bool { self == .tlsKeyPassword || self == .otlpHeaders }
}
#endif
