import Foundation
package import WaybillCore
package import WaybillStore

/// What a manager was told, checked: an impossible setting was replaced by a safe one and is listed in `problems`.
package struct RecordingSettings: Sendable {
    package var place: ResolvedLocation
    package var correlatedHosts = CorrelatedHosts()
    package var header = TransactionHeader.Format.standard()
    /// The use cases that a header field may name; nil: any.
    package var useCases: Set<Int>? = []
    package var joinsPerMinute = 6_000
    package var traceContext = TraceContextPolicy.off
    package var redactor = Redactor()
    package var additionalSecretNames: [String] = []
    package var visibleNames: [String] = []
    package var keepsErrorTexts = false
    package var capacity = BufferedRecorder.defaultCapacity
    package var openLimit = OpenLimit.standard
    package var retention = Retention()
    package var catchesSignals = false
    var sampling = Sampling()
    package var network = NetworkOptions()
    package var clock: any TransactionClock = SystemClock()
    package var canFlush: @Sendable () async -> Bool = { true }
    package var willRecord: (@Sendable (RecordingDraft) -> RecordingDraft?)?
    package var writesByItself = true
    /// Whether recording is on at first.
    package var recording = RecordingHealth.Mode.on
    /// Where the mode is remembered; nil: it is not.
    package var mark: RecordingMark?
    package var offErasesPending = false
    package var describe: @Sendable (GUID) -> SourceIdentity
    package var problems: [WaybillError] = []
    /// How many attributes of the source were cut or left out.
    var truncatedAttributes = 0

    package init(store: StoreLocation, correlatedHosts: [String], options: TransactionManager.Options) {
        self.init(store: store, correlatedHosts: correlatedHosts, options: options, launch: LaunchSettings())
    }

    init(store: StoreLocation, correlatedHosts: [String], options: TransactionManager.Options, launch: LaunchSettings) {
        (place, problems) = (launch.store ?? store).resolved()
        problems += launch.problems
        useCases = options.useCases
        joinsPerMinute = options.joinsPerMinute
        traceContext = options.traceContext
        additionalSecretNames = options.additionalSecretNames
        visibleNames = options.visibleNames
        redactor = Redactor(additionalNames: additionalSecretNames, visibleNames: visibleNames)
        keepsErrorTexts = options.keepsErrorTexts
        network = options.network
        problems += network.problems
        clock = options.clock
        canFlush = options.canFlush
        willRecord = options.willRecord
        offErasesPending = options.offErasesPending
        catchesSignals = options.catchesSignals
        let (attributes, truncated) = redactor.attributes(options.sourceAttributes)
        truncatedAttributes = truncated
        let (app, appVersion) = (options.app, options.appVersion)
        describe = { SourceIdentity.thisProcess(id: $0, app: app, appVersion: appVersion, attributes: attributes) }

        let checked = options.sampling.checked
        sampling = checked.sampling
        problems += checked.problems
        decideMode(options, launch)
        decideRetention(options.retention)
        if options.memoryCapacity >= 16 {
            capacity = options.memoryCapacity
        } else {
            problems.append(
                WaybillError(
                    .setting, "A memory capacity of \(options.memoryCapacity) facts is too small; \(capacity) is used.")
            )
        }
        if (1...OpenLimit.most).contains(options.maximumOpen) {
            openLimit = options.maximumOpen
        } else {
            problems.append(
                WaybillError(
                    .setting,
                    "A limit of \(options.maximumOpen) open transactions is out of range; \(openLimit) is used. Choose 1 to \(OpenLimit.most)."
                ))
        }
        decideHeader(options.header)
        for host in launch.correlatedHosts ?? correlatedHosts {
            if let problem = self.correlatedHosts.add(host) { problems.append(WaybillError(.setting, problem)) }
        }
    }

    /// What a request that names no use case is for; nil where that cannot be told.
    var onlyUseCase: Int? { useCases?.count == 1 ? useCases?.first : nil }

    private mutating func decideHeader(_ asked: TransactionHeader.Format) {
        if !asked.name.isToken {
            problems.append(
                WaybillError(.setting, "“\(asked.name)” cannot be the name of a header field; \(header.name) is used."))
        } else if asked.isAmbiguous {
            problems.append(
                WaybillError(
                    .setting,
                    "The old form of the header field needs a name of its own, as apptxn-id; \(header.name) is used, in its own form alone."
                ))
        } else {
            header = asked
        }
    }

    private mutating func decideMode(_ options: TransactionManager.Options, _ launch: LaunchSettings) {
        recording = options.recording
        if options.remembersRecording {
            mark = RecordingMark(beside: place)
            let other: RecordingHealth.Mode = recording == .on ? .off : .on
            if mark?.says(isOn: other == .on) == true { recording = other }
            if mark == nil {
                problems.append(
                    WaybillError(
                        .setting,
                        "A store in memory cannot remember whether recording is on; remembersRecording does nothing."))
            }
        }
        recording = launch.recording ?? recording
    }

    private mutating func decideRetention(_ asked: Retention) {
        retention = asked
        if asked.maximumBytes < Retention.leastBytes {
            retention.maximumBytes = Retention.leastBytes
            problems.append(
                WaybillError(
                    .setting,
                    "A store of \(asked.maximumBytes) bytes is too small; \(Retention.leastBytes) bytes are used."))
        }
        if let count = asked.maximumTransactions, count < 1 {
            retention.maximumTransactions = nil
            problems.append(
                WaybillError(.setting, "A limit of \(count) transactions would keep nothing; they are not counted."))
        }
        if asked.maximumAge <= .zero {
            retention.maximumAge = Retention().maximumAge
            problems.append(
                WaybillError(.setting, "A maximum age of \(asked.maximumAge) would keep nothing; 30 days are used."))
        }
    }
}

/// What the environment and the launch arguments ask for, in test builds that were told to listen; see
/// ``TransactionManager/Options/obeysLaunchSettings``.
struct LaunchSettings {
    var recording: RecordingHealth.Mode?
    var delivery: Delivery?
    var store: StoreLocation?
    var correlatedHosts: [String]?
    /// What was asked for and cannot be done, without repeating what was said: it may hold a secret.
    var problems: [WaybillError] = []

    /// Nothing was asked for.
    init() {}

    /// Reads `WAYBILL_RECORDING=off` and its like, and `-WaybillRecording off` as Xcode's schemes have it; an argument
    /// wins over the environment.
    init(environment: [String: String], arguments: [String]) {
        let words = Words(environment: environment, arguments: arguments)
        if let word = words["Recording"] {
            recording = RecordingHealth.Mode(rawValue: word.lowercased())
            if recording == nil { reject("Recording", "on or off") }
        }
        if let path = words["Store"] {
            if path.hasPrefix("/") {
                store = .directory(URL(filePath: path, directoryHint: .isDirectory))
            } else {
                reject("Store", "the full path of a folder")
            }
        }
        if let hosts = words["Hosts"] {
            correlatedHosts = hosts.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        readDelivery(words)
    }

    private mutating func readDelivery(_ words: Words) {
        let token = words["Token"]
        guard let address = words["Collector"] else {
            if token != nil {
                problems.append(
                    WaybillError(.setting, "WAYBILL_TOKEN was given without WAYBILL_COLLECTOR, and is ignored."))
            }
            return
        }
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false
        else {
            return reject("Collector", "an address such as https://collector.example.com")
        }
        delivery = .collector(url, token: token)
    }

    private mutating func reject(_ name: String, _ expected: String) {
        problems.append(
            WaybillError(
                .setting, "WAYBILL_\(name.uppercased()) (or -Waybill\(name)) must be \(expected); it is ignored."))
    }
}

/// The words that follow the names, wherever they stand.
private struct Words {
    let environment: [String: String]
    let arguments: [String]

    /// An empty one is as good as none in the environment, and a mistake as an argument.
    subscript(name: String) -> String? {
        if let index = arguments.lastIndex(of: "-Waybill\(name)") {
            return index + 1 < arguments.count ? arguments[index + 1] : ""
        }
        return environment["WAYBILL_\(name.uppercased())"].flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension RecordingHealth {
    /// Whether a manager records.
    public enum Mode: String, Sendable, Hashable, Codable, CaseIterable {
        /// What happens is recorded.
        case on
        /// Nothing is: handles do nothing, requests are sent as they are.
        case off
    }
}

/// The hosts whose requests carry the transaction's header field: names, and patterns such as `*.example.com`.
package struct CorrelatedHosts: Sendable {
    /// In small letters, as `URL` has hosts; a pattern with its `*`.
    package private(set) var names: Set<String> = []

    /// Adds a name or a pattern; a sentence where it is none.
    mutating func add(_ text: String) -> String? {
        guard text.contains("*") else {
            guard Self.isName(text) else {
                return "“\(text)” is not a host name such as api.example.com; no request to it carries a transaction."
            }
            names.insert(Self.normalized(text))
            return nil
        }
        let name = text.dropFirst(2).hasSuffix(".") ? text.dropFirst(2).dropLast() : text.dropFirst(2)
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        // An address has no names below it.
        guard text.hasPrefix("*."), Self.isName(String(name)), !name.contains(":"), labels.count > 1,
            !labels.contains(""), labels.last?.allSatisfy({ ("0"..."9").contains($0) }) == false
        else {
            return
                "“\(text)” is no pattern of hosts: write *. and a name of your own, as *.example.com; no request carries "
                + "a transaction because of it."
        }
        names.insert("*." + Self.normalized(String(name)))
        return nil
    }

    /// Whether requests to a URL carry a transaction.
    ///
    /// The `*` is one label, as in certificates (RFC 9525, section 6.3), so that `*.example.com` is neither
    /// `example.com` nor `a.b.example.com`.
    func contains(_ url: URL) -> Bool {
        guard let host = url.host(percentEncoded: false).map(Self.lowercased) else { return false }
        if names.contains(host) { return !host.hasPrefix("*") }
        guard let dot = host.firstIndex(of: "."), Self.isLabel(host[..<dot]) else { return false }
        return names.contains("*" + host[dot...])
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0 == "." || $0 == "-" || $0 == ":" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
            }
            // a colon only in an IPv6 address
            && (!text.contains(":") || text.allSatisfy { $0.isHexDigit || $0 == ":" })
    }

    private static func isLabel(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0 == "-" || $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
            }
    }

    /// As `URL` has it, whatever script it is written in: `bücher.example` is `xn--bcher-kva.example` there.
    private static func normalized(_ name: String) -> String {
        lowercased(URL(string: "https://\(name)/")?.host(percentEncoded: false) ?? name)
    }

    /// Without the dot that ends a name which is complete: `api.example.com.` is the same host.
    private static func lowercased(_ host: String) -> String {
        (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
    }
}

/// What is done about W3C Trace Context (https://www.w3.org/TR/trace-context-2/), by which OpenTelemetry and many others tie
/// requests together.
///
/// A transaction is a trace: the trace's ID is the GUID of the topmost transaction, and `parent-id` the exchange, as the
/// spans of an export have it. So the spans of services that know nothing of Waybill land in the same trace. Where a
/// request has a `traceparent` already it is kept, and recorded as a link.
///
/// ## Usage
///
/// ```swift
/// options.traceContext = .join
/// ```
public enum TraceContextPolicy: Hashable, Sendable {
    /// Neither sent nor read.
    case off
    /// Requests to the correlated hosts carry `traceparent` and, with the use case, `tracestate` (`waybill=u:17`) beside
    /// the transaction's own header field; never over the caller's, nor along to another origin. A server keeps what came
    /// in as a link.
    case propagate
    /// As ``propagate``, and a request that has only a `traceparent` joins the transaction whose ID the trace has, where it
    /// has the shape of one: a UUIDv7.
    ///
    /// Anybody can make one up: it grants nothing, one that cannot be read is ignored and counted, and the limits of
    /// ``TransactionManager/Options/joinsPerMinute`` hold. Which use case it is, the `tracestate` says; where that does
    /// not, it is the only one of ``TransactionManager/Options/useCases``, and with several of those the request leaves no
    /// trace but a count.
    case join
}

extension SourceIdentity {
    /// Describes this process: app and version from the bundle where there is one, else the executable's name.
    static func thisProcess(id: GUID, app: String?, appVersion: String?, attributes: Attributes) -> SourceIdentity {
        let bundle = Bundle.main
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return SourceIdentity(
            id: id,
            app: label(app ?? bundle.bundleIdentifier ?? ProcessInfo.processInfo.processName),
            appVersion: label(appVersion ?? bundle.infoDictionary?["CFBundleShortVersionString"] as? String ?? ""),
            device: label(machine),
            os: operatingSystem,
            osVersion: "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)",
            attributes: attributes)
    }

    private static func label(_ text: String) -> String { text.cut(to: Limits.labelLength) ?? text }

    private static var operatingSystem: String {
        #if os(iOS)
        "iOS"
        #elseif os(macOS)
        "macOS"
        #elseif os(tvOS)
        "tvOS"
        #elseif os(watchOS)
        "watchOS"
        #elseif os(visionOS)
        "visionOS"
        #elseif os(Linux)
        "Linux"
        #else
        "other"
        #endif
    }

    /// The model of an Apple device (`iPhone17,1`, `Mac16,1`; of a simulator, what it stands for), the processor's
    /// architecture elsewhere.
    private static var machine: String {
        #if targetEnvironment(simulator)
        if let model = ProcessInfo.processInfo.environment["SIMULATOR_MODEL_IDENTIFIER"] { return model }
        #elseif os(macOS) || targetEnvironment(macCatalyst)
        // uname(3) has the architecture there.
        var length = 0
        if sysctlbyname("hw.model", nil, &length, nil, 0) == 0 {
            var model = [UInt8](repeating: 0, count: length)
            if sysctlbyname("hw.model", &model, &length, nil, 0) == 0 {
                return String(decoding: model.prefix { $0 != 0 }, as: UTF8.self)
            }
        }
        #endif
        var system = utsname()
        guard uname(&system) == 0 else { return "" }
        return withUnsafeBytes(of: system.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
