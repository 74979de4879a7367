public import Foundation
import Waybill
package import WaybillCore
public import WaybillQueries
package import WaybillStore

/// Transactions as one HTML file to share. It works without script or network, and its content is escaped and redacted.
///
/// The newest transaction is first. Each opens to a waterfall of its events and exchanges, and each exchange opens to
/// its fields and its cURL command. A script adds search, a filter by outcome, and copy buttons.
///
/// ## Usage
///
/// ```swift
/// var report = TransactionReport(records: records)
/// report.selection = "failed, begun in the last 15 minutes"
/// try report.html.write(to: file)
/// ```
public struct TransactionReport: Sendable {
    /// The transactions, in any order.
    public var records: [TransactionRecord]
    /// The heading.
    public var title = "Transactions"
    /// A description of the selection; `nil` if it includes all transactions.
    public var selection: String?
    /// Notes at the top of the report, one sentence each.
    public var notes: [String] = []
    /// The time of creation.
    public var made: Date
    /// The time zone of the shown times. Default: the current one.
    ///
    /// If it is UTC, the script shows times in the browser's zone, with UTC on hover.
    public var timeZone = TimeZone.current
    /// Names of header fields, query items and attributes whose values are secret, besides the well-known ones.
    public var additionalSecretNames: [String] = []
    /// Names whose values are not secret although the default rules redact them. Default: none.
    public var visibleNames: [String] = []

    package var bodies: [FactID: ExchangeBodies] = [:]

    /// Creates a report of transactions; `made` defaults to now.
    public init(records: [TransactionRecord], made: Date = Date()) {
        self.records = records
        self.made = made
    }

    /// The whole file in UTF-8.
    public var html: Data {
        Data(html(redactedBy: Redactor(additionalNames: additionalSecretNames, visibleNames: visibleNames)))
    }

    package func html(redactedBy redactor: Redactor) -> [UInt8] {
        var report = self
        report.records.sort { left, right in
            (left.summary.begunMicroseconds, left.summary.id) > (right.summary.begunMicroseconds, right.summary.id)
        }
        return ReportPage(report: redactor.redacted(report)).html.bytes
    }
}

extension TransactionReport: Redactable {
    package mutating func redact(by redactor: Redactor) {
        records = records.mapOnThreads { $0.redacted(by: redactor) }
        bodies.redact(by: redactor)
        title.redact(by: redactor)
        selection.redact(by: redactor)
        notes.redact(by: redactor)
    }
}

extension TransactionReport {
    package static let limit = 2_000

    package static let thereAreMore = "These are the newest \(limit); there are more."

    /// - Parameter wall: The current time in microseconds since 1970, which decides the timeouts.
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
        let (bodies, isCut) = try reader.bodies(of: records.flatMap(\.exchanges).map(\.id), limit: Self.bodyByteLimit)
        self.bodies = bodies
        if isCut { notes.append(Self.bodiesAreLeftOut) }
        if page.next != nil { notes.append("These are the newest \(limit); there are more.") }
        if records.isEmpty { notes.append(try reader.whyEmpty(filter, now: wall)) }
        let useCases = Set(page.rows.map(\.useCase))
        notes += try reader.nameConflicts().filter { useCases.contains($0.useCase) }.map(\.description)
    }

    /// A browser must be able to open the report.
    package static let bodyByteLimit = 16 << 20

    package static let bodiesAreLeftOut = "Bodies of older requests are left out: they would be too much for a page."

    package func write(to file: URL) throws(WaybillError) {
        try WholeFile.write(to: file) { Array(html) }
    }

    func fileName(app: String) -> String {
        let time = WallTime(made.microseconds, in: timeZone)
        let name = app.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "-" }.prefix(60)
        return "waybill-\(String(name))-\(time.date)-\(time.time.prefix(8).replacing(":", with: "")).html"
    }
}

extension TransactionFilter {
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
