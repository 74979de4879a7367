public import Foundation
public import WaybillCore

// Records keep whole microseconds, as rows and JSON have them; these are the same as dates and durations.

extension TransactionSummary {
    /// When it began.
    public var begun: Date { Date(microseconds: begunMicroseconds) }
    /// From opening to closing; nil while there is no closing.
    public var duration: Duration? { durationMicroseconds.map { .microseconds($0) } }

    /// Makes a summary.
    public init(
        id: GUID, useCase: Int, useCaseName: String, outcome: TransactionOutcome, begun: Date, duration: Duration?,
        error: RecordedError? = nil, attributes: Attributes = [:], sourceCount: Int, eventCount: Int,
        exchangeCount: Int,
        isWaitingForBeginner: Bool = false, endedBy: SourceEnd? = nil,
        parent: GUID? = nil, parentPart: Fact.ID? = nil, children: Children? = nil, sampling: Fact.Sampling? = nil
    ) {
        self.init(
            id: id, useCase: useCase, useCaseName: useCaseName, outcome: outcome, begunMicroseconds: begun.microseconds,
            durationMicroseconds: duration?.microseconds, error: error, attributes: attributes,
            sourceCount: sourceCount,
            eventCount: eventCount, exchangeCount: exchangeCount, isWaitingForBeginner: isWaitingForBeginner,
            endedBy: endedBy, parent: parent, parentPart: parentPart, children: children, sampling: sampling)
    }
}

extension TransactionRecord.Part {
    /// When it was begun or joined.
    public var opened: Date { Date(microseconds: openedMicroseconds) }
    /// When it was closed; nil where it was not.
    public var closed: Date? { closedMicroseconds.map { Date(microseconds: $0) } }
    /// Microseconds from its opening to its closing, by its source's own clock; `nil` where it was not closed.
    package var durationMicroseconds: Int64? { closedMicroseconds?.subtracting(openedMicroseconds) }

    /// Makes a part.
    public init(
        id: Fact.ID, isJoined: Bool, cause: Fact.ID? = nil, opened: Date, closed: Date?, outcome: TransactionOutcome,
        error: RecordedError? = nil, attributes: Attributes = [:]
    ) {
        self.init(
            id: id, isJoined: isJoined, cause: cause, openedMicroseconds: opened.microseconds,
            closedMicroseconds: closed?.microseconds,
            outcome: outcome, error: error, attributes: attributes)
    }
}

extension TransactionRecord.Entry {
    /// When it happened, by its source's clock anchors.
    public var time: Date { Date(microseconds: timeMicroseconds) }

    /// Makes an entry.
    public init(
        id: Fact.ID, kind: TransactionRecord.Kind, part: Int64, time: Date, label: String, code: Int? = nil,
        error: RecordedError? = nil,
        attributes: Attributes = [:], exchange: Fact.ID? = nil, isLate: Bool = false
    ) {
        self.init(
            id: id, kind: kind, part: part, timeMicroseconds: time.microseconds, label: label, code: code, error: error,
            attributes: attributes, exchange: exchange, isLate: isLate)
    }
}

extension TransactionRecord.Exchange {
    /// When it was opened.
    public var opened: Date { Date(microseconds: openedMicroseconds) }
    /// When the request's last byte was handed over; nil where it was not measured.
    public var sent: Date? { transfer.sentAtMicroseconds.map { Date(microseconds: $0) } }
    /// When the head of the response came; nil where it was not measured.
    public var firstByte: Date? { firstByteMicroseconds.map { Date(microseconds: $0) } }
    /// When it was closed; nil while it is in progress.
    public var closed: Date? { closedMicroseconds.map { Date(microseconds: $0) } }
    /// Microseconds from its opening to its closing, by its source's own clock; `nil` while it is in progress.
    package var durationMicroseconds: Int64? { closedMicroseconds?.subtracting(openedMicroseconds) }

    /// Makes an exchange.
    public init(
        id: Fact.ID, part: Int64, role: Fact.Role, method: String, url: String, state: Fact.ExchangeState?,
        status: Int?,
        opened: Date,
        firstByte: Date? = nil, closed: Date?, sentByteCount: Int64? = nil, receivedByteCount: Int64? = nil,
        requestHeaderFields: [Fact.HeaderField] = [], responseHeaderFields: [Fact.HeaderField] = [],
        error: RecordedError? = nil,
        transfer: Fact.Transfer = Fact.Transfer()
    ) {
        self.init(
            id: id, part: part, role: role, method: method, url: url, state: state, status: status,
            openedMicroseconds: opened.microseconds, firstByteMicroseconds: firstByte?.microseconds,
            closedMicroseconds: closed?.microseconds, sentByteCount: sentByteCount,
            receivedByteCount: receivedByteCount,
            requestHeaderFields: requestHeaderFields, responseHeaderFields: responseHeaderFields, error: error,
            transfer: transfer)
    }
}

extension SourceRecord {
    /// When it started; nil where no clock anchor is known.
    public var started: Date? { startedMicroseconds.map { Date(microseconds: $0) } }
    /// When a set of it last arrived; nil for a source that recorded into this very store.
    public var heard: Date? { heardMicroseconds.map { Date(microseconds: $0) } }

    /// Makes a record.
    public init(
        id: GUID, installation: GUID? = nil, app: String, appVersion: String, device: String, os: String,
        osVersion: String,
        attributes: Attributes = [:], started: Date?, heard: Date?, hasEnded: Bool, ledger: Ledger, gaps: [Gap] = [],
        endedBy: SourceEnd? = nil
    ) {
        self.init(
            id: id, installation: installation, app: app, appVersion: appVersion, device: device, os: os,
            osVersion: osVersion,
            attributes: attributes, startedMicroseconds: started?.microseconds, heardMicroseconds: heard?.microseconds,
            hasEnded: hasEnded, ledger: ledger, gaps: gaps, endedBy: endedBy)
    }
}

extension ClockAlignment.Offset {
    /// What to add to its times: negative where its clock is ahead.
    public var duration: Duration { .microseconds(microseconds) }
    /// By how much that may be too much or too little.
    public var uncertainty: Duration { .microseconds(uncertaintyMicroseconds) }

    /// Makes an offset.
    public init(source: GUID, duration: Duration, uncertainty: Duration, sampleCount: Int) {
        self.init(
            source: source, microseconds: duration.microseconds, uncertaintyMicroseconds: uncertainty.microseconds,
            sampleCount: sampleCount)
    }
}

extension DeliveryState.QuarantineGroup {
    /// When the first was rejected.
    public var firstRejected: Date { Date(microseconds: firstMicroseconds) }
    /// When the last was rejected.
    public var lastRejected: Date { Date(microseconds: lastMicroseconds) }
}

extension DeliveryState.Hour {
    /// When it begins.
    public var begin: Date { Date(microseconds: beginMicroseconds) }
}
