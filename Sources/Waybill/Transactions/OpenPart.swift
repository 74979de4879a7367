import Foundation
import WaybillAtomics
import WaybillCore
import WaybillStore

/// This source's part in one transaction, for as long as a handle to it is held.
///
/// Closed once; when the last handle goes away before that, closed as abandoned.
@usableFromInline
package final class OpenPart: Sendable {
    package let transaction: GUID
    /// The topmost transaction above it, as far as this process knows; itself where it stands by itself.
    package let root: GUID
    package let useCase: Int
    /// The type of its use case; `nil` if only the code is known.
    private let useCaseType: ObjectIdentifier?
    /// The sequence of its `opened` fact; 0 where that was not taken, and then nothing else is.
    package let sequence: Int64
    /// nil: recording is off.
    package let source: SourceRecorder?
    /// The same, kept alive by it: on the way of every event no reference is counted, which would cost more than the
    /// event.
    private let borrowedSource: Unmanaged<SourceRecorder>?
    /// Whether anything can ever come of it. Looked at before the call, so that what is disabled costs next to nothing.
    @usableFromInline let canRecord: Bool
    /// Whether the app is asked about each of its facts.
    private let asksApp: Bool
    /// Whether the app did not want its opening recorded: then nothing else of it is, and no request carries its header
    /// field.
    let isWithheld: Bool
    /// Whether another process began the transaction.
    let isJoined: Bool
    /// The exchange of another process that caused it; nil where none was told, and where it was begun here.
    package let cause: FactID?
    /// What the request said of its trace; nil where nothing was said, or nobody asked.
    let traceParent: TraceParent?
    /// The trace that its requests belong to: that of its root, which the request that it was joined by may know better.
    package let trace: GUID
    /// What other vendors say of that trace in `tracestate`, which its requests pass on; `nil` if none does.
    let otherVendors: String?

    /// Bits: whether it was closed, whether the server's side of its exchange is recorded, whether ``endedAt`` is known;
    /// and, above these, how many reports came. In one word, of which each needs room of its own.
    private let marks: Atomic<UInt64>
    /// When it was closed, by the clock's uptime.
    // right because it is written once, by whoever closes the part, before the mark that readers look for
    private nonisolated(unsafe) var endedAt: Int64 = 0

    private enum Mark { static let closed: UInt64 = 1, served: UInt64 = 2, ended: UInt64 = 4, report: UInt64 = 8 }

    /// How long a part stays current for the tasks that inherited it, once it has ended: work that a transaction has
    /// started may finish in it, but what runs for hours is none of it.
    package static let graceSeconds: Int64 = 60

    /// Spans and log lines that are recorded of one part: what others report has no end of its own.
    package static let reportLimit = 1_000

    init(
        transaction: GUID, root: GUID? = nil, useCase: Int, type: ObjectIdentifier? = nil, sequence: Int64,
        source: SourceRecorder?,
        isWithheld: Bool = false, isJoined: Bool = false, cause: FactID? = nil, traceParent: TraceParent? = nil,
        trace: GUID? = nil, otherVendors: String? = nil
    ) {
        self.transaction = transaction
        self.root = root ?? transaction
        self.useCase = useCase
        useCaseType = type
        self.sequence = sequence
        self.source = source
        borrowedSource = source.map { Unmanaged.passUnretained($0) }
        canRecord = source != nil
        asksApp = source?.asksApp ?? false
        self.isWithheld = isWithheld
        self.isJoined = isJoined
        self.cause = cause
        self.traceParent = traceParent
        let told = traceParent.flatMap { $0.trace.isVersion7 ? $0 : nil }
        self.trace = told?.trace ?? trace ?? self.root
        self.otherVendors = told == nil ? otherVendors : told?.others
        marks = Atomic(sequence == 0 ? Mark.closed : 0)
    }

    /// Whether it belongs to a use case, not only to one that has the same code by mistake.
    func isOf<U: UseCase>(_ useCase: U.Type) -> Bool {
        guard self.useCase == U.code else { return false }
        guard let useCaseType, useCaseType != ObjectIdentifier(U.self), let source else { return true }
        return source.useCases.areSame(useCaseType, U.self)
    }

    deinit { close(.abandoned, error: nil, attributes: [:]) }

    /// Records an event; also after the part was closed, and then it counts as late.
    @usableFromInline
    func log(_ code: Int, error: (any Error)?, attributes: Attributes) -> LogResult {
        if !asksApp, Fact.Event.isPlain(hasError: error != nil, attributes: attributes) { return logPlain(code) }
        return logWhole(code, error: error, attributes: attributes)
    }

    /// As ``log(_:error:attributes:)``; a number needs no box on the heap.
    @usableFromInline
    func log(_ code: Int, error: Int, attributes: Attributes) -> LogResult {
        logWhole(Fact.Event(code: code, error: RecordedError(code: Int64(error)), attributes: attributes))
    }

    @inline(__always)
    private func logPlain(_ code: Int) -> LogResult {
        guard let borrowedSource else { return .off }
        if isClosed { noteLateUse() }
        return borrowedSource._withUnsafeGuaranteedRef { $0.record(event: code, part: sequence) }
    }

    /// Whether it was closed, or never taken.
    private var isClosed: Bool { marks.load(ordering: .relaxed) & Mark.closed != 0 }

    /// Whether it ended so long ago that nothing inherits it any more.
    ///
    /// - Parameter start: When it was made current, by the clock's uptime, if that was after its end.
    func isOver(since start: Int64? = nil) -> Bool {
        guard marks.load(ordering: .acquiring) & Mark.ended != 0, let now = uptime else { return false }
        return now &- max(endedAt, start ?? endedAt) > Self.graceSeconds * 1_000_000
    }

    /// The time if it was closed already; `nil` if it is open, as a rule.
    var uptimeIfClosed: Int64? { isClosed ? uptime : nil }

    private var uptime: Int64? { source?.settings.clock.uptimeMicroseconds() }

    /// Counts that a handle was used when its part was over.
    @inline(never)
    func noteLateUse() { if isOver() { source?.note(.closedHandle, about: useCase) } }

    /// Counts that a closure is to run in a part that was closed before.
    func noteReuse() {
        if sequence > 0, isClosed, let source, source.isOn { source.note(.closedHandle, about: useCase) }
    }

    // Not inlined, so that what is plain needs no room for an event on the stack.
    @inline(never)
    private func logWhole(_ code: Int, error: (any Error)?, attributes: Attributes) -> LogResult {
        logWhole(Fact.Event(code: code, error: error == nil ? nil : source?.recorded(error), attributes: attributes))
    }

    /// Records an event that happened before; at the latest now.
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
        return source.record(.event(event), part: sequence, at: past).result
    }

    /// Records an event that has a name and no code.
    ///
    /// - Parameter date: When it happened; `nil`: now.
    func log(named name: String, at date: Date? = nil, error: (any Error)?, attributes: Attributes) -> LogResult {
        guard let source, source.isOn else { return .off }
        // What is not recorded needs no name.
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

    /// Records what a library reports, a span or a line of a log, as an event; beyond ``reportLimit`` it is counted only.
    @discardableResult
    package func report(_ name: String, error: (any Error)? = nil, attributes: Attributes) -> LogResult {
        guard marks.add(Mark.report) / Mark.report <= Self.reportLimit else { return omitReport() }
        return log(named: name, error: error, attributes: attributes)
    }

    /// Counts one that has no room.
    @discardableResult
    package func omitReport() -> LogResult {
        guard let source, source.isOn else { return .off }
        source.counters.add(to: \.omittedReports)
        return .refused
    }

    /// Whether the caller is the first to record the server's side of the exchange that it was joined for: there is one
    /// at most.
    func takesServerExchange() -> Bool { marks.set(bits: Mark.served) & Mark.served == 0 }

    /// Sets and removes attributes; also after the part was closed, and then it counts as late.
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

    /// Closes the part; only the first call counts. What the caller says is redacted here.
    ///
    /// - Parameter past: When it ended, in microseconds since the source started; `nil`: now.
    package func close(
        _ outcome: TransactionOutcome, error: RecordedError?, attributes: Attributes, at past: Int64? = nil
    ) {
        guard let source, marks.set(bits: Mark.closed) & Mark.closed == 0 else { return }
        endedAt = source.settings.clock.uptimeMicroseconds()
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
        _ = source.record(.closed(closed), part: sequence, at: past)
    }

    /// The fields of W3C Trace Context for a request of this transaction, by name; none where it is nobody's trace.
    ///
    /// - Parameter exchange: As in ``headerFields(exchange:as:)``; the part stands for one that is not logged.
    package func traceFields(exchange: Int64?) -> [String: String] {
        guard let source, sequence > 0 else { return [:] }
        let span = SpanID(FactID(source: source.id, sequence: exchange ?? sequence))
        guard let parent = TraceParent(of: trace, parent: span) else { return [:] }
        return [
            TraceParent.fieldName: parent.description,
            TraceParent.stateFieldName: TraceState.value(useCase: useCase, others: otherVendors),
        ]
    }

    /// The header fields for a request of this transaction, by name.
    ///
    /// - Parameter exchange: The sequence of the request's `exchange_opened` fact; nil where no exchange is logged.
    package func headerFields(exchange: Int64?, as format: TransactionHeader.Format) -> [String: String] {
        format.fields(
            TransactionHeader(transaction: transaction, useCase: useCase, source: source?.id, exchange: exchange))
    }
}
