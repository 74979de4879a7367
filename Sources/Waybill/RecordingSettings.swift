public import Foundation
package import WaybillCore
package import WaybillStore

/// The checked options of a manager. Safe values replace invalid ones, which `problems` lists.
package struct RecordingSettings: Sendable {
    package private(set) var options: TransactionManager.Options
    package var place: ResolvedLocation
    package var correlatedHosts = CorrelatedHosts()
    package var redactor = Redactor()
    package var writesByItself = true
    package var mark: RecordingMark?
    package var describe: @Sendable (GUID) -> SourceIdentity
    package var problems: [WaybillError] = []
    var truncatedAttributes = 0

    package init(store: StoreLocation, correlatedHosts: [String], options: TransactionManager.Options) {
        self.init(store: store, correlatedHosts: correlatedHosts, options: options, launch: LaunchSettings())
    }

    init(store: StoreLocation, correlatedHosts: [String], options: TransactionManager.Options, launch: LaunchSettings) {
        self.options = options
        (place, problems) = (launch.store ?? store).resolved()
        problems += launch.problems + options.network.problems
        redactor = Redactor(
            additionalNames: options.privacy.additionalSecretNames, visibleNames: options.privacy.visibleNames)
        let (attributes, truncated) = redactor.attributes(options.sourceAttributes)
        truncatedAttributes = truncated
        let (app, appVersion) = (options.app, options.appVersion)
        describe = { SourceIdentity.thisProcess(id: $0, app: app, appVersion: appVersion, attributes: attributes) }

        let checked = options.sampling.checked
        self.options.sampling = checked.sampling
        problems += checked.problems
        decideMode(launch)
        decideRetention()
        if options.memoryCapacity < 16 {
            let capacity = BufferedRecorder.defaultCapacity
            self.options.memoryCapacity = capacity
            problems.add("A memory capacity of \(options.memoryCapacity) facts is too small; \(capacity) is used.")
        }
        if !(1...OpenLimit.most).contains(options.maximumOpen) {
            self.options.maximumOpen = OpenLimit.standard
            problems.add(
                "A limit of \(options.maximumOpen) open transactions is out of range; \(OpenLimit.standard) is used. Choose 1 to \(OpenLimit.most)."
            )
        }
        decideHeader()
        for host in launch.correlatedHosts ?? correlatedHosts {
            if let problem = self.correlatedHosts.add(host) { problems.add(problem) }
        }
    }

    var onlyUseCase: Int? {
        let codes = options.server.accepting.codes
        return codes?.count == 1 ? codes?.first : nil
    }

    private mutating func decideHeader() {
        let (asked, usual) = (options.header, TransactionHeader.Format.standard())
        guard !asked.name.isToken || asked.isAmbiguous else { return }
        options.header = usual
        problems.add(
            asked.name.isToken
                ? "The old form of the header field needs a name of its own, as apptxn-id; \(usual.name) is used, in its own form alone."
                : "“\(asked.name)” cannot be the name of a header field; \(usual.name) is used.")
    }

    private mutating func decideMode(_ launch: LaunchSettings) {
        if options.remembersRecording {
            mark = RecordingMark(beside: place)
            let other: RecordingHealth.Mode = options.recording == .on ? .off : .on
            if mark?.says(isOn: other == .on) == true { options.recording = other }
            if mark == nil {
                problems.add(
                    "A store in memory cannot remember whether recording is on; remembersRecording does nothing.")
            }
        }
        options.recording = launch.recording ?? options.recording
    }

    private mutating func decideRetention() {
        let asked = options.retention
        if asked.maximumByteCount < Retention.leastBytes {
            options.retention.maximumByteCount = Retention.leastBytes
            problems.add(
                "A store of \(asked.maximumByteCount) bytes is too small; \(Retention.leastBytes) bytes are used.")
        }
        if let count = asked.maximumTransactionCount, count < 1 {
            options.retention.maximumTransactionCount = nil
            problems.add("A limit of \(count) transactions would keep nothing; they are not counted.")
        }
        if asked.maximumAge <= .zero {
            options.retention.maximumAge = Retention().maximumAge
            problems.add("A maximum age of \(asked.maximumAge) would keep nothing; 30 days are used.")
        }
    }
}

/// The settings in the environment and the launch arguments; see ``TransactionManager/Options/obeysLaunchSettings``.
struct LaunchSettings {
    var recording: RecordingHealth.Mode?
    var delivery: Delivery?
    var store: StoreLocation?
    var correlatedHosts: [String]?
    /// The invalid settings, without their values, which may be secret.
    var problems: [WaybillError] = []

    init() {}

    /// Arguments take precedence.
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
            if token != nil { problems.add("WAYBILL_TOKEN was given without WAYBILL_COLLECTOR, and is ignored.") }
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
        problems.add("WAYBILL_\(name.uppercased()) (or -Waybill\(name)) must be \(expected); it is ignored.")
    }
}

extension [WaybillError] {
    mutating func add(_ sentence: String) { append(WaybillError(.setting, sentence)) }
}

extension TransactionManager {
    /// Returns launch arguments for an app whose manager obeys them (``Options/obeysLaunchSettings``).
    ///
    /// A UI test chooses the store, and reads what the app recorded. App and test share folders in a simulator and on a
    /// Mac, but not on a device.
    ///
    /// ```swift
    /// app.launchArguments += TransactionManager.launchArguments(store: folder, hosts: ["127.0.0.1"])
    /// app.launch()
    /// app.buttons["Log in"].tap()
    /// let transactions = TransactionManager(store: .directory(folder))
    /// #expect(try transactions.last(Login.self)?.outcome == .succeeded)
    /// ```
    ///
    /// - Parameters:
    ///   - store: The folder of the store; `nil` keeps the app's.
    ///   - hosts: The correlated hosts; `nil` keeps the app's.
    ///   - collector: The collector; `nil` keeps the app's delivery.
    ///   - recording: Whether the app records; `nil` lets the app decide.
    public static func launchArguments(
        store: URL? = nil, hosts: [String]? = nil, collector: URL? = nil, recording: RecordingHealth.Mode? = nil
    ) -> [String] {
        let values = [
            "Store": store?.path(percentEncoded: false), "Hosts": hosts?.joined(separator: ","),
            "Collector": collector?.absoluteString, "Recording": recording?.rawValue,
        ]
        return values.compactMapValues(\.self).sorted { $0.key < $1.key }.flatMap { ["-Waybill\($0)", $1] }
    }
}

private struct Words {
    let environment: [String: String]
    let arguments: [String]

    /// An empty value is ignored in the environment and invalid as an argument.
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
        /// The manager records.
        case on
        /// The manager records nothing, and requests are sent unchanged.
        case off
    }
}

package struct CorrelatedHosts: Sendable {
    package private(set) var names: Set<String> = []

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
        // An IP address has no subdomains.
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

    /// Whether requests to a URL carry a transaction. The `*` matches exactly one label (RFC 9525, section 6.3).
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
            // Only IPv6 addresses contain a colon.
            && (!text.contains(":") || text.allSatisfy { $0.isHexDigit || $0 == ":" })
    }

    private static func isLabel(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy {
                $0 == "-" || $0 == "_" || $0.properties.isAlphabetic || ("0"..."9").contains($0)
            }
    }

    /// Normalizes a name as `URL` does: `bücher.example` becomes `xn--bcher-kva.example`.
    private static func normalized(_ name: String) -> String {
        lowercased(URL(string: "https://\(name)/")?.host(percentEncoded: false) ?? name)
    }

    /// Removes the trailing dot of a fully qualified name: `api.example.com.` is the same host.
    private static func lowercased(_ host: String) -> String {
        (host.hasSuffix(".") ? String(host.dropLast()) : host).lowercased()
    }
}

/// The use of W3C Trace Context (https://www.w3.org/TR/trace-context-2/), such as for services with OpenTelemetry.
///
/// A trace's ID is the GUID of the root transaction, and `parent-id` is the exchange. Spans of other services therefore
/// appear in the same trace. An existing `traceparent` of a request is kept and recorded as a link.
///
/// ## Usage
///
/// ```swift
/// options.server.traceContext = .join
/// ```
public enum TraceContextPolicy: Equatable, Sendable {
    /// Trace Context is neither sent nor read.
    case off
    /// Requests to correlated hosts carry `traceparent` and `tracestate` (`waybill=u:17`, the use case), unless the
    /// caller set them or a redirect leads to another origin. A server records incoming ones as links.
    case propagate
    /// Like ``propagate``, but a `traceparent` alone joins the transaction with the trace's ID, if that is a UUIDv7.
    ///
    /// Anyone can forge one, so it grants nothing, and
    /// ``TransactionManager/Options/Server-swift.struct/joinsPerMinute`` applies. The `tracestate` names the use case;
    /// otherwise it is the only one of ``TransactionManager/Options/Server-swift.struct/accepting``.
    case join
}

extension SourceIdentity {
    static func thisProcess(id: GUID, app: String?, appVersion: String?, attributes: Attributes) -> SourceIdentity {
        #if canImport(Darwin)
        let identifier = Bundle.main.bundleIdentifier
        let bundleVersion = Bundle.main.infoDictionary?["CFBundleShortVersionString"] as? String
        #else
        // An executable has no bundle there, and `Bundle.main` crashes without /proc.
        let (identifier, bundleVersion): (String?, String?) = (nil, nil)
        #endif
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return SourceIdentity(
            id: id,
            app: (app ?? identifier ?? ProcessInfo.processInfo.processName).cut(to: Limits.labelLength),
            appVersion: (appVersion ?? bundleVersion ?? "")
                .cut(to: Limits.labelLength),
            device: machine.cut(to: Limits.labelLength),
            os: operatingSystem,
            osVersion: "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)",
            attributes: attributes)
    }

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

    /// Apple devices report a model, such as `iPhone17,1`; other systems the processor's architecture.
    private static var machine: String {
        #if targetEnvironment(simulator)
        if let model = ProcessInfo.processInfo.environment["SIMULATOR_MODEL_IDENTIFIER"] { return model }
        #elseif os(macOS) || targetEnvironment(macCatalyst)
        // uname(3) returns the architecture here.
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
