public import Foundation
public import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A handle to this process's part in one transaction.
///
/// Copies refer to the same part. Finish it once. Releasing the last copy before that records `abandoned`.
///
/// ## Usage
///
/// ```swift
/// let login = transactions.begin(Login.self)
/// login.log(.initiated)
/// login.finish()
/// ```
///
/// `Event` is the use case, whose events alone can be logged, or `Int` for your own numbering.
public struct UseCaseTransaction<Event: Sendable>: Sendable {
    @usableFromInline package let part: OpenPart

    package init(part: OpenPart) { self.part = part }

    public var untyped: UseCaseTransaction<Int> { UseCaseTransaction<Int>(part: part) }

    /// The transaction's ID, the same in every process that takes part.
    public var id: GUID { part.transaction }

    /// The short code that users give to support; see ``WaybillCore/SupportCode``.
    public var supportCode: SupportCode { part.transaction.supportCode }

    /// Sets an attribute that was not known when the transaction began; `nil` removes it. Never blocks or throws.
    ///
    /// Lists, filters and pages show the latest value, the timeline also the time. It overrides the manager's context.
    /// Don't use it for values that change often, since each call is recorded.
    @discardableResult
    public func set(_ value: (any AttributeConvertible)?, forKey name: String) -> LogResult {
        part.set(Fact.AttributesSet(name, value))
    }

    /// Sets several attributes at once and keeps all others.
    @discardableResult
    public func set(_ attributes: Attributes) -> LogResult {
        part.set(Fact.AttributesSet(attributes: attributes))
    }

    /// Records an event that has a name but no code, such as a span or a log line. Never blocks or throws.
    ///
    /// Use few names: `GET /orders/{id}`, not `GET /orders/17`. Names are redacted and cut to 256 Unicode scalars.
    /// After 500 names, a process calls further events `other` and adds the attribute `event.name`.
    @discardableResult
    public func log(named name: String, error: (any Error)? = nil, attributes: Attributes = [:]) -> LogResult {
        part.log(named: name, error: error, attributes: attributes)
    }

    /// Sets the part's outcome. Only the first call counts.
    ///
    /// The outcome defaults to `.succeeded`, or to `.cancelled` or `.failed` by the error. In the process that began the
    /// transaction, it is the transaction's outcome.
    public func finish(
        _ outcome: TransactionOutcome.Final? = nil, error: (any Error)? = nil, attributes: Attributes = [:]
    ) {
        part.close(
            (outcome ?? .implied(by: error)).outcome, error: part.source?.recorded(error), attributes: attributes)
    }

    /// Sets the part's outcome with an error code, such as an HTTP status. Default: `.failed`.
    public func finish(_ outcome: TransactionOutcome.Final = .failed, code: Int, attributes: Attributes = [:]) {
        part.close(outcome.outcome, error: RecordedError(code: Int64(code)), attributes: attributes)
    }

    /// Returns the header fields that tie a request to this transaction, for HTTP stacks that Waybill does not capture.
    /// They are empty unless the URL's host is a correlated host.
    public func headers(for url: URL) -> [String: String] {
        guard let source = part.source, source.isOn, !part.isWithheld, source.correlates(with: url) else { return [:] }
        part.noteLateUse()
        source.announcedParts.note(part)
        let fields = part.headerFields(exchange: nil, as: source.settings.options.header)
        guard source.settings.options.server.traceContext != .off else { return fields }
        return fields.merging(part.traceFields(exchange: nil)) { $1 }
    }

    /// Runs a closure with this transaction as the current one, then finishes it.
    ///
    /// The outcome is that of `TransactionManager.perform`. A `finish` inside the closure wins.
    @discardableResult
    public func perform<Value, Failure: Error>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (UseCaseTransaction<Event>) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        do throws(Failure) {
            let result = try await withCurrent { () async throws(Failure) -> Value in try await body(self) }
            finish()
            return result
        } catch {
            finish(error)
            throw error
        }
    }

    /// Runs a synchronous closure with this transaction as the current one, then finishes it.
    @discardableResult
    public func perform<Value, Failure: Error>(
        _ body: (UseCaseTransaction<Event>) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        do throws(Failure) {
            part.noteReuse()
            // `withValue` throws no typed errors.
            let result = try TransactionScope.$ofTask.withValue(TransactionScope(part)) {
                Result { () throws(Failure) in try body(self) }
            }.get()
            finish()
            return result
        } catch {
            finish(error)
            throw error
        }
    }

    /// Runs a closure with this transaction as the current one and leaves the part open, for server adapters.
    public func withCurrent<Value, Failure: Error>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        part.noteReuse()
        return try await TransactionScope.$ofTask.withValue(TransactionScope(part)) {
            do throws(Failure) { return Result<Value, Failure>.success(try await body()) } catch {
                return .failure(error)
            }
        }.get()
    }

    private func finish(_ error: any Error) {
        if error.isCancellation {
            finish(.cancelled)
        } else {
            finish(.failed, error: error)
        }
    }

    /// Gives a helpful compiler error, which the compiler omits when two overloads fail alike.
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

// These methods are inlined, with an empty dictionary that needs no call, to keep a disabled manager cheap.
extension UseCaseTransaction where Event: UseCase {
    /// Records an event. ``TransactionManager/Options/Privacy-swift.struct/keepsErrorTexts`` keeps the error's text.
    /// Never blocks or throws.
    @inlinable
    @discardableResult
    public func log(_ event: Event, error: (any Error)? = nil, attributes: Attributes = Attributes()) -> LogResult {
        part.canRecord ? part.log(event.eventCode, error: error, attributes: attributes) : .off
    }

    /// Records an event with an error code, such as an HTTP status.
    @inlinable
    @discardableResult
    public func log(_ event: Event, code: Int, attributes: Attributes = Attributes()) -> LogResult {
        part.canRecord ? part.log(event.eventCode, code: code, attributes: attributes) : .off
    }

    /// Records an event with attributes: `login.log(.requestSent, ["attempt": 2])`.
    @inlinable
    @discardableResult
    public func log(_ event: Event, _ attributes: Attributes) -> LogResult { log(event, attributes: attributes) }
}

extension UseCaseTransaction where Event == Int {
    /// Records an event by its number.
    @inlinable
    @discardableResult
    public func log(_ event: Int, error: (any Error)? = nil, attributes: Attributes = Attributes()) -> LogResult {
        part.canRecord ? part.log(event, error: error, attributes: attributes) : .off
    }

    /// Records an event by its number, with an error code.
    @inlinable
    @discardableResult
    public func log(_ event: Int, code: Int, attributes: Attributes = Attributes()) -> LogResult {
        part.canRecord ? part.log(event, code: code, attributes: attributes) : .off
    }

    /// Records an event by its number, with attributes: `sync.log(4, ["attempt": 2])`.
    @inlinable
    @discardableResult
    public func log(_ event: Int, _ attributes: Attributes) -> LogResult { log(event, attributes: attributes) }
}

/// A transaction of any use case, as the type of a parameter. Only ``UseCaseTransaction`` conforms to it.
public protocol TransactionHandle: Sendable {
    /// The same part without its use case.
    var untyped: UseCaseTransaction<Int> { get }
}

extension UseCaseTransaction: TransactionHandle {}

extension (any TransactionHandle)? {
    package var part: OpenPart? { self?.untyped.part ?? TransactionScope.innermost }
}

extension TransactionOutcome {
    /// The outcomes that a caller can set; Waybill derives the others.
    public enum Final: Sendable, Equatable {
        /// The use case succeeded.
        case succeeded
        /// The use case failed because of an error.
        case failed
        /// The user or the app cancelled it.
        case cancelled
        /// The user left it unfinished, such as by closing the screen.
        case abandoned

        static func implied(by error: (any Error)?) -> Self {
            error.map { $0.isCancellation ? .cancelled : .failed } ?? .succeeded
        }

        var outcome: TransactionOutcome {
            switch self {
            case .succeeded: .succeeded
            case .failed: .failed
            case .cancelled: .cancelled
            case .abandoned: .abandoned
            }
        }
    }
}

extension UseCaseTransaction where Event: UseCase {
    /// Records an event that happened in the past. Never blocks or throws.
    ///
    /// Use it for events before recording started, and for times that another component measured. The time may be
    /// before the transaction began. A time in the future counts as now.
    ///
    /// ```swift
    /// launch.log(.processStarted, at: processStart)
    /// ```
    @discardableResult
    public func log(_ event: Event, at time: Date, error: (any Error)? = nil, attributes: Attributes = [:]) -> LogResult
    {
        part.log(event.eventCode, at: time, error: error, attributes: attributes)
    }

    /// Records an event at `end`, with its duration in microseconds in the attribute `duration_us`.
    @discardableResult
    public func record(
        _ event: Event, from start: Date, to end: Date, error: (any Error)? = nil, attributes: Attributes = [:]
    ) -> LogResult {
        log(event, at: max(start, end), error: error, attributes: attributes.with(durationFrom: start, to: end))
    }
}

extension UseCaseTransaction {
    /// Records a named event that happened in the past; see ``log(named:error:attributes:)``.
    @discardableResult
    public func log(named name: String, at time: Date, error: (any Error)? = nil, attributes: Attributes = [:])
        -> LogResult
    {
        part.log(named: name, at: time, error: error, attributes: attributes)
    }

    /// Records a named event at `end` with its duration in microseconds in the attribute `duration_us`.
    @discardableResult
    public func record(
        named name: String, from start: Date, to end: Date, error: (any Error)? = nil, attributes: Attributes = [:]
    ) -> LogResult {
        part.log(
            named: name, at: max(start, end), error: error,
            attributes: attributes.with(durationFrom: start, to: end))
    }

    /// Links this transaction to another one, such as the one that it retries, resumes, or was caused by.
    ///
    /// Pages link to the other transaction by an event called `link` with the attributes `transaction` and `relation`.
    ///
    /// ```swift
    /// upload.link(to: firstAttempt.id, as: "retry of")
    /// ```
    @discardableResult
    public func link(to transaction: GUID, as relation: String? = nil, attributes: Attributes = [:]) -> LogResult {
        var attributes = attributes
        attributes["transaction"] = transaction
        if let relation { attributes["relation"] = relation }
        return log(named: "link", attributes: attributes)
    }
}

extension TransactionManager {
    /// Records a user's words about a transaction, even long after its end.
    ///
    /// They are an event `feedback` with an attribute of that name, redacted and cut to 1,024 Unicode scalars.
    @discardableResult
    public func feedback(_ words: String, about transaction: any TransactionHandle) -> LogResult {
        let part = transaction.untyped.part
        // With a time, a handle may be used long after the end.
        return part.log(
            named: RecordedName.feedback, at: part.source?.settings.options.clock.date, error: nil,
            attributes: [RecordedName.feedback: words])
    }

    /// Records a complete transaction that was measured elsewhere, and returns its finished handle.
    ///
    /// An `end` in the future counts as now. The outcome defaults to the one that the error implies, and the parent to
    /// the current transaction. The handle can still log events with their times.
    @discardableResult
    public func record<U: UseCase>(
        _ useCase: U.Type, from start: Date, to end: Date, outcome: TransactionOutcome.Final? = nil,
        error: (any Error)? = nil, attributes: Attributes = [:], parent: TransactionParent? = .current
    ) -> UseCaseTransaction<U> {
        let source = sources.source
        source?.note(U.self)
        let opened = source?.microseconds(at: start)
        let part = begin(
            Fact.Opened(U.self, GUID(), attributes), type: ObjectIdentifier(U.self), below: parent, in: source,
            at: opened)
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
    /// Apps often wrap the `URLError` of a cancelled request.
    package var isCancellation: Bool {
        isCaused {
            $0 is CancellationError || ($0 as? URLError)?.code == .cancelled
                || ($0 as? any RecordableError)?.recordedAsCancelled == true
        }
    }
}
