package import Foundation
package import WaybillCore
package import WaybillStore

/// Records the facts of one process. A forked child gets a new recorder.
package final class SourceRecorder: Sendable {
    package let id: GUID
    package let settings: RecordingSettings
    package let writer: SourceWriter
    package let counters: Counters
    let context: ContextKeeper
    let sampling: SamplingInForce
    let diagnostics: Diagnostics
    let bodies: BodyKeeper?
    let generation = ProcessGeneration.current
    let announcedParts = AnnouncedParts()
    let joins: JoinGate

    private let appHook: RecordingHook?
    private let power: RecordingSwitch
    /// Borrowed from the writer, which keeps it alive.
    private let borrowedRecorder: Unmanaged<Recorder>
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
            source: source, place: settings.place, clock: settings.options.clock,
            capacity: settings.options.memoryCapacity, openLimit: settings.options.maximumOpen,
            retention: settings.options.retention,
            bodyLimit: settings.options.network.bodies?.maximumStoreByteCount ?? 0, changes: changes,
            catchesSignals: settings.options.catchesSignals, tell: { diagnostics.once($0.message) },
            writesByItself: settings.writesByItself)
        joins = JoinGate(
            useCases: settings.options.server.accepting.codes, perMinute: settings.options.server.joinsPerMinute)
        appHook = settings.options.willRecord.map { RecordingHook(willRecord: $0, counters: counters) }
        bodies = settings.options.network.bodies.map { [writer, appHook] in
            BodyKeeper(policy: $0, redactor: settings.redactor, hook: appHook, writer: writer)
        }
        borrowedRecorder = Unmanaged.passUnretained(writer.recorder)
    }

    var isOn: Bool { power.isOn }

    var asksApp: Bool { appHook != nil }

    var hook: RecordingHook? {
        guard let appHook, isOn, generation == ProcessGeneration.latest, !RecordingHook.isAsking else { return nil }
        return appHook
    }

    func records(with power: RecordingSwitch) -> Bool { self.power === power }

    /// Never blocks or throws.
    package func record(_ content: Fact.Content, part: Int64, at past: Int64? = nil) -> Recorded {
        guard generation == ProcessGeneration.latest else { return .off }
        guard isOn else {
            if content.openCountChange < 0 { forgoClosing() }
            return .off
        }
        let recorded = writer.recorder.record(content, part: part, at: past)
        if recorded.result == .refused {
            diagnostics.note(content.openCountChange > 0 ? .refusedOpenings : .refusedEvents)
        }
        return recorded
    }

    func microseconds(at date: Date) -> Int64 { writer.recorder.microseconds(atWall: date.microseconds) }

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

    func note(_ hint: Hint, about useCase: Int) { diagnostics.note(hint, about: name(of: useCase)) }

    func name(of useCase: Int) -> String { useCases.name(of: useCase) ?? "use case \(useCase)" }

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
            #if canImport(Darwin)
            SystemLog.began(opened.useCase, recorded.sequence, in: self)
            #endif
            let part = ContextKeeper.Part(
                source: self, transaction: opened.transaction, useCase: opened.useCase, sequence: recorded.sequence,
                isJoined: opened.isJoined)
            if let missed = context.opened(part, own: own, since: moment) { _ = record(missed, of: part) }
        }
        return OpenPart(opened, recorded, type: type, in: self, below: parent, traceParent: traceParent)
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
        changes.redact(by: settings.redactor)
        return record(.attributesSet(changes), part: part.sequence).result
    }

    func forgoClosing() { writer.recorder.forgoClosing() }

    /// Collectors would reject any other number.
    func isCode(_ code: Int) -> Bool {
        if (0...Limits.largestCode).contains(code) { return true }
        counters.add(to: \.impossibleCodes)
        return false
    }

    func note<U: UseCase>(_ useCase: U.Type) {
        guard let noted = useCases.note(U.self) else { return }
        if !noted.names.isEmpty { writer.note(noted.names) }
        if let problem = noted.problem { diagnostics.once(problem.message) }
    }

    /// Beyond the limit of names it calls `nameless`, to put the name into the event itself.
    func code(ofEvent name: String, in useCase: Int, nameless: (String) -> Void) -> Int {
        let (event, isNew) = namedEvents.event(name, in: useCase, settings.redactor)
        if isNew { writer.note([RecordedName(useCase: useCase, event: event.code, name: event.name)]) }
        if event.isNameless { nameless(name) }
        return event.code
    }

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

    func recorded(_ error: (any Error)?) -> RecordedError? {
        error.map { RecordedError($0, includingText: settings.options.privacy.keepsErrorTexts) }
    }

    package func correlates(with url: URL) -> Bool { settings.correlatedHosts.contains(url) }
}

extension Recorded {
    fileprivate static let off = Recorded(sequence: 0, result: .off)
}

/// The parts whose header field was handed out, to recognize requests that carry it.
final class AnnouncedParts: Sendable {
    private struct Entry { weak var part: OpenPart? }
    private struct State {
        var entries: [GUID: Entry] = [:]
        var limit = 64
    }

    private let state = Locked(State())

    func note(_ part: OpenPart) {
        // Release them after the lock: the last reference to a part closes it, which calls the app's hook.
        let found = state.withLock { state -> [OpenPart] in
            var found: [OpenPart] = []
            if state.entries.count >= state.limit {
                let alive = state.entries.compactMapValues(\.part)
                found = Array(alive.values)
                state.entries = alive.mapValues { Entry(part: $0) }
                state.limit = max(64, 2 * state.entries.count)
            }
            state.entries[part.transaction] = Entry(part: part)
            return found
        }
        withExtendedLifetime(found) {}
    }

    func part(of transaction: GUID) -> OpenPart? { state.withLock { $0.entries[transaction]?.part } }
}

final class NotedUseCases: Sendable {
    private struct State {
        var names: [Int: [RecordedName]] = [:]
        var types: Set<ObjectIdentifier> = []
        var clashing: Set<ObjectIdentifier> = []
        var problems: [WaybillError] = []
    }

    private let state = Locked(State())

    var problems: [WaybillError] { state.withLock { $0.problems } }

    /// Returns `nil` if the type is already known.
    func note<U: UseCase>(_ useCase: U.Type) -> (names: [RecordedName], problem: WaybillError?)? {
        let type = ObjectIdentifier(U.self)
        guard state.withLock({ !$0.types.contains(type) }) else { return nil }
        // Call the app's code without the lock.
        let (code, name, names) = (U.code, U.name, Self.names(of: U.self))
        return state.withLock { state in
            guard state.types.insert(type).inserted else { return nil }
            guard let first = state.names[code] else {
                state.names[code] = names
                return (names, nil)
            }
            // Two modules may have the same enum, and one of them may have fewer cases.
            let known = Dictionary(first.map { ($0.event, $0.name) }) { name, _ in name }
            if names.allSatisfy({ known[$0.event] == nil || known[$0.event] == $0.name }) {
                let new = names.filter { known[$0.event] == nil }
                state.names[code] = first + new
                return (new, nil)
            }
            state.clashing.insert(type)
            let problem = WaybillError(
                .setting,
                "The use cases “\(known[nil] ?? "")” and “\(name)” (\(String(reflecting: U.self))) have the same code, \(code). "
                    + "Events of “\(name)” appear under the names of “\(known[nil] ?? "")”. Give each use case a code of its own."
            )
            state.problems.append(problem)
            // Record both names of the code in one batch, which `verify` reports.
            let clash = [first.first, names.first].compactMap { $0 }
            return (Set(clash).count > 1 ? clash : [], problem)
        }
    }

    func name(of code: Int) -> String? { state.withLock { $0.names[code]?.first?.name } }

    #if canImport(Darwin)
    func name(of event: Int, in useCase: Int) -> String? {
        state.withLock { $0.names[useCase]?.first { $0.event == event }?.name }
    }
    #endif

    func areSame<U: UseCase>(_ type: ObjectIdentifier, _ useCase: U.Type) -> Bool {
        state.withLock { !$0.clashing.contains(type) && !$0.clashing.contains(ObjectIdentifier(U.self)) }
    }

    private static func names<U: UseCase>(of useCase: U.Type) -> [RecordedName] {
        [RecordedName(useCase: U.code, name: U.name.cut(to: Limits.labelLength))]
            + U.allCases.filter { $0.eventCode >= 0 }.map {
                RecordedName(useCase: U.code, event: $0.eventCode, name: $0.eventName.cut(to: Limits.labelLength))
            }
    }
}

final class NamedEvents: Sendable {
    struct Event {
        var code: Int
        var name: String
        var isNameless = false
    }

    /// The maximum number of names: the name of a span may contain an ID.
    static let limit = 500
    static let nameless = "other"

    private struct Key: Hashable {
        var useCase: Int
        var name: String
    }

    private let known = Locked<[Key: Event]>([:])

    func event(_ name: String, in useCase: Int, _ redactor: Redactor) -> (event: Event, isNew: Bool) {
        // Redact before cutting, or half a secret might stay.
        let name = name.utf8.count > Limits.labelLength ? Self.label(name, redactor) : name
        return known.withLock { known in
            var key = Key(useCase: useCase, name: name)
            if let event = known[key] { return (event, false) }
            var event = Event(code: 0, name: Self.label(name, redactor))
            if known.count >= Self.limit {
                event = Event(code: 0, name: Self.nameless, isNameless: true)
                key.name = Self.nameless
                if let event = known[key] { return (event, false) }
            }
            event.code = NameCode.code(of: event.name)
            known[key] = event
            return (event, true)
        }
    }

    /// A name must not be empty.
    private static func label(_ name: String, _ redactor: Redactor) -> String {
        let label = redactor.label(name)
        return label.isEmpty ? "unnamed" : label
    }
}
