public import Foundation
import WaybillCore

// Records keep whole microseconds, as rows and JSON have them; these are the same as dates and durations.

extension TransactionSummary {
    /// When it began.
    public var begun: Date { Date(microseconds: begunMicroseconds) }
    /// From opening to closing; nil while there is no closing.
    public var duration: Duration? { durationMicroseconds.map { .microseconds($0) } }
}

extension TransactionRecord.Part {
    /// When it was begun or joined.
    public var opened: Date { Date(microseconds: openedMicroseconds) }
    /// When it was closed; nil where it was not.
    public var closed: Date? { closedMicroseconds.map { Date(microseconds: $0) } }
}

extension TransactionRecord.Entry {
    /// When it happened, by its source's clock anchors.
    public var time: Date { Date(microseconds: timeMicroseconds) }
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
}

extension SourceRecord {
    /// When it started; nil where no clock anchor is known.
    public var started: Date? { startedMicroseconds.map { Date(microseconds: $0) } }
    /// When a set of it last arrived; nil for a source that recorded into this very store.
    public var heard: Date? { heardMicroseconds.map { Date(microseconds: $0) } }
}

extension ClockAlignment.Offset {
    /// What to add to its times: negative where its clock is ahead.
    public var duration: Duration { .microseconds(microseconds) }
    /// By how much that may be too much or too little.
    public var uncertainty: Duration { .microseconds(uncertaintyMicroseconds) }
}
