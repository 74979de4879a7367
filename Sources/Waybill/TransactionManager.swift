public import WaybillCore
public import WaybillStore

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Creates transactions, keeps what is recorded of them, and delivers it.
///
/// Make one for the app or the server and keep it. Making it never throws and touches no disk on the caller's thread: a
/// folder that cannot be written or a setting that cannot work is replaced by something safe, and shows in ``health``.
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
///     let (data, response) = try await transactions.session.data(for: request)
///     login.log(.responseReceived)
///     guard response.isSuccess else { return login.finish(.failed, error: response.status) }
/// }
/// ```
public final class TransactionManager: Sendable {
    /// What is seldom needed.
    public struct Options: Sendable {
        /// The app's or service's name; nil: the bundle's identifier, else the process's name.
        public var app: String?
        /// Its version; nil: the bundle's short version string, else empty.
        public var appVersion: String?
        /// What else is to be said of this launch, e.g. the environment.
        public var sourceAttributes: Attributes = [:]
        /// The header field that carries the transaction: its name and form. Default: ``WaybillCore/TransactionHeader``
        /// in `Waybill-Transaction`.
        public var header = TransactionHeader.Format.standard()
        /// The codes of the use cases that a server takes from a header field, `[Login.code, Purchase.code]`; nil: any
        /// that one names. Default: none.
        ///
        /// Anybody can make up a header field. A request that names another use case is handled like any other, and
        /// leaves no trace but a count in ``TransactionManager/health``. It concerns
        /// ``TransactionManager/join(attributes:traceContext:header:)``, middleware and tracers alone: elsewhere your code
        /// says the use case.
        public var useCases: Set<Int>? = []
        /// Whether requests carry W3C's `traceparent`, and whether those that come in join by it; sessions, middleware and
        /// tracers may be told otherwise. Default: ``TraceContextPolicy/off``.
        public var traceContext = TraceContextPolicy.off
        /// How many transactions that are not known yet requests may join in a minute, by their header fields; all of
        /// them at once, too. Default: 6,000.
        ///
        /// A transaction counts once, however many requests it has, until thousands of others came; of each a thousand
        /// requests are recorded. Of what is beyond that nothing is, but a count in ``TransactionManager/health``.
        public var joinsPerMinute = 6_000
        /// Names of header fields, query items and attributes whose values are secret, besides the well-known ones.
        public var additionalSecretNames: [String] = []
        /// Names whose values are no secrets here, though they are called like some: an order's `code`, a map's `key`.
        ///
        /// Whole names, in any case, with or without hyphens and underscores. What has the shape of a secret, such as a
        /// card number or a bearer token, is hidden under these, too; a name that is also in ``additionalSecretNames``
        /// stays hidden. A collector needs the same names: `waybill serve --visible-names code,key`. Default: none.
        public var visibleNames: [String] = []
        /// Whether an error's own words are kept, redacted; else only its domain and code.
        public var keepsErrorTexts = false
        /// Facts that may wait in memory for the store.
        public var memoryCapacity = 16_384
        /// How many transactions and exchanges may be open in this process at once, from 1 to 500,000. Default: 100,000.
        ///
        /// Those beyond are not recorded; ``RecordingHealth/refused`` counts them, and a hint says so. What is open can
        /// always be closed.
        public var maximumOpen = 100_000
        /// How much of what was recorded stays on the device, and for how long. Default: 64 MiB, 30 days.
        public var retention = Retention()
        /// Whether signals that end the process, such as SIGSEGV and SIGABRT, are caught to be noted; default: false.
        ///
        /// The next launch then says by which of them a transaction was interrupted, and tells a crash from a process
        /// that the system killed. A handler writes one word to the journal and passes the signal on to the handler that
        /// was there before, or to the system, so that the process dies of it as it would have: with its core dump and
        /// its exit status. It is set once in a process, for all its managers, after the first fact of one that asks
        /// for it; signals that are ignored then stay so. Set your own handlers and crash reporters before.
        public var catchesSignals = false
        /// How large a share of the transactions of each use case is delivered; what failed or was slow always is.
        /// Default: all of them.
        public var sampling = Sampling()
        /// Whether recording is on until ``TransactionManager/recording`` is set; `.off` for an app that has to ask
        /// first.
        public var recording = RecordingHealth.Mode.on
        /// Whether ``TransactionManager/recording`` holds for later launches, too: an empty file in the store's folder
        /// says which it was.
        public var remembersRecording = false
        /// Whether turning recording off also erases the transactions of which something is not delivered yet.
        public var offErasesPending = false
        /// Whether the environment and the launch arguments win over what is said here: for test builds, never for
        /// those that people get.
        ///
        /// `WAYBILL_RECORDING` (`on` or `off`, not remembered), `WAYBILL_COLLECTOR` (its address), `WAYBILL_TOKEN`,
        /// `WAYBILL_STORE` (a folder's full path), `WAYBILL_HOSTS` (the correlated hosts, separated by commas); as
        /// launch arguments `-WaybillRecording off` and so on, which win over the environment. What cannot be
        /// understood is ignored, told once, and shown in ``TransactionManager/health``.
        public var obeysLaunchSettings = false
        /// Which exchanges are recorded, and what of them. Default: all of every one, redacted, but no bodies.
        public var network = NetworkOptions()
        /// Asked before each set that is delivered, in flushes that were asked for, too; false: it stays pending. For
        /// policies such as Wi-Fi only.
        ///
        /// The flush waits for it with no lock held. Don't call `flush()` inside: it returns at once, with an error.
        ///
        /// ```swift
        /// options.canFlush = { await power.isCharging }
        /// ```
        public var canFlush: @Sendable () async -> Bool = { true }
        /// The app's own say in what is recorded, asked about each event, opening, end, exchange and body before it is
        /// redacted and stored; nil, the default: nothing is asked.
        ///
        /// It gets a ``RecordingDraft`` and gives back what is to be recorded of it; nil, or one of another case:
        /// nothing, which ``RecordingHealth/withheld`` counts. It runs on the thread that records: the caller's; for
        /// the end of an exchange the one that tells of it, as a rule a queue of the session; for bodies a queue of
        /// their own. So it must be quick, must be ready to be called on several threads at once, and must not wait for
        /// the manager. What it records itself is recorded without asking again.
        ///
        /// ```swift
        /// options.willRecord = { draft in
        ///     guard case .event(var event) = draft else { return draft }
        ///     event.attributes["note"] = nil
        ///     return .event(event)
        /// }
        /// ```
        public var willRecord: (@Sendable (RecordingDraft) -> RecordingDraft?)?
        /// The clocks to record by.
        public var clock: any TransactionClock = SystemClock()
        /// Called with each message for the developer, once: what hinders recording or delivery, and hints about what
        /// records other than you probably meant. Default: writes to standard error.
        ///
        /// It runs on a serial queue of its own, soon after the fact, so it may use the manager: read
        /// ``TransactionManager/health``, log, flush. ``RecordingHealth/hints`` counts how often each hint applied.
        public var diagnostics: @Sendable (String) -> Void = {
            FileHandle.standardError.write(Data("waybill: \($0)\n".utf8))
        }

        /// The defaults.
        public init() {}
    }

    /// Whether the caller was compiled for debugging: one word keeps Waybill out of the builds that people get.
    ///
    /// ```swift
    /// let transactions = TransactionManager.isDebugBuild ? TransactionManager() : .disabled
    /// ```
    ///
    /// As `assert` has it: true without optimization, false with. Where the library was compiled beforehand, in another
    /// way than its caller, it may tell the library's.
    @inlinable public static var isDebugBuild: Bool {
        var isDebugBuild = false
        assert(
            {
                isDebugBuild = true
                return true
            }())
        return isDebugBuild
    }

    /// A manager that records nothing and touches no disk; its session sends requests as they are.
    public static let disabled = TransactionManager(settings: nil, delivery: nil, diagnostics: { _ in })

    /// What answers, slows down or fails the requests of this manager's sessions; off until it is turned on.
    public let rules: NetworkRules
    package let diagnostics: Diagnostics
    let flusher: Flusher
    package let sources: SourceRegistry
    private let capturedSession = Locked<CapturedSession?>(nil)
    /// Records what sessions send whose code cannot change; does nothing until it is started. Experimental.
    public let passiveCapture: PassiveCapture
    /// Values that modules above this one keep with the manager, by type.
    package let companions = Locked<[ObjectIdentifier: any Sendable]>([:])

    /// Makes a manager.
    ///
    /// - Parameters:
    ///   - store: Where to keep what is recorded.
    ///   - delivery: Where to send it; nil: nowhere yet, set ``delivery`` later.
    ///   - correlatedHosts: The hosts whose requests carry the transaction's header field: names without scheme and
    ///     port. `*.example.com` stands for the names one label below: `api.example.com`, neither `example.com` nor
    ///     `a.b.example.com`.
    ///   - options: What is seldom needed.
    public convenience init(
        store: StoreLocation = .default, delivery: Delivery? = nil, correlatedHosts: [String] = [],
        options: Options = Options()
    ) {
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
        sources = SourceRegistry(settings, diagnostics: self.diagnostics)
        flusher = Flusher(delivery: delivery, diagnostics: self.diagnostics)
        if let clock = settings?.clock {
            sources.whenErased { [flusher] store, isEverything in
                flusher.endUploads(in: store, isEverything: isEverything, at: clock.uptimeMicroseconds())
            }
        }
        let clock = settings?.clock as? any RuleSchedule
        rules = NetworkRules(canBeOn: settings != nil) { clock ?? DispatchSchedule() }
        passiveCapture = PassiveCapture(sources: sources)
        for problem in settings?.problems ?? [] { self.diagnostics.once(problem.message) }
        guard let truncated = settings?.truncatedAttributes, truncated > 0 else { return }
        sources.counters.add(truncated, to: \.truncated)
        self.diagnostics.note(.cutSourceAttributes, count: Int64(truncated))
    }

    deinit {
        sources.changes.end()
        stopDelivery()
    }

    /// Whether it records; set it at any time, from any thread.
    ///
    /// A call that begins after it was turned off records nothing, also on handles from before. What was recorded until
    /// then stays, can be looked at, and is delivered by the next flush, unless ``Options/offErasesPending`` says
    /// otherwise. Turned on again, handles from before go on; those begun meanwhile record nothing, and what was
    /// finished meanwhile has no outcome. Off from the start, nothing is written to the disk. ``disabled`` stays off.
    public var recording: RecordingHealth.Mode {
        get { sources.mode }
        set { sources.mode = newValue }
    }

    /// Where sets go; nil: nowhere, and everything stays pending. Set anew, it also ends the pauses that the one before
    /// brought about.
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

    /// A session of your own configuration whose requests are recorded; keep it, as you would keep a `URLSession`.
    ///
    /// - Parameters:
    ///   - configuration: What Foundation's session is made with.
    ///   - traceContext: Whether its requests carry W3C's `traceparent`; nil: as ``Options/traceContext`` says.
    public func session(configuration: URLSessionConfiguration, traceContext: TraceContextPolicy? = nil)
        -> CapturedSession
    {
        CapturedSession(configuration: configuration, sources: sources, rules: rules, traceContext: traceContext)
    }

    /// How recording and delivery are doing. Waits for the store's thread, a few milliseconds at most as a rule.
    ///
    /// What hinders recording or delivery is also told to ``Options/diagnostics``, once.
    public var health: RecordingHealth {
        let source = sources.readableSource
        let counts = sources.counters.current
        return RecordingHealth(
            problems: (sources.settings?.problems ?? []) + (sources.current?.useCases.problems ?? [])
                + [
                    source?.writer.problem, sources.problem, sources.sampling.problem, flusher.problem,
                    passiveCapture.problem,
                ].compactMap { $0 }
                + rules.problems,
            hints: [sources.modeHint, flusher.hint(on: source), counts.unknownUseCaseHint].compactMap { $0 }
                + diagnostics.hints,
            refused: source?.writer.recorder.refusedCount ?? 0, withheld: counts.withheld,
            omittedReports: counts.omittedReports,
            truncated: counts.truncated, omittedBodies: source?.writer.bodies.refusedCount ?? 0,
            malformedHeaders: counts.malformedHeaders,
            mismatchedUseCases: counts.mismatchedUseCases,
            unknownUseCases: counts.unknownUseCases, refusedJoins: counts.refusedJoins,
            impossibleCodes: counts.impossibleCodes)
    }
}

extension TransactionManager {
    /// Returns how many facts all sources of the store have recorded, and how many of them are pending, delivered, in
    /// quarantine or dropped, and why.
    ///
    /// - Throws: ``WaybillCore/WaybillError`` if the store can't be read.
    public func ledger() async throws -> Ledger {
        try await read { reader, _ in try reader.ownLedger() } ?? Ledger()
    }

    /// Runs on the reading thread, on a store that has everything recorded until now.
    ///
    /// - Parameter body: Takes the reader, and now in microseconds since 1970.
    /// - Returns: `nil` if nothing was recorded and recording is off. There is no store then, and none is made.
    package func read<Result: Sendable>(_ body: @escaping @Sendable (StoreReader, Int64) throws -> Result) async throws
        -> Result?
    {
        try await sources.read(body)
    }
}
