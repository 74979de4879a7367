public import WaybillCore
package import WaybillStore

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Creates transactions, stores the facts recorded for them, and delivers those facts.
///
/// Create one manager for the app or server and keep it. The initializer never throws and never touches the disk on the
/// caller's thread. It replaces invalid settings with safe ones, which ``health`` reports.
///
/// ## Usage
///
/// ```swift
/// let transactions = TransactionManager(
///     store: .default,
///     delivery: .collector(url, token: token),
///     correlatedHosts: ["api.example.com"])
///
/// try await transactions.perform(Login.self, attributes: ["variant": "B"]) { login in
///     login.log(.requestSent)
///     let (data, _) = try await transactions.session.data(for: request, requiring: 200..<300)
///     login.log(.responseReceived)
/// }
/// ```
public final class TransactionManager: Sendable {
    /// Options that most apps leave at their defaults.
    public struct Options: Sendable {
        /// The app's or service's name. `nil`, the default, uses the bundle identifier, or else the process name.
        public var app: String?
        /// The app's version. `nil`, the default, uses the bundle's short version string, or else an empty string.
        public var appVersion: String?
        /// Attributes of this launch, such as the environment.
        public var sourceAttributes: Attributes = [:]
        /// The name and form of the header field that carries the transaction. Default: `Waybill-Transaction`.
        public var header = TransactionHeader.Format.standard()
        /// The limits on the header fields of requests to this process, as a server.
        public var server = Server()
        /// The names to redact before recording.
        public var privacy = Privacy()
        /// The number of facts that can wait in memory for the store, at least 16. Default: 16,384.
        public var memoryCapacity = 16_384
        /// The number of transactions and exchanges that can be open at once, from 1 to 500,000. Default: 100,000.
        /// Others are not recorded, only counted in ``RecordingHealth/refused``.
        public var maximumOpen = 100_000
        /// How much data stays on the device, and for how long. Default: 64 MiB and 30 days.
        public var retention = Retention()
        /// Whether to catch signals that end the process, such as SIGSEGV, and record them. Default: false.
        ///
        /// The next launch can then tell a crash from a kill by the system. The handler passes each signal on. It is
        /// installed once per process, after the first fact; install your own handlers and crash reporters before that.
        public var catchesSignals = false
        /// The share of each use case's transactions that is delivered. Failed and slow ones always are. Default: all.
        public var sampling = Sampling()
        /// Whether recording is on at first. Use `.off` for an app that has to ask for consent. Default: `.on`.
        public var recording = RecordingHealth.Mode.on
        /// Whether later launches remember ``TransactionManager/recording``, in the store's folder. Default: false.
        public var remembersRecording = false
        /// Whether turning recording off also erases transactions with undelivered facts. Default: false.
        public var erasesPendingWhenOff = false
        /// Whether the environment and launch arguments override these options, for test builds only. Default: false.
        ///
        /// The variables are `WAYBILL_RECORDING` (`on` or `off`, not remembered), `WAYBILL_COLLECTOR` (a URL),
        /// `WAYBILL_TOKEN`, `WAYBILL_STORE` (a folder's absolute path) and `WAYBILL_HOSTS` (correlated hosts, separated
        /// by commas). Launch arguments such as `-WaybillRecording off` override them. ``TransactionManager/health``
        /// lists invalid values, which are ignored.
        public var obeysLaunchSettings = false
        /// Which exchanges are recorded, and which of their data. Default: all exchanges, redacted, without bodies.
        public var network = NetworkOptions()
        /// A closure that decides before each set whether it may be delivered, for policies such as Wi-Fi only. If it
        /// returns false, the facts stay pending. Don't call `flush()` inside: it returns at once with an error.
        ///
        /// ```swift
        /// options.canFlush = { await power.isCharging }
        /// ```
        public var canFlush: @Sendable () async -> Bool = { true }
        /// A closure that can change or withhold each fact and body before redaction. Default: `nil`, which records
        /// all.
        ///
        /// It returns the ``RecordingDraft`` to record. If it returns `nil` or another case, Waybill records nothing
        /// and counts that in ``RecordingHealth/withheld``. It runs on the recording thread, which may be a queue of
        /// the session. It must be fast and thread-safe, and must not wait for the manager. It does not run for facts
        /// that it records itself.
        ///
        /// ```swift
        /// options.willRecord = { draft in
        ///     guard case .event(var event) = draft else { return draft }
        ///     event.attributes["note"] = nil
        ///     return .event(event)
        /// }
        /// ```
        public var willRecord: (@Sendable (RecordingDraft) -> RecordingDraft?)?
        /// The clocks used for timestamps.
        public var clock: any TransactionClock = SystemClock()
        /// A closure that receives each message for the developer once: problems, and hints about likely mistakes. It
        /// runs on its own serial queue and may use the manager. Default: writes to standard error, and on Apple platforms
        /// to the system's log, too.
        public var diagnostics: @Sendable (String) -> Void = {
            #if canImport(Darwin)
            SystemLog.tell($0)
            #endif
            StandardError.write("waybill: \($0)\n")
        }

        #if canImport(Darwin)
        /// Whether the system's log also gets each event: its names and codes are public, its attributes private.
        /// Default: false.
        public var mirrorsEvents = false
        /// Whether transactions have the device's state as attributes, from when it changes. Default: false.
        ///
        /// The attributes are `device.thermal` (`fair`, `serious` or `critical`), `device.low_power` and
        /// `network.low_data`. They are absent in the normal state.
        public var marksDeviceState = false
        #endif
        #if os(iOS) || os(macOS) || os(visionOS)
        /// Whether MetricKit's crash reports say how earlier launches ended. Default: false.
        ///
        /// A transaction that a crash interrupted then ended by `SIGSEGV`, or by the system's code, such as
        /// `system_0x8badf00d`. If a report could be of several launches, it is ignored.
        public var joinsCrashReports = false
        #endif

        package init() {}

        /// The limits on the header fields of requests, which anyone can forge.
        public struct Server: Sendable {
            /// The use cases that a request's header field can name. Default: nothing.
            ///
            /// ``TransactionManager/health`` counts requests with other use cases. The list applies to
            /// ``TransactionManager/join(attributes:traceContext:header:)``, middleware and tracers.
            public var accepting = Accepting.nothing
            /// The number of new transactions per minute that requests can join by their header fields. Default: 6,000.
            ///
            /// All of them may come at once. Waybill records at most 1,000 requests of each transaction.
            public var joinsPerMinute = 6_000
            /// The use of W3C's `traceparent`, which sessions, middleware and tracers can override. Default: off.
            public var traceContext = TraceContextPolicy.off

            /// The use cases that a server accepts.
            public struct Accepting: Sendable, Equatable {
                package let codes: Set<Int>?

                package init(codes: Set<Int>?) { self.codes = codes }

                /// No use case.
                public static let nothing = Accepting(codes: [])
                /// Any use case.
                public static let any = Accepting(codes: nil)

                /// Returns some use cases.
                public static func only(_ useCases: any UseCase.Type...) -> Accepting {
                    Accepting(codes: Set(useCases.map { $0.code }))
                }

                /// Returns use cases by their codes, for those without a Swift type.
                public static func codes(_ codes: Set<Int>) -> Accepting { Accepting(codes: codes) }
            }
        }

        /// The names to redact before recording.
        public struct Privacy: Sendable {
            /// Names of header fields, query items and attributes to redact, in addition to the well-known ones.
            public var additionalSecretNames: [String] = []
            /// Names that are not redacted although they look secret, such as an order's `code`. Default: none.
            ///
            /// Waybill ignores case, hyphens and underscores. It still redacts values with the shape of a secret, and
            /// names in ``additionalSecretNames``. Give a collector the same names:
            /// `waybill serve --visible-names code,key`.
            public var visibleNames: [String] = []
            /// Whether to keep an error's text, redacted, besides its domain and code. Default: false.
            public var keepsErrorTexts = false
        }
    }

    /// Whether the caller was compiled for debugging. Use it to keep Waybill out of release builds.
    ///
    /// ```swift
    /// let transactions = TransactionManager.isDebugBuild ? TransactionManager() : .disabled
    /// ```
    ///
    /// Like `assert`, it depends on optimization. It may report the build of a library that was compiled separately.
    @inlinable public static var isDebugBuild: Bool {
        var isDebugBuild = false
        assert(
            {
                isDebugBuild = true
                return true
            }())
        return isDebugBuild
    }

    /// A manager that records nothing and touches no disk. Its session sends requests unchanged.
    public static let disabled = TransactionManager(settings: nil, delivery: nil, diagnostics: { _ in })

    /// The rules that mock, slow down or fail the requests of this manager's sessions. They are off at first.
    public let rules: NetworkRules
    package let diagnostics: Diagnostics
    let flusher: Flusher
    package let sources: SourceRegistry
    private let capturedSession = Locked<CapturedSession?>(nil)
    /// The capture of requests from sessions whose code you cannot change. It is off until you start it. Experimental.
    public let passiveCapture: PassiveCapture
    package let companions = Locked<[ObjectIdentifier: any Sendable]>([:])

    /// Creates a manager.
    ///
    /// ```swift
    /// let transactions = TransactionManager(delivery: .collector(url, token: token)) {
    ///     $0.privacy.visibleNames = ["plan"]
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - store: The location of the store.
    ///   - delivery: The destination of sets. `nil` delivers nothing until you set ``delivery``.
    ///   - correlatedHosts: The hosts whose requests carry the transaction's header field: names without scheme and
    ///     port. `*.example.com` matches names exactly one label below it, such as `api.example.com`.
    ///   - configure: A closure that changes options, which most apps leave at their defaults.
    public convenience init(
        store: StoreLocation = .default, delivery: Delivery? = nil, correlatedHosts: [String] = [],
        configure: (inout Options) -> Void = { _ in }
    ) {
        var options = Options()
        configure(&options)
        let process = ProcessInfo.processInfo
        let launch =
            options.obeysLaunchSettings
            ? LaunchSettings(environment: process.environment, arguments: process.arguments) : LaunchSettings()
        self.init(
            settings: RecordingSettings(
                store: store, correlatedHosts: correlatedHosts, options: options, launch: launch),
            delivery: launch.delivery ?? delivery, diagnostics: options.diagnostics)
    }

    package init(settings: RecordingSettings?, delivery: Delivery?, diagnostics: @escaping @Sendable (String) -> Void) {
        self.diagnostics = Diagnostics(diagnostics)
        flusher = Flusher(delivery: delivery, diagnostics: self.diagnostics)
        let clock = settings?.options.clock
        sources = SourceRegistry(settings, diagnostics: self.diagnostics) { [flusher] store, isEverything in
            guard let clock else { return }
            flusher.endUploads(in: store, isEverything: isEverything, at: clock.uptimeMicroseconds())
        }
        let schedule = clock as? any RuleSchedule
        rules = NetworkRules(canBeOn: settings != nil) { schedule ?? DispatchSchedule() }
        passiveCapture = PassiveCapture(sources: sources)
        for problem in settings?.problems ?? [] { self.diagnostics.once(problem.message) }
        #if canImport(Darwin)
        if settings?.options.marksDeviceState == true {
            let watch = DeviceWatch(context)
            companions.withLock { $0[ObjectIdentifier(DeviceWatch.self)] = watch }
        }
        #endif
        #if os(iOS) || os(macOS) || os(visionOS)
        if settings?.options.joinsCrashReports == true {
            let reports = SystemReports(sources)
            companions.withLock { $0[ObjectIdentifier(SystemReports.self)] = reports }
        }
        #endif
        guard let truncated = settings?.truncatedAttributes, truncated > 0 else { return }
        sources.counters.add(truncated, to: \.truncated)
        self.diagnostics.note(.cutSourceAttributes, count: Int64(truncated))
    }

    deinit {
        sources.changes.end()
        stopDelivery()
    }

    /// Whether the manager records. Set it at any time, from any thread.
    ///
    /// Calls that begin after you turn it off record nothing. Facts recorded before stay, and the next flush delivers
    /// them, unless you set ``Options/erasesPendingWhenOff``. When you turn it on again, earlier handles resume.
    /// Transactions that began meanwhile stay unrecorded, and those that finished meanwhile have no outcome.
    public var recording: RecordingHealth.Mode {
        get { sources.mode }
        set { sources.mode = newValue }
    }

    /// The destination of sets. `nil` keeps everything pending. Setting it also ends pauses of the previous delivery.
    public var delivery: Delivery? {
        get { flusher.delivery }
        set { flusher.delivery = newValue }
    }

    /// The session whose requests are recorded as exchanges of the current transaction.
    public var session: CapturedSession {
        capturedSession.withLock { session in
            let made =
                session ?? CapturedSession(configuration: .default, sources: sources, rules: rules, traceContext: nil)
            session = made
            return made
        }
    }

    /// Returns a session with your configuration whose requests are recorded. Keep it, as you would a `URLSession`.
    public func session(configuration: URLSessionConfiguration, traceContext: TraceContextPolicy? = nil)
        -> CapturedSession
    {
        CapturedSession(configuration: configuration, sources: sources, rules: rules, traceContext: traceContext)
    }

    #if !canImport(FoundationNetworking)
    /// Returns a session that asks a closure about authentication challenges, for certificate pinning and client
    /// certificates. The closure also gets challenges that the system would decide itself.
    ///
    /// ```swift
    /// let session = transactions.session(configuration: .default) { challenge in
    ///     guard let trust = challenge.protectionSpace.serverTrust, isPinned(trust) else {
    ///         return (.cancelAuthenticationChallenge, nil)
    ///     }
    ///     return (.useCredential, URLCredential(trust: trust))
    /// }
    /// ```
    public func session(
        configuration: URLSessionConfiguration, traceContext: TraceContextPolicy? = nil,
        challenge:
            @escaping @Sendable (URLAuthenticationChallenge) async -> (
                URLSession.AuthChallengeDisposition, URLCredential?
            )
    ) -> CapturedSession {
        CapturedSession(
            configuration: configuration, sources: sources, rules: rules, traceContext: traceContext,
            challenge: challenge)
    }
    #endif

    /// The state of recording and delivery. Reading it waits for the store's thread, usually a few milliseconds.
    public var health: RecordingHealth {
        let source = sources.readableSource
        var health = sources.counters.withLock { $0 }
        health.problems =
            (sources.settings?.problems ?? []) + (sources.current?.useCases.problems ?? [])
            + [
                source?.writer.problem, sources.problem, sources.sampling.problem, flusher.problem,
                passiveCapture.problem,
            ].compactMap { $0 }
            + rules.problems
        health.hints =
            [sources.modeHint, flusher.hint(on: source), health.unknownUseCaseHint].compactMap { $0 }
            + diagnostics.hints
        health.refused = source?.writer.recorder.refusedCount ?? 0
        health.omittedBodies = source?.writer.bodies.refusedCount ?? 0
        return health
    }
}

extension TransactionManager {
    /// Returns the number of facts in the store: pending, delivered, in quarantine, and dropped by reason.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be read.
    public func ledger() async throws(WaybillError) -> Ledger {
        try await read { reader, _ in try reader.ownLedger() } ?? Ledger()
    }

    /// Returns `nil` if recording is off and no store exists.
    package func read<Result: Sendable>(_ body: @escaping @Sendable (StoreReader, Int64) throws -> Result)
        async throws(WaybillError) -> Result?
    {
        try await sources.read(body)
    }
}
