#if Collector
import ArgumentParser
import Configuration
import Foundation
import Logging
import WaybillCollector
import WaybillCore
import WaybillExport

/// Its name is `--max-connections` as an option, `WAYBILL_MAX_CONNECTIONS` in the environment, and `maxConnections` in
/// the file.
struct ServeSetting: Sendable {
    typealias Place<Value> = any WritableKeyPath<ServeSettings, Value> & Sendable

    enum Value: Sendable {
        case flag(Place<Bool>)
        case number(Place<Int>, ClosedRange<Int>)
        case text(Place<String?>)
        case word(Place<String?>, of: [String])
        /// A list with commas between its items. The option can also be given several times.
        case list(Place<String?>)
        /// An address, which is printed without a password or key.
        case url(Place<String?>)
        /// An address that is printed without its path and query.
        case origin(Place<String?>)
        /// A text that is never printed. It is not an option, because other users can see a command line.
        case secret(Place<String?>)
    }

    let name: String
    let value: Value
    let help: ArgumentHelp

    private init(_ name: String, _ value: Value, _ help: String = "", _ valueName: String? = nil) {
        (self.name, self.value, self.help) = (name, value, ArgumentHelp(help, valueName: valueName))
    }

    /// All settings, in the order of `--print-config`.
    static let all: [ServeSetting] = [
        Self("host", .text(\.host.optional), "The address to listen on. Default: 127.0.0.1."),
        Self("port", .number(\.port, 0...65_535), "The port; 0 for any that is free. Default: 8477."),
        Self("insecure", .flag(\.isInsecure), "Ask for no token. On loopback alone."),
        Self(
            "allowPlainHttp", .flag(\.isPlainHTTPAllowed),
            "Listen beyond loopback without TLS, for a proxy that terminates TLS."),
        Self("tlsCert", .text(\.certificate), "The certificate and its chain, as PEM: serve HTTPS.", "file"),
        Self(
            "tlsKey", .text(\.key),
            "The certificate's private key, as PEM; its password is WAYBILL_TLS_KEY_PASSWORD.", "file"),
        Self("tlsKeyPassword", .secret(\.keyPassword)),
        Self(
            "logLevel", .word(\.logLevel.name, of: Logger.Level.allCases.map(\.rawValue)),
            "trace, debug, info (a line for each answer), notice, warning, error. Default: warning.", "level"),
        Self(
            "maxBodyBytes", .number(\.limits.bodyByteCount, 1...1 << 30), "The largest body as it is sent.", "count"),
        Self(
            "maxDecompressedBytes", .number(\.limits.decompressedByteCount, 1...1 << 30),
            "The largest body when it is decompressed.", "count"),
        Self(
            "maxPendingBytes", .number(\.limits.pendingByteCount, 1...1 << 40),
            "The size of all bodies in progress; further ones get 503.", "count"),
        Self("maxSetFacts", .number(\.limits.factsPerSet, 1...10_000_000), "Facts of one set.", "count"),
        Self(
            "maxTransactionFacts", .number(\.limits.factsPerTransaction, 1...10_000_000),
            "Facts of one transaction; further ones are rejected.", "count"),
        Self(
            "maxRequestsPerSecond", .number(\.limits.requestsPerSecond, 1...1_000_000),
            "Requests of one token in a second; further ones get 429.", "count"),
        Self(
            "retentionDays", .number(\.limits.maximumAge.days, 0...36_500),
            "How long to keep a transaction after its last fact arrived; 0 is no limit. Default: 90.", "count"),
        Self(
            "maxStoreBytes", .number(\.limits.storeByteCount.orZero, 0...1 << 50),
            "The largest store of a project; the oldest transactions are retired. 0 is no limit. Default: 10 GiB.",
            "count"),
        Self(
            "maxTransactions", .number(\.limits.transactionCount.orZero, 0...1_000_000_000),
            "The most transactions of a project; the oldest are retired. 0 is no limit, the default.", "count"),
        Self(
            "sessionHours", .number(\.limits.sessionDuration[in: 3600], 1...8760),
            "How long a session of the inspector lasts.", "count"),
        Self(
            "maxConnections", .number(\.maximumConnections, 1...1_000_000),
            "Connections at a time; new ones replace idle ones.", "count"),
        Self(
            "headerSeconds", .number(\.headerSeconds, 1...3600), "How long the head of a request may take.", "count"),
        Self("bodySeconds", .number(\.bodySeconds, 1...3600), "How long the body of a request may take.", "count"),
        Self(
            "idleSeconds", .number(\.idleSeconds, 1...3600), "How long a connection may rest between requests.",
            "count"),
        Self(
            "writeSeconds", .number(\.writeSeconds, 1...3600), "How long an answer may wait for its reader.", "count"),
        Self(
            "stalledSeconds", .number(\.stalledSeconds, 1...3600),
            "How long a body may be slower than --min-bytes-per-second.", "count"),
        Self(
            "minBytesPerSecond", .number(\.minimumBytesPerSecond, 1...1 << 30),
            "The lowest speed of a body; a slower one gets 408.", "count"),
        Self(
            "readSeconds", .number(\.limits.readDuration[in: 1], 1...3600),
            "How long a list or a question may take; a longer one gets 422. Default: 30.", "count"),
        Self(
            "secretNames", .text(\.limits.additionalSecretNames.list),
            "Names whose values are secret, besides the well-known ones, separated by commas; the same as in the apps.",
            "names"),
        Self(
            "visibleNames", .text(\.limits.visibleNames.list),
            "Names whose values are not secret, such as an order's code, separated by commas; the same as in the apps.",
            "names"),
        Self(
            "sample", .list(\.sample),
            "Ask apps to deliver a share of a use case, such as login=0.1, or of all others, such as 0.5. Separate several by commas, or repeat the option.",
            "rates"),
        Self(
            "otlp", .url(\.otlp),
            "Send new transactions as spans to this tracing backend, by OTLP/HTTP. Set its header fields in WAYBILL_OTLP_HEADERS.",
            "url"),
        Self("otlpHeaders", .secret(\.otlpHeaders)),
        Self(
            "check", .text(\.check), "Check the budgets in this file once a minute: waybill help check.", "file"),
        Self(
            "webhook", .origin(\.webhook),
            "With --check: post JSON to this address when a limit breaks and when it holds again. Set a secret address in WAYBILL_WEBHOOK.",
            "url"),
    ]

    var option: String { "--" + name.replacing(#/[A-Z]/#) { "-" + $0.output.lowercased() } }

    var isSecret: Bool {
        if case .secret = value { true } else { false }
    }

    fileprivate func read(_ reader: ConfigReader, into settings: inout ServeSettings) async throws(WaybillError) -> Bool
    {
        let key = ConfigKey([name])
        let kind: String
        do {
            switch value {
            case .flag(let place):
                kind = "true or false"
                guard let flag = try await reader.fetchBool(forKey: key) else { return false }
                settings[keyPath: place] = flag
                return true
            case .number(let place, let bounds):
                kind = "a number from \(bounds.lowerBound) to \(bounds.upperBound)"
                guard let number = try await reader.fetchInt(forKey: key) else { return false }
                if bounds.contains(number) {
                    settings[keyPath: place] = number
                    return true
                }
            case .word(let place, let words):
                kind = "one of \(words.joined(separator: ", "))"
                guard let word = try await reader.fetchString(forKey: key) else { return false }
                if words.contains(word) {
                    settings[keyPath: place] = word
                    return true
                }
            case .text(let place), .list(let place), .url(let place), .origin(let place),
                .secret(let place):
                kind = "a text"
                guard let text = try await reader.fetchString(forKey: key, isSecret: isSecret) else { return false }
                settings[keyPath: place] = text
                return true
            }
        } catch {}  // the sentence below says what is wrong with a value of another type
        throw WaybillError(.setting, "The setting \(name) is not \(kind).")
    }

    fileprivate func text(in settings: ServeSettings) -> String? {
        switch value {
        case .flag(let place): "\(settings[keyPath: place])"
        case .number(let place, _): "\(settings[keyPath: place])"
        case .text(let place), .word(let place, _), .list(let place): settings[keyPath: place]
        case .url(let place): settings[keyPath: place].map(Redactor().wholeURL)
        case .origin(let place):
            settings[keyPath: place].map { text in
                guard let url = URL(string: text), let scheme = url.scheme, let host = url.host() else {
                    return "[hidden]"
                }
                let port = url.port.map { ":\($0)" } ?? ""
                return "\(scheme)://\(host)\(port)\(url.path().count > 1 || url.query() != nil ? "/[hidden]" : "")"
            }
        case .secret(let place): settings[keyPath: place].map { _ in "[hidden]" }
        }
    }
}

/// Options come first, then the environment, the file, and the defaults.
struct ServeSettings: Sendable {
    fileprivate(set) var host = "127.0.0.1"
    fileprivate(set) var port = 8477
    fileprivate(set) var isInsecure = false
    fileprivate(set) var isPlainHTTPAllowed = false
    fileprivate(set) var certificate: String?
    fileprivate(set) var key: String?
    fileprivate(set) var keyPassword: String?
    fileprivate(set) var logLevel = Logger.Level.warning
    fileprivate(set) var limits = CollectorLimits.serving
    fileprivate(set) var maximumConnections = 512
    fileprivate(set) var headerSeconds = 10
    fileprivate(set) var bodySeconds = 60
    fileprivate(set) var idleSeconds = 60
    fileprivate(set) var writeSeconds = 30
    fileprivate(set) var stalledSeconds = 10
    fileprivate(set) var minimumBytesPerSecond = 500
    fileprivate var sample: String?
    fileprivate var otlp: String?
    fileprivate var otlpHeaders: String?
    fileprivate var check: String?
    fileprivate var webhook: String?
    private(set) var backend: TraceBackend?
    private(set) var alerts: (budgets: [Budget], webhook: Webhook)?
    /// The names of the limits on age and size that have their defaults.
    private(set) var retentionDefaults = ["retentionDays", "maxStoreBytes"]

    /// - Throws: `setting` if a value is unreadable or out of bounds, or a name in the file is unknown.
    init(
        _ flags: ServeFlags? = nil, environment: [String: String] = ProcessInfo.processInfo.environment,
        file: String? = nil
    ) async throws {
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "options", values: flags?.values ?? [:]),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "waybill"),
        ]
        if let file { providers.append(try await Self.provider(file)) }
        let reader = ConfigReader(providers: providers)
        for setting in ServeSetting.all where try await setting.read(reader, into: &self) {
            retentionDefaults.removeAll { $0 == setting.name }
        }
        limits.samplingRates = try Self.samplingRates(sample ?? "")
        if let otlp {
            let headers = otlpHeaders.map(TraceBackend.headers) ?? TraceBackend.headers(of: environment)
            // A text that is not even a URL gets the same error as one that is not HTTP.
            backend = try TraceBackend(URL(string: otlp) ?? URL(filePath: otlp), headers: headers)
        }
        guard (check == nil) == (webhook == nil) else {
            throw WaybillError(.setting, "Alerts take both --check and --webhook.")
        }
        if let check, let webhook {
            let budgets = try Budget.read(URL(filePath: check))
            guard budgets.count <= Budget.alertLimit else {
                throw WaybillError(
                    .setting, "\(check) has \(budgets.count) budgets; a collector checks \(Budget.alertLimit) at most.")
            }
            alerts = (budgets, try Webhook(URL(string: webhook) ?? URL(filePath: webhook)))
        }
        try validate()
    }

    /// Reads `login=0.1,7=0.2,0.5`: the rates of use cases, by name or code, and of all others.
    private static func samplingRates(_ text: String) throws(WaybillError) -> [String: Double] {
        var rates: [String: Double] = [:]
        for word in text.split(separator: ",") {
            let parts = word.split(separator: "=", omittingEmptySubsequences: false)
            let name =
                parts.count == 1 ? "*" : parts.dropLast().joined(separator: "=").trimmingCharacters(in: .whitespaces)
            guard !name.isEmpty, rates[name] == nil, let rate = Double(parts[parts.count - 1].filter { $0 != " " }),
                rate == 0 || (0.000001...1).contains(rate)
            else {
                throw WaybillError(
                    .setting,
                    "The setting sample is not what it should be at “\(word)”: give login=0.1 for a use case, 0.5 for all others, each once, and rates of 0, or from 0.000001 to 1."
                )
            }
            rates[name] = rate
        }
        return rates
    }

    private func validate() throws(WaybillError) {
        guard (certificate == nil) == (key == nil) else {
            throw WaybillError(.setting, "HTTPS takes both --tls-cert and --tls-key.")
        }
        guard !isInsecure || isLoopback else {
            throw WaybillError(
                .setting,
                "Without tokens the collector listens on loopback alone, and not on \(host). Leave --insecure out.")
        }
        guard isLoopback || certificate != nil || isPlainHTTPAllowed else {
            throw WaybillError(
                .setting,
                "Clients of \(host) would send tokens unencrypted. Set --tls-cert and --tls-key, or --allow-plain-http if a proxy in front of it uses TLS."
            )
        }
    }

    var warnings: [String] {
        var warnings: [String] = []
        if certificate == nil, !isLoopback {
            warnings.append(
                "Tokens arrive unencrypted at \(host), because of --allow-plain-http. Put a proxy with TLS in front of it."
            )
        }
        let bounds = retentionDefaults.map { name in
            name == "retentionDays"
                ? "data older than \(limits.maximumAge.days) days (--retention-days)"
                : "a project's oldest data beyond \(limits.storeByteCount.orZero) bytes (--max-store-bytes)"
        }
        if !bounds.isEmpty {
            warnings.append(
                "One hour after the start, the default limits begin to delete \(bounds.joined(separator: " and ")). 0 means no limit."
            )
        }
        return warnings
    }

    /// A database limits no bytes.
    var forDatabase: ServeSettings {
        var settings = self
        settings.retentionDefaults.removeAll { $0 == "maxStoreBytes" }
        return settings
    }

    var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }

    var lines: [String] {
        ServeSetting.all.map { "\($0.name) = \($0.text(in: self) ?? "")".trimmingCharacters(in: .whitespaces) }
    }

    /// The settings in a file. A misspelt name is an error.
    private static func provider(_ path: String) async throws -> any ConfigProvider {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw WaybillError(.setting, "The settings in \(path) cannot be read.")
        }
        guard let members = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw WaybillError(.setting, "The settings in \(path) are no JSON object.")
        }
        let names = ServeSetting.all.map(\.name)
        if let unknown = members.keys.sorted().first(where: { !names.contains($0) }) {
            throw WaybillError(
                .setting,
                "There is no setting “\(unknown)”, as \(path) has it. They are: \(names.joined(separator: ", ")).")
        }
        let place = InMemoryProvider(values: [
            AbsoluteConfigKey(["filePath"]): ConfigValue(.string(path), isSecret: false)
        ])
        return try await FileProvider<JSONSnapshot>(config: ConfigReader(provider: place))
    }
}

extension CollectorLimits {
    /// The defaults of `waybill serve`, which don't fill the disk.
    fileprivate static var serving: CollectorLimits {
        var limits = CollectorLimits()
        limits.maximumAge = .seconds(90 * 86_400)
        limits.storeByteCount = 10 << 30
        return limits
    }
}

// MARK: Values as texts and numbers

extension String {
    fileprivate var optional: String? {
        get { self }
        set { self = newValue ?? self }
    }
}

extension [String] {
    fileprivate var list: String? {
        get { isEmpty ? nil : joined(separator: ",") }
        set { self = Redactor.names(in: newValue) }
    }
}

extension Logger.Level {
    fileprivate var name: String? {
        get { rawValue }
        set { self = newValue.flatMap { Self(rawValue: $0) } ?? self }
    }
}

extension Duration {
    fileprivate subscript(in unit: Int64) -> Int {
        get { Int(components.seconds / unit) }
        set {
            let (seconds, isTooLong) = Int64(newValue).multipliedReportingOverflow(by: unit)
            self = .seconds(isTooLong ? .max : seconds).bounded
        }
    }
}

extension Duration? {
    fileprivate var days: Int {
        get { self?[in: 86_400] ?? 0 }
        set {
            self = newValue == 0 ? nil : .zero
            self?[in: 86_400] = newValue
        }
    }
}

extension Optional where Wrapped: FixedWidthInteger {
    fileprivate var orZero: Int {
        get { self.map { Int(clamping: $0) } ?? 0 }
        set { self = newValue == 0 ? nil : Wrapped(clamping: newValue) }
    }
}
#endif
