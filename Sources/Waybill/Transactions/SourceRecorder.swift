package import Foundation
package import WaybillCore
package import WaybillStore

/// One running recorder: what a process launch records, from its first fact on.
///
/// A forked child becomes a new one; facts for the old one are then no longer taken.
package final class SourceRecorder: Sendable {
    package let id: GUID
    package let settings: RecordingSettings
    package let writer: SourceWriter
    package let counters: Counters
    let context: ContextKeeper
    let sampling: SamplingInForce
    let diagnostics: Diagnostics
    /// nil: no body is kept.
    let bodies: BodyKeeper?
    let generation = ProcessGeneration.current
    let announcedParts = AnnouncedParts()
    let joins: JoinGate

    /// nil: the app has none.
    private let appHook: RecordingHook?
    private let power: RecordingSwitch
    /// The writer's, which keeps it alive.
    private let borrowedRecorder: Unmanaged<Recorder>
    /// The use cases that it has recorded the names of.
    let useCases = NotedUseCases()
    private let namedEvents = NamedEvents()

    init(
        settings: RecordingSettings, power: RecordingSwitch, counters: Counters, changes: ChangeFeed,
        context: ContextKeeper, sampling: SamplingInForce, diagnostics: Diagnostics
    ) {
        let source = settings.describe(GUID())
        id = source.id
        self.settings = settings
        self.power = power
        self.counters = counters
        self.context = context
        self.sampling = sampling
        self.diagnostics = diagnostics
        writer = SourceWriter(
            source: source, place: settings.place, clock: settings.clock, capacity: settings.capacity,
            openLimit: settings.openLimit, retention: settings.retention,
            bodyLimit: settings.network.bodies?.maximumStoreByteCount ?? 0, changes: changes,
            catchesSignals: settings.catchesSignals, tell: { diagnostics.once($0.message) },
            writesByItself: settings.writesByItself)
        joins = JoinGate(useCases: settings.useCases, perMinute: settings.joinsPerMinute)
        appHook = settings.willRecord.map { RecordingHook(willRecord: $0, counters: counters) }
        bodies = settings.network.bodies.map { [writer, appHook] in
            BodyKeeper(policy: $0, redactor: settings.redactor, hook: appHook, writer: writer)
        }
        borrowedRecorder = Unmanaged.passUnretained(writer.recorder)
    }

    /// Whether recording is on.
    var isOn: Bool { power.isOn }

    /// Whether the app is asked about what is recorded.
    var asksApp: Bool { appHook != nil }

    /// What the app is asked by; nil where there is nothing to ask: recording is off, or it is asking already.
    var hook: RecordingHook? {
        guard let appHook, isOn, generation == ProcessGeneration.latest, !RecordingHook.isAsking else { return nil }
        return appHook
    }

    /// Whether it belongs to the manager of this switch.
    func records(with power: RecordingSwitch) -> Bool { self.power === power }

    /// Takes a fact; never blocks, never throws.
    ///
    /// - Parameter past: When it happened, as ``microseconds(at:)`` gives it; `nil`: now.
    package func record(_ content: Fact.Content, part: Int64, at past: Int64? = nil) -> Recorded {
        guard generation == ProcessGeneration.latest else { return .off }
        guard isOn else {
            if content.isClosing { forgoClosing() }
            return .off
        }
        let recorded = writer.recorder.record(content, part: part, at: past)
        if recorded.result == .refused { diagnostics.note(content.refusal) }
        return recorded
    }

    /// Returns the time of a fact that happened at a date, in microseconds since the source started.
    func microseconds(at date: Date) -> Int64 { writer.recorder.microseconds(atWall: date.microseconds) }

    /// Takes an event of which there is no more to say.
    ///
    /// - Parameter part: 0 where its opening was not taken.
    @inline(__always)
    func record(event code: Int, part: Int64) -> LogResult {
        guard isOn, generation == ProcessGeneration.latest else { return .off }
        guard part > 0, isCode(code) else { return .refused }
        let result = borrowedRecorder._withUnsafeGuaranteedRef { $0.record(event: code, part: part).result }
        if result == .refused { noteRefusedEvent() }
        return result
    }

    @inline(never)
    private func noteRefusedEvent() { diagnostics.note(.refusedEvents) }

    /// Counts a hint about a use case.
    func note(_ hint: Hint, about useCase: Int) { diagnostics.note(hint, about: name(of: useCase)) }

    /// The name of a use case, as far as its type was seen here.
    private func name(of useCase: Int) -> String { useCases.name(of: useCase) ?? "use case \(useCase)" }

    /// Opens a part in a transaction that this source begins or joins.
    ///
    /// - Parameters:
    ///   - type: The type of its use case; `nil` if only the code is known.
    ///   - parent: The transaction above it; nil: none.
    ///   - traceParent: What the request that it is joined by said of that.
    ///   - past: When it was opened; `nil`: now.
    func open(
        _ opened: Fact.Opened, type: ObjectIdentifier? = nil, below parent: TransactionParent? = nil,
        traceParent: TraceParent? = nil, at past: Int64? = nil
    ) -> OpenPart {
        let own = opened.attributes
        let (attributes, omitted, moment) = context.attributes(with: own)
        if omitted > 0 {
            counters.add(omitted, to: \.truncated)
            diagnostics.note(.tooManyAttributes)
        }
        var opened = opened
        opened.attributes = attributes
        opened.sampling = sampling.sampling(of: opened.useCase, root: parent?.root ?? opened.transaction)
        let recorded = isCode(opened.useCase) ? recordOpening(opened, at: past) : .refused
        if recorded.sequence > 0 {
            let part = ContextKeeper.Part(
                source: self, transaction: opened.transaction, useCase: opened.useCase, sequence: recorded.sequence,
                isJoined: opened.isJoined)
            if let missed = context.opened(part, own: own, since: moment) { _ = record(missed, of: part) }
        }
        return OpenPart(
            transaction: opened.transaction, root: parent?.root, useCase: opened.useCase, type: type,
            sequence: recorded.sequence, source: self,
            isWithheld: recorded.result == .withheld, isJoined: opened.isJoined, cause: opened.cause,
            traceParent: traceParent, trace: parent?.trace, otherVendors: parent?.otherVendors)
    }

    private func recordOpening(_ opened: Fact.Opened, at past: Int64?) -> Recorded {
        var opened = opened
        if let hook {
            let draft = RecordingDraft.Opened(
                transaction: opened.transaction, useCase: opened.useCase, isJoined: opened.isJoined,
                parent: opened.parent, attributes: opened.attributes)
            guard case .opened(let kept)? = hook.ask(.opened(draft)) else { return .withheld }
            opened.attributes = kept.attributes
        }
        opened.attributes = attributes(opened.attributes)
        return record(.opened(opened), part: 0, at: past)
    }

    /// Records that attributes of a part were set or removed; what the caller says is redacted here.
    func record(_ changes: Fact.AttributesSet, of part: ContextKeeper.Part) -> LogResult {
        var changes = changes
        if let hook {
            let draft = RecordingDraft.AttributesSet(
                transaction: part.transaction, useCase: part.useCase, attributes: changes.attributes,
                removed: changes.removed)
            guard case .attributesSet(let kept)? = hook.ask(.attributesSet(draft)) else { return .withheld }
            changes.attributes = kept.attributes
        }
        if changes.removed.count > Limits.attributes {
            counters.add(changes.removed.count - Limits.attributes, to: \.truncated)
            diagnostics.note(.tooManyAttributes)
        }
        changes.attributes = attributes(changes.attributes)
        changes = changes.redacted(by: settings.redactor)
        return record(.attributesSet(changes), part: part.sequence).result
    }

    /// There will be no closing fact, for which room was kept.
    func forgoClosing() { writer.recorder.forgoClosing() }

    /// Whether a number can be the code of a use case or an event; one that cannot would be rejected by every
    /// collector, so it is told at once.
    func isCode(_ code: Int) -> Bool {
        if (0...Limits.largestCode).contains(code) { return true }
        counters.add(to: \.impossibleCodes)
        return false
    }

    /// Records the names of a use case, once. Reports one that has the code of another.
    func note<U: UseCase>(_ useCase: U.Type) {
        guard let noted = useCases.note(U.self) else { return }
        if !noted.names.isEmpty { writer.note(noted.names) }
        if let problem = noted.problem { diagnostics.once(problem.message) }
    }

    /// The code of an event that has only a name, which is recorded with its first one.
    ///
    /// - Parameter nameless: Given the name where there are too many to keep: the event has to say it itself.
    func code(ofEvent name: String, in useCase: Int, nameless: (String) -> Void) -> Int {
        let (event, isNew) = namedEvents.event(name, in: useCase, settings.redactor)
        if isNew { writer.note([RecordedName(useCase: useCase, event: event.code, name: event.name)]) }
        if event.isNameless { nameless(name) }
        return event.code
    }

    /// Redacts and limits what a caller said.
    func attributes(_ attributes: Attributes) -> Attributes {
        guard !attributes.isEmpty else { return attributes }
        let (kept, truncated) = settings.redactor.attributes(attributes)
        guard truncated > 0 else { return kept }
        counters.add(truncated, to: \.truncated)
        let omitted = max(0, attributes.count - Limits.attributes)
        if omitted > 0 { diagnostics.note(.tooManyAttributes) }
        if truncated > omitted { diagnostics.note(.cutAttributes, count: Int64(truncated - omitted)) }
        return kept
    }

    /// What is to be recorded of an error, not redacted yet.
    func recorded(_ error: (any Error)?) -> RecordedError? {
        error.map { RecordedError($0, includingText: settings.keepsErrorTexts) }
    }

    /// Whether requests to a URL carry the transaction's header field.
    package func correlates(with url: URL) -> Bool { settings.correlatedHosts.contains(url) }
}

extension Recorded {
    /// Not taken because recording is off.
    fileprivate static let off = Recorded(sequence: 0, result: .off)
}

extension Fact.Content {
    /// What to say where there was no room for it.
    fileprivate var refusal: Hint {
        switch self {
        case .opened, .exchangeOpened: .refusedOpenings
        case .event, .attributesSet, .closed, .exchangeClosed: .refusedEvents
        }
    }

    /// Whether it closes what another fact opened.
    fileprivate var isClosing: Bool {
        switch self {
        case .closed, .exchangeClosed: true
        case .opened, .event, .attributesSet, .exchangeOpened: false
        }
    }
}
