public import Foundation
public import WaybillCore

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
