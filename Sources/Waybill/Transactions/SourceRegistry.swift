import WaybillAtomics
import WaybillCore
package import WaybillStore

package final class SourceRegistry: Sendable {
    package let settings: RecordingSettings?
    package let counters = Counters(RecordingHealth())
    package let changes = ChangeFeed()
    let context: ContextKeeper
    let sampling: SamplingInForce
    private let power: RecordingSwitch
    private let running = Locked<SourceRecorder?>(nil)
    private let forerunners = Locked<[Forerunner]>([])
    private let switchProblem = Locked<WaybillError?>(nil)
    private let contextProblem = Locked<WaybillError?>(nil)
    let noteErasure: @Sendable (_ store: Store?, _ isEverything: Bool) -> Void

    let diagnostics: Diagnostics

    package func noteUncorrelated(_ sentence: String) { diagnostics.note(.uncorrelated, about: sentence) }

    init(_ settings: RecordingSettings?, diagnostics: Diagnostics, erased: @escaping @Sendable (Store?, Bool) -> Void) {
        noteErasure = erased
        self.diagnostics = diagnostics
        self.settings = settings
        power = RecordingSwitch(isOn: settings?.options.recording == .on)
        context = ContextKeeper(
            file: (settings?.place).flatMap { ContextFile(beside: $0) }, redactor: settings?.redactor ?? Redactor())
        sampling = SamplingInForce(settings?.options.sampling ?? Sampling())
        guard let settings else { return }
        let source = newSource(settings)
        running.withLock { $0 = source }
    }

    private func newSource(_ settings: RecordingSettings) -> SourceRecorder {
        SourceRecorder(
            settings: settings, power: power, counters: counters, changes: changes, context: context,
            sampling: sampling, diagnostics: diagnostics)
    }

    package var source: SourceRecorder? { power.isOn ? current : nil }

    /// `nil` if reading would create an empty store.
    package var readableSource: SourceRecorder? {
        guard let current, power.isOn || current.writer.hasStore else { return nil }
        return current
    }

    func source(of part: OpenPart?) -> SourceRecorder? {
        guard let source else { return nil }
        guard let own = part?.source, own.records(with: power), own.generation == source.generation else {
            return source
        }
        return own
    }

    /// First writes the facts of handles from before a reset of the installation.
    package func drainedSource() async -> SourceRecorder? {
        // Facts that can't be written stay in memory, and the source reports the problem.
        for source in liveForerunners {
            await source.bodies?.settle()
            try? await source.writer.drain()
        }
        await readableSource?.bodies?.settle()
        return readableSource
    }

    package func read<Result: Sendable>(_ body: @escaping @Sendable (StoreReader, Int64) throws -> Result)
        async throws(WaybillError) -> Result?
    {
        guard let source = await drainedSource() else { return nil }
        let now = source.settings.options.clock.wallMicroseconds()
        return try await source.writer.read { reader in try body(reader, now) }
    }

    package var liveForerunners: [SourceRecorder] {
        forerunners.withLock { forerunners in
            forerunners.removeAll { $0.source == nil }
            return forerunners.compactMap(\.source)
        }
    }

    /// After a reset of the installation, a new transaction must not name an earlier one.
    func admits(_ parent: TransactionParent, for source: SourceRecorder) -> Bool {
        guard let part = parent.part else { return true }
        guard part.source != source.id else { return part.sequence > 0 }
        return part.sequence > 0 && !liveForerunners.contains { $0.id == part.source }
    }

    func renewInstallation() async throws(WaybillError) {
        // Without recorded data there is no installation.
        guard let settings, let old = readableSource else { return }
        try await old.writer.drain()
        try await old.writer.run { _, store in try store.set("installation", to: GUID().description) }
        let new = newSource(settings)
        // Opened before the old one is released, which may be all that keeps a store in memory.
        try await new.writer.run { _, _ in }
        try context.forget()
        running.withLock { running in
            guard let current = running, current.generation == new.generation else { return }
            replace(current, with: new, in: &running)
        }
    }

    /// Open transactions continue in the old one.
    func renew(after old: SourceRecorder) {
        guard let settings else { return }
        running.withLock { running in
            guard let current = running, current === old, current.generation == ProcessGeneration.current else {
                return
            }
            let new = newSource(settings)
            replace(current, with: new, in: &running)
            // A store in memory lives while a connection to it is open.
            Task {
                try? await new.writer.run { _, _ in }
                withExtendedLifetime(old) {}
            }
        }
    }

    private func replace(_ old: SourceRecorder, with new: SourceRecorder, in running: inout SourceRecorder?) {
        forerunners.withLock { $0.append(Forerunner(source: old)) }
        running = new
        old.writer.stopWatchingOthers()
        new.writer.watchOthers()
    }

    private struct Forerunner {
        weak var source: SourceRecorder?
    }

    package var mode: RecordingHealth.Mode {
        get { power.isOn ? .on : .off }
        set {
            guard let settings, let source = current else { return }
            // Under the lock, to remember the mode that was set last.
            running.withLock { _ in
                power.isOn = newValue == .on
                changes.ring()
                if power.isOn { source.writer.perform { [self] _ in writeContext() } }
                guard settings.mark != nil || settings.options.erasesPendingWhenOff else { return }
                for source in liveForerunners + [source] {
                    source.writer.perform { [self] store in
                        let problem = follow(newValue, settings, source, store)
                        switchProblem.withLock { $0 = problem }
                    }
                }
            }
        }
    }

    var modeHint: String? {
        guard settings != nil else { return "This manager is disabled: it records nothing, and cannot be turned on." }
        return power.isOn ? nil : "Recording is off: set `recording` to `.on`."
    }

    var problem: WaybillError? { switchProblem.withLock { $0 } ?? contextProblem.withLock { $0 } }

    // MARK: Context

    func changeContext(_ attributes: Attributes, removed: [String], isRemembered: Bool) {
        guard settings != nil else { return }
        let change = context.change(attributes, removed: removed, isRemembered: isRemembered)
        if change.truncated > 0 {
            counters.add(change.truncated, to: \.truncated)
            diagnostics.note(.tooManyAttributes)
        }
        if power.isOn { for (part, changes) in change.parts { _ = part.source.record(changes, of: part) } }
        if change.isBeyondLimit {
            diagnostics.once(
                "More than \(ContextKeeper.partLimit) transactions were open at once: those beyond keep the context that "
                    + "they began with.")
        }
        if change.isRemembered { saveContext() }
    }

    /// If recording is off, it waits until recording is on.
    func saveContext() { source?.writer.perform { [self] _ in writeContext() } }

    private func writeContext() {
        let problem = context.save()
        contextProblem.withLock { $0 = problem }
        if let problem { diagnostics.once(problem.message) }
    }

    private func follow(
        _ mode: RecordingHealth.Mode, _ settings: RecordingSettings, _ source: SourceRecorder, _ store: Store?
    )
        -> WaybillError?
    {
        do throws(WaybillError) {
            try settings.mark?.set(isOn: mode == .on)
            if mode == .off, settings.options.erasesPendingWhenOff, let store {
                defer { changes.tell(.reload) }
                defer { noteErasure(store, false) }
                _ = try source.writer.erase(.pending, from: store, at: settings.options.clock.wallMicroseconds())
            }
            return nil
        } catch {
            return error
        }
    }

    package var current: SourceRecorder? {
        running.withLock { running in
            if let old = running, old.generation != ProcessGeneration.current {
                // The child must not use the parent's locks, connection and threads.
                _ = Unmanaged.passRetained(old)
                running = newSource(old.settings)
            }
            return running
        }
    }
}

final class RecordingSwitch: Sendable {
    private let value: Atomic<Bool>

    init(isOn: Bool) { value = Atomic(isOn) }

    var isOn: Bool {
        get { value.load(ordering: .relaxed) }
        set { value.store(newValue, ordering: .relaxed) }
    }
}
