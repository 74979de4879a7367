public import Foundation
import Waybill
package import WaybillCore
public import WaybillQueries
package import WaybillStore

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
    package var bodies: [FactID: ExchangeBodies] = [:]

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

/// Reports of a store at hand.
extension TransactionReport {
    /// The most transactions that a report holds: beyond it, a page is no longer something to read, and exports are for
    /// that.
    package static let limit = 2_000

    /// Said where there are more than ``limit``.
    package static let thereAreMore = "These are the newest \(limit); there are more."

    /// Reads the newest transactions that pass a filter.
    ///
    /// - Parameter wall: Now, in microseconds since 1970: decides what has timed out.
    package init(_ reader: StoreReader, matching filter: TransactionFilter, limit: Int, now wall: Int64) throws {
        let (page, records) = try reader.read { () throws(WaybillError) in
            let page = try reader.transactions(matching: filter, limit: limit, after: nil, now: wall)
            let names = NameTable(reader.connection)
            var records: [TransactionRecord] = []
            for row in page.rows {
                if let record = try reader.transaction(row.id, now: wall, names: names) { records.append(record) }
            }
            return (page, records)
        }
        self.init(records: records, made: Date(microseconds: wall))
        selection = filter.words
        try addBodies(of: reader)
        if page.next != nil { notes.append("These are the newest \(limit); there are more.") }
        if records.isEmpty { notes.append(try reader.whyEmpty(filter, now: wall)) }
        let useCases = Set(page.rows.map(\.useCase))
        notes += try reader.nameConflicts().filter { useCases.contains($0.useCase) }.map(\.description)
    }

    /// The bytes of bodies that a report holds at most: it has to be opened in a browser.
    package static let bodyByteLimit = 16 << 20

    /// Said where there are more than ``bodyByteLimit``.
    package static let bodiesAreLeftOut = "Bodies of older requests are left out: they would be too much for a page."

    /// Adds the bodies that the store kept, of the newest first.
    private mutating func addBodies(of reader: StoreReader) throws {
        let (bodies, isCut) = try reader.bodies(of: records.flatMap(\.exchanges).map(\.id), limit: Self.bodyByteLimit)
        self.bodies = bodies
        if isCut { notes.append(Self.bodiesAreLeftOut) }
    }

    /// Writes the file, whole or not at all, in place of what is there; only its owner may read it.
    ///
    /// - Throws: ``WaybillError`` when it cannot be written.
    package func write(to file: URL) throws(WaybillError) {
        try WholeFile.write(to: file) { Array(html) }
    }

    /// `waybill-shop-2026-03-01-143105.html`.
    func fileName(app: String) -> String {
        let time = WallTime(made.microseconds, in: timeZone)
        let name = app.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "-" }.prefix(60)
        return "waybill-\(String(name))-\(time.date)-\(time.time.prefix(8).replacing(":", with: "")).html"
    }
}

extension TransactionFilter {
    /// For people; nil where everything passes.
    package var words: String? {
        var words: [String] = []
        if let useCase { words.append("use case \(useCase)") }
        if let outcomes {
            words.append(outcomes.sorted { $0.rawValue < $1.rawValue }.map(Words.outcome).joined(separator: " or "))
        }
        if let since = sinceMicroseconds { words.append("begun since \(Words.time(since).prefix(19)) UTC") }
        if let until = untilMicroseconds { words.append("begun before \(Words.time(until).prefix(19)) UTC") }
        for condition in terms {
            if case .text(let text) = condition { words.append("with “\(text)”") } else { words.append("\(condition)") }
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
