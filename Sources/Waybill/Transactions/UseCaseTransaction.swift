public import Foundation
public import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A handle to this process's part in one transaction.
///
/// Copies stand for the same part. Finish it once; when the last copy goes away unfinished, the part is recorded as
/// abandoned.
///
/// ## Usage
///
/// ```swift
/// let login = transactions.begin(Login.self)
/// login.log(.initiated)
/// login.finish()
/// ```
///
/// `Event` is the use case, so that only its own events can be logged; `Int` for those who have their own numbering.
public struct UseCaseTransaction<Event: Sendable>: Sendable {
    @usableFromInline package let part: OpenPart

    package init(part: OpenPart) { self.part = part }

    /// The transaction's ID, the same in every process that takes part.
    public var id: GUID { part.transaction }

    /// The short code for support; see ``WaybillCore/SupportCode``.
    public var supportCode: SupportCode { part.transaction.supportCode }

    /// Says something about the transaction that was not known when it began; never blocks, never throws.
    ///
    /// Not an event: lists, filters, questions and pages have it among the attributes of the transaction, the latest
    /// value of each name, as if it had been said at the beginning; the timeline says when it was. It wins over the
    /// manager's context of the same name. Not for what changes all the time: each call is recorded.
    ///
    /// - Parameters:
    ///   - name: The attribute's name.
    ///   - value: Its value from now on; nil: it has none any more.
    /// - Returns: What became of it; see ``WaybillCore/LogResult``.
    @discardableResult
    public func set(_ name: String, _ value: (any AttributeConvertible)?) -> LogResult {
        part.set(Fact.AttributesSet(name, value))
    }

    /// Says several things at once; names that are not among them keep their values.
    @discardableResult
    public func set(_ attributes: Attributes) -> LogResult {
        part.set(Fact.AttributesSet(attributes: attributes))
    }

    /// Records that something happened that has a name and no code: a span, a line of a log; never blocks, never throws.
    ///
    /// Its code is made of the name, the same in every process. Names are meant to be few, as `GET /orders/{id}` and not
    /// `GET /orders/17`: a process keeps 500 of them; of those beyond, the event is called `other` and has its name
    /// in the attribute `event.name`. What an app knows beforehand is better a case of its use case.
    ///
    /// - Parameters:
    ///   - name: What people see, redacted, and cut after 256 Unicode scalars.
    ///   - error: What went wrong with it; domain and code are kept, the text only if the manager was told to.
    ///   - attributes: What else is to be said.
    /// - Returns: What became of it; see ``WaybillCore/LogResult``.
    @discardableResult
    public func log(named name: String, error: (any Error)? = nil, attributes: Attributes = [:]) -> LogResult {
        part.log(named: name, error: error, attributes: attributes)
    }

    /// Gives the part its outcome. The first call counts; later ones are ignored.
    ///
    /// - Parameters:
    ///   - outcome: How it ended. For the process that began the transaction, this is the transaction's outcome. Default:
    ///     `.succeeded` without an error, `.canceled` if the error is a cancellation, `.failed` with any other error.
    ///   - error: Why; its domain and code are kept, its text only if the manager was told to.
    ///   - attributes: What else is to be said.
    public func finish(
        _ outcome: TransactionOutcome.Final? = nil, error: (any Error)? = nil, attributes: Attributes = [:]
    ) {
        part.close(
            (outcome ?? .implied(by: error)).outcome, error: part.source?.recorded(error), attributes: attributes)
    }

    /// Gives the part its outcome, with a number that says why, e.g. an HTTP status. Default: `.failed`.
    public func finish(_ outcome: TransactionOutcome.Final = .failed, error code: Int, attributes: Attributes = [:]) {
        part.close(outcome.outcome, error: RecordedError(code: Int64(code)), attributes: attributes)
    }

    /// The header fields that tie a request to this transaction, for HTTP stacks that the library does not capture.
    ///
    /// - Parameter url: Where the request goes.
    /// - Returns: Names and values; empty unless the host is on the manager's list of correlated hosts.
    public func headers(for url: URL) -> [String: String] {
        guard let source = part.source, source.isOn, !part.isWithheld, source.correlates(with: url) else { return [:] }
        part.noteLateUse()
        source.announcedParts.note(part)
        let fields = part.headerFields(exchange: nil, as: source.settings.header)
        guard source.settings.traceContext != .off else { return fields }
        return fields.merging(part.traceFields(exchange: nil)) { $1 }
    }

    /// Runs a closure with this transaction as the current one, and closes the part by how it ends.
    ///
    /// Returning means succeeded; `CancellationError` or `URLError.cancelled`, also behind another error, means canceled;
    /// any other error means failed with that error. A `finish` inside wins. The closure keeps the caller's isolation.
    @discardableResult
    public func perform<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (UseCaseTransaction<Event>) async throws -> Result
    ) async rethrows -> Result {
        do {
            let result = try await makingCurrent { try await body(self) }
            finish()
            return result
        } catch {
            finish(error)
            throw error
        }
    }

    /// As the asynchronous form, for closures that do not wait.
    @discardableResult
    public func perform<Result>(_ body: (UseCaseTransaction<Event>) throws -> Result) rethrows -> Result {
        do {
            part.noteReuse()
            let result = try TransactionScope.$ofTask.withValue(TransactionScope(part)) { try body(self) }
            finish()
            return result
        } catch {
            finish(error)
            throw error
        }
    }

    /// Runs a closure with this transaction as the current one, and leaves the part open.
    ///
    /// For adapters to server frameworks, which close the part by the response's status.
    public func makingCurrent<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        part.noteReuse()
        return try await TransactionScope.$ofTask.withValue(TransactionScope(part)) { try await body() }
    }

    private func finish(_ error: any Error) {
        if error.isCancellation {
            finish(.canceled)
        } else {
            finish(.failed, error: error)
        }
    }

    /// For a compiler error that helps: of two overloads that fail alike, the compiler says nothing at all.
    @available(
        *, unavailable, message: "`perform` takes a closure. Put what describes the transaction into its attributes."
    )
    public func perform(
        _ unknown: Any, _ body: (UseCaseTransaction<Event>) async throws -> Any
    ) {}

    @available(*, unavailable, renamed: "finish(_:attributes:)")
    public func finish(_ outcome: TransactionOutcome.Final, _ attributes: Attributes) {}

    @available(*, unavailable, renamed: "log(named:attributes:)")
    public func log(named name: String, _ attributes: Attributes) {}
}

// Inlined, with an empty dictionary that needs no call to make, so that a disabled manager costs its callers next to
// nothing.
extension UseCaseTransaction where Event: UseCase {
    /// Records that something happened; never blocks, never throws.
    ///
    /// - Parameters:
    ///   - event: One of the use case's own events.
    ///   - error: What went wrong with it; domain and code are kept, the text only if the manager was told to.
    ///   - attributes: What else is to be said.
    /// - Returns: What became of it; see ``WaybillCore/LogResult``.
    @inlinable
    @discardableResult
    public func log(_ event: Event, error: (any Error)? = nil, attributes: Attributes = Attributes()) -> LogResult {
        part.canRecord ? part.log(event.eventCode, error: error, attributes: attributes) : .off
    }

    /// Records that something happened, with a number that says what went wrong, e.g. an HTTP status.
    @inlinable
    @discardableResult
    public func log(_ event: Event, error code: Int, attributes: Attributes = Attributes()) -> LogResult {
        part.canRecord ? part.log(event.eventCode, error: code, attributes: attributes) : .off
    }

    /// Records that something happened: `login.log(.requestSent, ["attempt": 2])`.
    @inlinable
    @discardableResult
    public func log(_ event: Event, _ attributes: Attributes) -> LogResult { log(event, attributes: attributes) }
}

extension UseCaseTransaction where Event == Int {
    /// Records an event by its number, for those who have their own numbering.
    @inlinable
    @discardableResult
    public func log(_ event: Int, error: (any Error)? = nil, attributes: Attributes = Attributes()) -> LogResult {
        part.canRecord ? part.log(event, error: error, attributes: attributes) : .off
    }

    /// Records an event by its number, with a number that says what went wrong.
    @inlinable
    @discardableResult
    public func log(_ event: Int, error code: Int, attributes: Attributes = Attributes()) -> LogResult {
        part.canRecord ? part.log(event, error: code, attributes: attributes) : .off
    }

    /// Records an event by its number: `sync.log(4, ["attempt": 2])`.
    @inlinable
    @discardableResult
    public func log(_ event: Int, _ attributes: Attributes) -> LogResult { log(event, attributes: attributes) }
}

extension TransactionOutcome {
    /// The outcomes that a caller can give; the others are derived.
    public enum Final: Sendable, Hashable {
        /// The use case reached its aim.
        case succeeded
        /// It did not, because of an error.
        case failed
        /// It was ended before that, by the user or by the app.
        case canceled
        /// Left without finishing, e.g. the screen was closed. Recorded by itself when a handle goes away.
        case abandoned

        /// The outcome of what ended with an error, or without one.
        static func implied(by error: (any Error)?) -> Self {
            error.map { $0.isCancellation ? .canceled : .failed } ?? .succeeded
        }

        var outcome: TransactionOutcome {
            switch self {
            case .succeeded: .succeeded
            case .failed: .failed
            case .canceled: .canceled
            case .abandoned: .abandoned
            }
        }
    }
}

// What was measured elsewhere, or happened before it could be recorded, and links to other transactions.
extension UseCaseTransaction where Event: UseCase {
    /// Records that something happened at a time in the past; never blocks, never throws.
    ///
    /// For what happened before it could be recorded, such as the start of the process, and for times that another
    /// component measured. Timelines and questions use that time, also if it is before the transaction began.
    ///
    /// ```swift
    /// launch.log(.processStarted, at: processStart)
    /// ```
    ///
    /// - Parameters:
    ///   - event: One of the use case's own events.
    ///   - time: When it happened. A time in the future counts as now.
    ///   - error: What went wrong with it; domain and code are kept, the text only if the manager was told to.
    ///   - attributes: What else is to be said.
    /// - Returns: What became of it; see ``WaybillCore/LogResult``.
    @discardableResult
    public func log(_ event: Event, at time: Date, error: (any Error)? = nil, attributes: Attributes = [:]) -> LogResult
    {
        part.log(event.eventCode, at: time, error: error, attributes: attributes)
    }

    /// Records an event whose duration was measured elsewhere: it happened at `end`, and the attribute `duration_us` says
    /// how many microseconds it took.
    ///
    /// - Parameters:
    ///   - event: One of the use case's own events.
    ///   - start: When it began.
    ///   - end: When it ended; a time before `start` counts as `start`.
    ///   - error: What went wrong with it.
    ///   - attributes: What else is to be said.
    /// - Returns: What became of it; see ``WaybillCore/LogResult``.
    @discardableResult
    public func record(
        _ event: Event, from start: Date, to end: Date, error: (any Error)? = nil, attributes: Attributes = [:]
    ) -> LogResult {
        log(event, at: max(start, end), error: error, attributes: attributes.with(durationFrom: start, to: end))
    }
}

extension UseCaseTransaction {
    /// Records that something without a code happened at a time in the past, as ``log(named:error:attributes:)``.
    @discardableResult
    public func log(named name: String, at time: Date, error: (any Error)? = nil, attributes: Attributes = [:])
        -> LogResult
    {
        part.log(named: name, at: time, error: error, attributes: attributes)
    }

    /// Records an event without a code whose duration was measured elsewhere: it happened at `end`, and the attribute
    /// `duration_us` says how many microseconds it took.
    @discardableResult
    public func record(
        named name: String, from start: Date, to end: Date, error: (any Error)? = nil, attributes: Attributes = [:]
    ) -> LogResult {
        part.log(
            named: name, at: max(start, end), error: error,
            attributes: attributes.with(durationFrom: start, to: end))
    }

    /// Links this transaction to another one: the one that it retries, that it continues after a restart, or that caused
    /// it without being its parent.
    ///
    /// Pages, reports and `waybill show` lead from this transaction to the other one, which may be in another store. The
    /// link is an event called `link`, with the attributes `transaction` and `relation`.
    ///
    /// ```swift
    /// upload.link(to: firstAttempt.id, as: "retry of")
    /// ```
    ///
    /// - Parameters:
    ///   - transaction: The ID of the other one.
    ///   - relation: What this transaction is to the other one, in a few words; `nil` leaves it open.
    ///   - attributes: What else is to be said.
    /// - Returns: What became of it; see ``WaybillCore/LogResult``.
    @discardableResult
    public func link(to transaction: GUID, as relation: String? = nil, attributes: Attributes = [:]) -> LogResult {
        var attributes = attributes
        attributes["transaction"] = transaction
        if let relation { attributes["relation"] = relation }
        return log(named: "link", attributes: attributes)
    }
}

extension TransactionManager {
    /// Records a whole transaction that was measured elsewhere, with its outcome.
    ///
    /// - Parameters:
    ///   - useCase: What the user was doing.
    ///   - start: When it began.
    ///   - end: When it ended; a time before `start` counts as `start`, a time in the future as now.
    ///   - outcome: How it ended. Default: as `finish(_:error:attributes:)` derives it from the error.
    ///   - error: Why it did not succeed.
    ///   - attributes: What describes the transaction.
    ///   - parent: The transaction below which it ran; `nil` for none. Default: the current one.
    /// - Returns: The handle, to log events with their times. It is finished.
    @discardableResult
    public func record<U: UseCase>(
        _ useCase: U.Type, from start: Date, to end: Date, outcome: TransactionOutcome.Final? = nil,
        error: (any Error)? = nil, attributes: Attributes = [:], parent: TransactionParent? = .current
    ) -> UseCaseTransaction<U> {
        let source = sources.source
        source?.note(U.self)
        let opened = source?.microseconds(at: start)
        let part = begin(
            U.code, type: ObjectIdentifier(U.self), timeout: U.timeout, attributes: attributes, below: parent,
            in: source, at: opened)
        let took = max(0, end.microseconds - start.microseconds)
        let closed = opened.flatMap { opened in
            source.map { min(opened + took, $0.writer.recorder.elapsedMicroseconds) }
        }
        part.close(
            (outcome ?? .implied(by: error)).outcome, error: source?.recorded(error), attributes: [:], at: closed)
        return UseCaseTransaction(part: part)
    }
}

extension Attributes {
    fileprivate func with(durationFrom start: Date, to end: Date) -> Attributes {
        var attributes = self
        attributes["duration_us"] = Swift.max(0, end.microseconds - start.microseconds)
        return attributes
    }
}

extension Error {
    /// Whether the caller canceled the work, which is not a failure. The errors behind this one count, too: an app often
    /// wraps the `URLError` of a canceled request in an error of its own.
    package var isCancellation: Bool {
        isCaused {
            $0 is CancellationError || ($0 as? URLError)?.code == .cancelled
                || ($0 as? any TransactionError)?.recordedAsCanceled == true
        }
    }
}
