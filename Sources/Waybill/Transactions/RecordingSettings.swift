package import WaybillCore
package import WaybillStore

/// What a manager was told, checked: an impossible setting was replaced by a safe one and is listed in `problems`.
package struct RecordingSettings: Sendable {
    package var place: ResolvedLocation
    package var correlatedHosts = CorrelatedHosts()
    package var header = HeaderFormat.standard()
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
    package var recording = RecordingMode.on
    /// Where the mode is remembered; nil: it is not.
    package var mark: RecordingMark?
    package var offErasesPending = false
    package var describe: @Sendable (GUID) -> RecordedSource
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
        describe = { RecordedSource.thisProcess(id: $0, app: app, appVersion: appVersion, attributes: attributes) }

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

    private mutating func decideHeader(_ asked: HeaderFormat) {
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
            let other: RecordingMode = recording == .on ? .off : .on
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
