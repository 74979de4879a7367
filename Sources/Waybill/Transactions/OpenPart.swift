import Foundation
import WaybillAtomics
import WaybillCore
import WaybillStore

@usableFromInline
package final class OpenPart: Sendable {
    package let transaction: GUID
    package let root: GUID
    package let useCase: Int
    private let useCaseType: ObjectIdentifier?
    /// The sequence of its `opened` fact; 0 if it was not recorded. Then no other fact is recorded either.
    package let sequence: Int64
    package let source: SourceRecorder?
    /// An unretained copy of `source`: counting references for each event would cost more than the event.
    private let borrowedSource: Unmanaged<SourceRecorder>?
    /// Whether a call can record anything. Inlined code checks it to keep a disabled manager cheap.
    @usableFromInline let canRecord: Bool
    private let asksApp: Bool
    /// Whether the app's hook withheld its opening. Then nothing else of it is recorded.
    let isWithheld: Bool
    let isJoined: Bool
    /// The exchange of another process that caused it; `nil` if it is not known, and if the transaction began here.
    package let cause: FactID?
    let traceParent: TraceParent?
    /// The trace of its root, or of the request that it joined.
    package let trace: GUID
    let otherVendors: String?

    /// The flags of `Mark`, and above them the number of reports. One word holds all four to save memory.
    private let marks: Atomic<UInt64>
    // Right because it is written once, before the mark that readers check.
    private nonisolated(unsafe) var endedAt: Int64 = 0

    private enum Mark { static let closed: UInt64 = 1, served: UInt64 = 2, ended: UInt64 = 4, report: UInt64 = 8 }

    /// Work that runs for hours after the end of a transaction does not belong to it.
    package static let graceSeconds: Int64 = 60

    package static let reportLimit = 1_000

    init(
        _ opened: Fact.Opened, _ recorded: Recorded? = nil, type: ObjectIdentifier?, in source: SourceRecorder?,
        below parent: TransactionParent? = nil, traceParent: TraceParent? = nil
    ) {
        transaction = opened.transaction
        root = parent?.root ?? opened.transaction
        useCase = opened.useCase
        useCaseType = type
        sequence = recorded?.sequence ?? 0
        self.source = source
        borrowedSource = source.map { Unmanaged.passUnretained($0) }
        canRecord = source != nil
        asksApp = source?.asksApp ?? false
        isWithheld = recorded?.result == .withheld
        isJoined = opened.isJoined
        cause = opened.cause
        self.traceParent = traceParent
        let told = traceParent.flatMap { $0.trace.isVersion7 ? $0 : nil }
        trace = told?.trace ?? parent?.trace ?? root
        otherVendors = told == nil ? parent?.otherVendors : told?.others
        marks = Atomic(sequence == 0 ? Mark.closed : 0)
    }

    /// Another use case may have the same code by mistake.
    func isOf<U: UseCase>(_ useCase: U.Type) -> Bool {
        guard self.useCase == U.code else { return false }
        guard let useCaseType, useCaseType != ObjectIdentifier(U.self), let source else { return true }
        return source.useCases.areSame(useCaseType, U.self)
    }

    deinit { close(.abandoned, error: nil, attributes: [:]) }

    /// Records an event. After the end of the part, it counts as late.
    @usableFromInline
    func log(_ code: Int, error: (any Error)?, attributes: Attributes) -> LogResult {
        if !asksApp, Fact.Event.isPlain(hasError: error != nil, attributes: attributes) { return logPlain(code) }
        return logWhole(code, error: error, attributes: attributes)
    }

    @usableFromInline
    func log(_ event: Int, code: Int, attributes: Attributes) -> LogResult {
        logWhole(Fact.Event(code: event, error: RecordedError(code: Int64(code)), attributes: attributes))
    }

    @inline(__always)
    private func logPlain(_ code: Int) -> LogResult {
        guard let borrowedSource else { return .off }
        if isClosed { noteLateUse() }
        #if canImport(Darwin)
        borrowedSource._withUnsafeGuaranteedRef { SystemLog.logged(code, in: useCase, sequence, of: $0) }
        #endif
        return borrowedSource._withUnsafeGuaranteedRef { $0.record(event: code, part: sequence) }
    }

    private var isClosed: Bool { marks.load(ordering: .relaxed) & Mark.closed != 0 }

    /// `start` is the time when it became current, if that was after its end.
    func isOver(since start: Int64? = nil) -> Bool {
        guard marks.load(ordering: .acquiring) & Mark.ended != 0, let now = uptime else { return false }
        return now &- max(endedAt, start ?? endedAt) > Self.graceSeconds * 1_000_000
    }

    var uptimeIfClosed: Int64? { isClosed ? uptime : nil }

    private var uptime: Int64? { source?.settings.options.clock.uptimeMicroseconds() }

    @inline(never)
    func noteLateUse() { if isOver() { source?.note(.closedHandle, about: useCase) } }

    func noteReuse() {
        if sequence > 0, isClosed, let source, source.isOn { source.note(.closedHandle, about: useCase) }
    }

    // Not inlined, because plain events then need no stack space for an event.
    @inline(never)
    private func logWhole(_ code: Int, error: (any Error)?, attributes: Attributes) -> LogResult {
        logWhole(Fact.Event(code: code, error: error == nil ? nil : source?.recorded(error), attributes: attributes))
    }

    func log(_ code: Int, at date: Date, error: (any Error)?, attributes: Attributes) -> LogResult {
        let past = source?.microseconds(at: date)
        return logWhole(
            Fact.Event(code: code, error: error == nil ? nil : source?.recorded(error), attributes: attributes),
            at: past)
    }

    private func logWhole(_ event: Fact.Event, name: String? = nil, at past: Int64? = nil) -> LogResult {
        guard let source, source.isOn else { return .off }
        guard !isWithheld else {
            source.counters.add(to: \.withheld)
            return .withheld
        }
        guard sequence > 0, source.isCode(event.code) else { return .refused }
        if past == nil { noteLateUse() }
        var event = event
        if let hook = source.hook {
            let draft = RecordingDraft.Event(
                transaction: transaction, useCase: useCase, code: event.code, name: name, error: event.error,
                attributes: event.attributes)
            guard case .event(let kept)? = hook.ask(.event(draft)) else { return .withheld }
            (event.error, event.attributes) = (kept.error, kept.attributes)
        }
        event.error = event.error.map(source.settings.redactor.error)
        event.attributes = source.attributes(event.attributes)
        #if canImport(Darwin)
        SystemLog.logged(event.code, event.attributes, in: useCase, sequence, of: source)
        #endif
        return source.record(.event(event), part: sequence, at: past).result
    }

    func log(named name: String, at date: Date? = nil, error: (any Error)?, attributes: Attributes) -> LogResult {
        guard let source, source.isOn else { return .off }
        guard sequence > 0 else { return logWhole(Fact.Event(code: 0)) }
        var attributes = attributes
        let code = source.code(ofEvent: name, in: useCase) { unnamed in
            if attributes["event.name"] == nil { attributes["event.name"] = .string(unnamed) }
        }
        if date == nil, !asksApp, Fact.Event.isPlain(hasError: error != nil, attributes: attributes) {
            return logPlain(code)
        }
        let event = Fact.Event(
            code: code, error: error == nil ? nil : source.recorded(error), attributes: attributes)
        return logWhole(event, name: name, at: date.map(source.microseconds))
    }

    /// Records a span or a log line of a library as an event. Beyond ``reportLimit`` it is only counted.
    @discardableResult
    package func report(_ name: String, error: (any Error)? = nil, attributes: Attributes) -> LogResult {
        guard marks.add(Mark.report) / Mark.report <= Self.reportLimit else { return omitReport() }
        return log(named: name, error: error, attributes: attributes)
    }

    @discardableResult
    package func omitReport() -> LogResult {
        guard let source, source.isOn else { return .off }
        source.counters.add(to: \.omittedReports)
        return .refused
    }

    /// Whether the caller is the first to record the server's side of its exchange.
    func takesServerExchange() -> Bool { marks.set(bits: Mark.served) & Mark.served == 0 }

    func set(_ changes: Fact.AttributesSet) -> LogResult {
        guard let source, source.isOn else { return .off }
        guard !isWithheld else {
            source.counters.add(to: \.withheld)
            return .withheld
        }
        guard sequence > 0 else { return .refused }
        noteLateUse()
        let part = ContextKeeper.Part(source: source, transaction: transaction, useCase: useCase, sequence: sequence)
        source.context.note(changes, of: part)
        return source.record(changes, of: part)
    }

    /// Only the first call counts. `past` is in microseconds since the source started.
    package func close(
        _ outcome: TransactionOutcome, error: RecordedError?, attributes: Attributes, at past: Int64? = nil
    ) {
        guard let source, marks.set(bits: Mark.closed) & Mark.closed == 0 else { return }
        endedAt = source.settings.options.clock.uptimeMicroseconds()
        _ = marks.set(bits: Mark.ended)
        source.context.closed(sequence, of: source)
        var closed = Fact.Closed(outcome: outcome, error: error, attributes: attributes)
        if let hook = source.hook {
            let draft = RecordingDraft.Closed(
                transaction: transaction, useCase: useCase, outcome: outcome, error: error, attributes: attributes)
            guard case .closed(let kept)? = hook.ask(.closed(draft)) else { return source.forgoClosing() }
            (closed.error, closed.attributes) = (kept.error, kept.attributes)
        }
        closed.error = closed.error.map(source.settings.redactor.error)
        closed.attributes = source.attributes(closed.attributes)
        #if canImport(Darwin)
        SystemLog.ended(sequence, as: outcome, in: source)
        #endif
        _ = source.record(.closed(closed), part: sequence, at: past)
    }

    /// Without a recorded `exchange`, the part is the parent span.
    package func traceFields(exchange: Int64?) -> [String: String] {
        guard let source, sequence > 0 else { return [:] }
        let span = SpanID(FactID(source: source.id, sequence: exchange ?? sequence))
        guard let parent = TraceParent(of: trace, parent: span) else { return [:] }
        return [
            TraceParent.fieldName: parent.description,
            TraceParent.stateFieldName: TraceState.value(useCase: useCase, others: otherVendors),
        ]
    }

    package func headerFields(exchange: Int64?, as format: TransactionHeader.Format) -> [String: String] {
        format.fields(
            TransactionHeader(transaction: transaction, useCase: useCase, source: source?.id, exchange: exchange))
    }
}
