package import Foundation
import Waybill
package import WaybillCore
package import WaybillReading
package import WaybillStore

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
        if !outcomes.isEmpty {
            words.append(outcomes.sorted { $0.rawValue < $1.rawValue }.map(Words.outcome).joined(separator: " or "))
        }
        if let since = sinceMicroseconds { words.append("begun since \(Words.time(since).prefix(19)) UTC") }
        if let until = untilMicroseconds { words.append("begun before \(Words.time(until).prefix(19)) UTC") }
        if let text, !text.isEmpty { words.append("with “\(text)”") }
        for condition in conditions {
            if case .text(let text) = condition { words.append("with “\(text)”") } else { words.append("\(condition)") }
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}
