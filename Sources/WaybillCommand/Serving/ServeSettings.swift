#if Collector
import Configuration
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillInspector

#if TLS
import HummingbirdTLS
import NIOSSL
#endif

/// How a collector is served: options before the environment, the environment before the file, the file before the
/// defaults.
struct ServeSettings: Sendable {
    private(set) var host = "127.0.0.1"
    private(set) var port = 8477
    private(set) var isInsecure = false
    private(set) var isPlainHTTPAllowed = false
    private(set) var certificate: String?
    private(set) var key: String?
    private(set) var keyPassword: String?
    private(set) var logLevel = Logger.Level.warning
    private(set) var limits = CollectorLimits.serving
    /// The limits on age and size that have their defaults, because nobody set them.
    private(set) var retentionDefaults: [ServeSetting] = []
    private(set) var maximumConnections = 512
    private(set) var headerSeconds = 10
    private(set) var bodySeconds = 60
    private(set) var idleSeconds = 60
    private(set) var writeSeconds = 30
    private(set) var stalledSeconds = 10
    private(set) var minimumBytesPerSecond = 500
    /// Where spans go, and with which header fields; nil: nowhere.
    private(set) var backend: TraceBackend?
    private var sample: String?
    private var otlp: String?
    private var otlpHeaders: String?

    /// Reads them all.
    ///
    /// - Throws: `setting` for what cannot be read, is out of bounds, or unknown in the file.
    init(
        _ flags: ServeFlags? = nil, environment: [String: String] = ProcessInfo.processInfo.environment,
        file: String? = nil
    ) async throws {
        var providers: [any ConfigProvider] = [
            InMemoryProvider(name: "options", values: flags?.values ?? [:]),
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "waybill"),
        ]
        if let file { providers.append(try await Self.provider(file)) }
        let reader = SettingReader(ConfigReader(providers: providers))
        host = try await reader.text(.host) ?? host
        port = try await reader.number(.port, in: 0...65_535) ?? port
        isInsecure = try await reader.bool(.insecure) ?? isInsecure
        isPlainHTTPAllowed = try await reader.bool(.allowPlainHttp) ?? isPlainHTTPAllowed
        certificate = try await reader.text(.tlsCert)
        key = try await reader.text(.tlsKey)
        keyPassword = try await reader.text(.tlsKeyPassword)
        logLevel = try await reader.level() ?? logLevel
        limits.bodyByteCount = try await reader.number(.maxBodyBytes, in: 1...1 << 30) ?? limits.bodyByteCount
        limits.decompressedByteCount =
            try await reader.number(.maxDecompressedBytes, in: 1...1 << 30) ?? limits.decompressedByteCount
        limits.pendingByteCount = try await reader.number(.maxPendingBytes, in: 1...1 << 40) ?? limits.pendingByteCount
        limits.factsPerSet = try await reader.number(.maxSetFacts, in: 1...10_000_000) ?? limits.factsPerSet
        limits.factsPerTransaction =
            try await reader.number(.maxTransactionFacts, in: 1...10_000_000) ?? limits.factsPerTransaction
        limits.requestsPerSecond =
            try await reader.number(.maxRequestsPerSecond, in: 1...1_000_000) ?? limits.requestsPerSecond
        if let days = try await reader.number(.retentionDays, in: 0...36_500) {
            limits.maximumAge = days == 0 ? nil : .seconds(days * 86_400)
        } else {
            retentionDefaults.append(.retentionDays)
        }
        if let byteCount = try await reader.number(.maxStoreBytes, in: 0...1 << 50) {
            limits.storeByteCount = byteCount == 0 ? nil : Int64(byteCount)
        } else {
            retentionDefaults.append(.maxStoreBytes)
        }
        if let count = try await reader.number(.maxTransactions, in: 0...1_000_000_000) {
            limits.transactionCount = count == 0 ? nil : count
        }
        if let hours = try await reader.number(.sessionHours, in: 1...8760) {
            limits.sessionTime = .seconds(hours * 3600)
        }
        maximumConnections = try await reader.number(.maxConnections, in: 1...1_000_000) ?? maximumConnections
        headerSeconds = try await reader.number(.headerSeconds, in: 1...3600) ?? headerSeconds
        bodySeconds = try await reader.number(.bodySeconds, in: 1...3600) ?? bodySeconds
        idleSeconds = try await reader.number(.idleSeconds, in: 1...3600) ?? idleSeconds
        writeSeconds = try await reader.number(.writeSeconds, in: 1...3600) ?? writeSeconds
        stalledSeconds = try await reader.number(.stalledSeconds, in: 1...3600) ?? stalledSeconds
        minimumBytesPerSecond = try await reader.number(.minBytesPerSecond, in: 1...1 << 30) ?? minimumBytesPerSecond
        limits.readDuration =
            try await reader.number(.readSeconds, in: 1...3600).map { .seconds($0) } ?? limits.readDuration
        limits.additionalSecretNames = Redactor.names(in: try await reader.text(.secretNames))
        limits.visibleNames = Redactor.names(in: try await reader.text(.visibleNames))
        sample = try await reader.text(.sample)
        limits.samplingRates = try Self.samplingRates(sample ?? "")
        otlp = try await reader.text(.otlp)
        otlpHeaders = try await reader.text(.otlpHeaders)
        if let otlp {
            let headers = otlpHeaders.map(TraceBackend.headers) ?? TraceBackend.headers(of: environment)
            // What is no URL at all is no HTTP address either.
            backend = try TraceBackend(URL(string: otlp) ?? URL(filePath: otlp), headers: headers)
        }
        try validate()
    }

    /// `login=0.1,7=0.2,0.5`: of a use case by its name or code, and of all others.
    private static func samplingRates(_ text: String) throws(WaybillError) -> [String: Double] {
        var rates: [String: Double] = [:]
        for word in text.split(separator: ",") {
            let parts = word.split(separator: "=", omittingEmptySubsequences: false)
            let name =
                parts.count == 1 ? "*" : parts.dropLast().joined(separator: "=").trimmingCharacters(in: .whitespaces)
            guard !name.isEmpty, rates[name] == nil, let rate = Double(parts[parts.count - 1].filter { $0 != " " }),
                (0...1).contains(rate)
            else {
                throw WaybillError(
                    .setting,
                    "The setting sample is not what it should be at “\(word)”: give login=0.1 for a use case, 0.5 for all others, each once, and rates from 0 to 1."
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
                "On \(host) tokens would come over the network in the clear. Give --tls-cert and --tls-key, or --allow-plain-http where a proxy before it does TLS."
            )
        }
    }

    /// What a person should know who starts it, a sentence each.
    var warnings: [String] {
        var warnings: [String] = []
        if certificate == nil, !isLoopback {
            warnings.append("Tokens come in the clear to \(host), as --allow-plain-http says: a proxy has to do TLS.")
        }
        let bounds = retentionDefaults.map { setting in
            let text = text(of: setting) ?? ""
            return setting == .retentionDays
                ? "what is older than \(text) days (--retention-days)"
                : "a project's oldest beyond \(text) bytes (--max-store-bytes)"
        }
        if !bounds.isEmpty {
            warnings.append(
                "By default \(bounds.joined(separator: " and ")) is deleted, from an hour after the start; 0 is no limit."
            )
        }
        return warnings
    }

    /// Whether only this machine reaches it.
    var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }

    /// As `--print-config` tells them.
    var lines: [String] {
        ServeSetting.allCases.map { setting in
            let value = text(of: setting)
            return "\(setting.rawValue) = \(setting.isSecret && value != nil ? "[hidden]" : value ?? "")"
                .trimmingCharacters(
                    in: .whitespaces)
        }
    }

    private func text(of setting: ServeSetting) -> String? {
        switch setting {
        case .host: host
        case .port: "\(port)"
        case .insecure: "\(isInsecure)"
        case .allowPlainHttp: "\(isPlainHTTPAllowed)"
        case .tlsCert: certificate
        case .tlsKey: key
        case .tlsKeyPassword: keyPassword
        case .logLevel: logLevel.rawValue
        case .maxBodyBytes: "\(limits.bodyByteCount)"
        case .maxDecompressedBytes: "\(limits.decompressedByteCount)"
        case .maxPendingBytes: "\(limits.pendingByteCount)"
        case .maxSetFacts: "\(limits.factsPerSet)"
        case .maxTransactionFacts: "\(limits.factsPerTransaction)"
        case .maxRequestsPerSecond: "\(limits.requestsPerSecond)"
        case .retentionDays: "\((limits.maximumAge?.components.seconds ?? 0) / 86_400)"
        case .maxStoreBytes: "\(limits.storeByteCount ?? 0)"
        case .maxTransactions: "\(limits.transactionCount ?? 0)"
        case .sessionHours: "\(limits.sessionTime.components.seconds / 3600)"
        case .maxConnections: "\(maximumConnections)"
        case .headerSeconds: "\(headerSeconds)"
        case .bodySeconds: "\(bodySeconds)"
        case .idleSeconds: "\(idleSeconds)"
        case .writeSeconds: "\(writeSeconds)"
        case .stalledSeconds: "\(stalledSeconds)"
        case .minBytesPerSecond: "\(minimumBytesPerSecond)"
        case .readSeconds: "\(limits.readDuration.components.seconds)"
        case .secretNames:
            limits.additionalSecretNames.isEmpty ? nil : limits.additionalSecretNames.joined(separator: ",")
        case .visibleNames: limits.visibleNames.isEmpty ? nil : limits.visibleNames.joined(separator: ",")
        case .sample: sample
        // An address may hold a password, or a key.
        case .otlp: otlp.map(Redactor().wholeURL)
        case .otlpHeaders: otlpHeaders
        }
    }

    /// The file's settings; a misspelt one is an error, because it would go unnoticed otherwise.
    private static func provider(_ path: String) async throws -> any ConfigProvider {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw WaybillError(.setting, "The settings in \(path) cannot be read.")
        }
        guard let members = try? JSONSerialization.jsonObject(with: data) as? [String: Any] else {
            throw WaybillError(.setting, "The settings in \(path) are no JSON object.")
        }
        if let unknown = members.keys.sorted().first(where: { ServeSetting(rawValue: $0) == nil }) {
            let names = ServeSetting.allCases.map(\.rawValue).joined(separator: ", ")
            throw WaybillError(.setting, "There is no setting “\(unknown)”, as \(path) has it. They are: \(names).")
        }
        let place = InMemoryProvider(values: [
            AbsoluteConfigKey(["filePath"]): ConfigValue(.string(path), isSecret: false)
        ])
        return try await FileProvider<JSONSnapshot>(config: ConfigReader(provider: place))
    }
}

extension CollectorLimits {
    /// The defaults of `waybill serve`, which do not fill its disk.
    fileprivate static var serving: CollectorLimits {
        var limits = CollectorLimits()
        limits.maximumAge = .seconds(90 * 86_400)
        limits.storeByteCount = 10 << 30
        return limits
    }
}

/// Reads settings one by one; what has another type than it should have is told, and not passed over.
private struct SettingReader {
    private let reader: ConfigReader

    init(_ reader: ConfigReader) { self.reader = reader }

    func text(_ setting: ServeSetting) async throws -> String? {
        try await fetched(setting, "a text") {
            try await reader.fetchString(forKey: setting.key, isSecret: setting.isSecret)
        }
    }

    func bool(_ setting: ServeSetting) async throws -> Bool? {
        try await fetched(setting, "true or false") { try await reader.fetchBool(forKey: setting.key) }
    }

    func number(_ setting: ServeSetting, in bounds: ClosedRange<Int>) async throws -> Int? {
        let kind = "a number from \(bounds.lowerBound) to \(bounds.upperBound)"
        guard let number = try await fetched(setting, kind, { try await reader.fetchInt(forKey: setting.key) }) else {
            return nil
        }
        guard bounds.contains(number) else { throw wrong(setting, kind) }
        return number
    }

    func level() async throws -> Logger.Level? {
        guard let text = try await text(.logLevel) else { return nil }
        guard let level = Logger.Level(rawValue: text) else {
            throw wrong(.logLevel, "one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return level
    }

    private func fetched<Value>(_ setting: ServeSetting, _ kind: String, _ body: () async throws -> Value?) async throws
        -> Value?
    {
        do { return try await body() } catch { throw wrong(setting, kind) }
    }

    private func wrong(_ setting: ServeSetting, _ kind: String) -> WaybillError {
        WaybillError(.setting, "The setting \(setting.rawValue) is not \(kind).")
    }
}

extension ServeSettings {
    /// A server for a collector, which tells where it listens once it does.
    func application(_ collector: Collector) throws -> some ApplicationProtocol {
        let slots = ConnectionSlots(maximumConnections) {
            collector.bearer(of: $0)
        } countRefused: {
            collector.countOverload(of: $0)
        }
        var application = try application(
            collector.router(isForLoopback: isInsecure, ConnectedRequestContext.self), slots, warnings)
        // Who did not choose what is deleted has the time to.
        let delay = retentionDefaults.isEmpty ? Duration.zero : .seconds(3600)
        application.addServices(RetentionService(collector, firstAfter: delay, logger: application.logger))
        if let backend { application.addServices(SpanService(collector, to: backend, logger: application.logger)) }
        return application
    }

    /// A server for the pages of one store, which tells where it listens once it does.
    func application(_ inspector: Inspector) throws -> some ApplicationProtocol {
        let slots = ConnectionSlots(maximumConnections) { _ in Bearer(project: .standard) }
        return try application(inspector.router(ConnectedRequestContext.self), slots, [])
    }

    private func application(
        _ router: Router<ConnectedRequestContext>, _ slots: ConnectionSlots, _ warnings: [String]
    ) throws -> Application<ConnectedResponder<RouterResponder<ConnectedRequestContext>>> {
        var logger = Logger(label: "waybill")
        logger.logLevel = logLevel
        let (host, scheme) = (host.contains(":") ? "[\(host)]" : host, certificate == nil ? "http" : "https")
        return Application(
            responder: ConnectedResponder(base: router.buildResponder(), slots: slots),
            server: try server(slots),
            configuration: ApplicationConfiguration(
                address: .hostname(self.host, port: port), serverName: "waybill",
                availableConnectionsDelegate: slots),
            onServerRunning: { channel in
                Terminal.write(["listening on \(scheme)://\(host):\(channel.localAddress?.port ?? 0)"])
                for warning in warnings { Terminal.warn(warning) }
            },
            logger: logger)
    }

    private func server(_ slots: ConnectionSlots) throws -> HTTPServerBuilder {
        let times = RequestDeadline.Times(
            header: .seconds(Int64(headerSeconds)), body: .seconds(Int64(bodySeconds)),
            idle: .seconds(Int64(idleSeconds)), stalled: .seconds(Int64(stalledSeconds)),
            stalledByteCount: minimumBytesPerSecond * stalledSeconds, write: .seconds(Int64(writeSeconds)))
        let http = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [RequestDeadline(times), ConnectionSlot(slots)],
                idleTimeout: .seconds(Int64(idleSeconds))))
        guard let certificate, let key else { return http }
        #if TLS
        return try .tls(http, tlsConfiguration: Self.tls(certificate: certificate, key: key, password: keyPassword))
        #else
        throw WaybillError(
            .setting,
            "This waybill was built without TLS: build it with the trait TLS, or put a proxy in front of it that speaks HTTPS."
        )
        #endif
    }

    #if TLS
    private static func tls(certificate: String, key: String, password: String?) throws(WaybillError)
        -> TLSConfiguration
    {
        let chain: [NIOSSLCertificate]
        do { chain = try NIOSSLCertificate.fromPEMFile(certificate) } catch {
            throw WaybillError(.setting, "The certificate \(certificate) cannot be read, or is not PEM.")
        }
        do {
            let privateKey =
                if let password {
                    try NIOSSLPrivateKey(file: key, format: .pem) { set in set(Array(password.utf8)) }
                } else {
                    try NIOSSLPrivateKey(file: key, format: .pem)
                }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
            configuration.minimumTLSVersion = .tlsv12
            return configuration
        } catch {
            throw WaybillError(.setting, "The private key \(key) cannot be read, is not PEM, or its password is wrong.")
        }
    }
    #endif
}
#endif
