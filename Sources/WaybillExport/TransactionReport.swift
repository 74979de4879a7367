public import Foundation
package import WaybillCore
public import WaybillReading

/// Transactions as one HTML file to hand on: readable without script or network, everything in it escaped and redacted.
///
/// The newest comes first; each unfolds into a waterfall of its events and exchanges, what happened in words, and its
/// requests as cURL commands. Its script adds a search, filters by outcome, and copying. The inspector shows
/// transactions by the same pieces.
///
/// ## Usage
///
/// ```swift
/// var report = TransactionReport(records: records)
/// report.selection = "failed, begun in the last 15 minutes"
/// try report.html.write(to: file)
/// ```
public struct TransactionReport: Sendable {
    /// What it shows, in any order.
    public var records: [TransactionRecord]
    /// The heading.
    public var title = "Transactions"
    /// Which transactions were asked for, in words; nil: all.
    public var selection: String?
    /// What a reader should know first, a sentence each: that there are more, or why there are none.
    public var notes: [String] = []
    /// When it was made.
    public var made: Date
    /// Times are shown in this zone, and the report says so. Where it is UTC, a browser that runs the report's script
    /// shows them in its own zone, with UTC on hover.
    public var timeZone = TimeZone.current
    /// Names of header fields, query items and attributes whose values are secret, besides the well-known ones.
    public var additionalSecretNames: [String] = []
    /// Names whose values are no secrets, though they are called like some. Default: none.
    public var visibleNames: [String] = []

    /// What was kept of bodies, by exchange.
    package var bodies: [Fact.ID: ExchangeBodies] = [:]

    /// Makes a report of transactions; by default it is made now.
    public init(records: [TransactionRecord], made: Date = Date()) {
        self.records = records
        self.made = made
    }

    /// The whole file, UTF-8.
    public var html: Data {
        Data(html(redactedBy: Redactor(additionalNames: additionalSecretNames, visibleNames: visibleNames)))
    }

    /// The whole file, redacted otherwise than ``additionalSecretNames`` say.
    package func html(redactedBy redactor: Redactor) -> [UInt8] {
        var report = self
        report.records.sort(by: Self.precedes)
        return ReportPage(redactor.redacted(report)).page.html.bytes
    }

    /// The newest first; ties by ID.
    private static func precedes(_ left: TransactionRecord, _ right: TransactionRecord) -> Bool {
        (left.summary.begunMicroseconds, left.summary.id) > (right.summary.begunMicroseconds, right.summary.id)
    }
}

extension TransactionReport: Redactable {
    package func redacted(by redactor: Redactor) -> Self {
        var report = self
        report.records = records.mapOnThreads { $0.redacted(by: redactor) }
        report.bodies = bodies.redacted(by: redactor)
        report.title = redactor.text(title)
        report.selection = selection.redacted(by: redactor)
        report.notes = notes.redacted(by: redactor)
        return report
    }
}
