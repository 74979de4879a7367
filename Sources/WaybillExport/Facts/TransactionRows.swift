package import Foundation
package import WaybillCore
package import WaybillQueries
import WaybillStore

/// A CSV with one row for each transaction, for people with a spreadsheet.
struct TransactionRows {
    private var rows = CSVFormat()
    private let style: CSVStyle
    private let redactor: Redactor

    init(_ style: CSVStyle, redactor: Redactor) { (self.style, self.redactor) = (style, redactor) }

    /// What stands before the first row.
    var header: [UInt8] {
        let begun: StaticString = style.hasISOTimes ? "begun" : "begun_us"
        return style.beginning
            + CSVFormat.header([
                "transaction_id", "support_code", "use_case", "use_case_name", "outcome", begun, "duration_us",
                "ended_by", "error_domain", "error_code", "error_name", "error_text", "attributes", "sources", "events",
                "exchanges", "parent", "children", "waiting_for_beginner",
            ])
    }

    /// The row of a transaction. What has no value is an empty cell.
    mutating func row(of summary: TransactionSummary) -> [UInt8] {
        let summary = redactor.redacted(summary).value
        rows.removeAll()
        rows.guid("", summary.id)
        rows.text("", summary.id.supportCode.description)
        rows.integer("", summary.useCase)
        rows.text("", summary.useCaseName)
        rows.text("", summary.outcome.name)
        if style.hasISOTimes {
            rows.text("", Words.iso8601(summary.begunMicroseconds))
        } else {
            rows.integer("", summary.begunMicroseconds)
        }
        rows.integer("", summary.durationMicroseconds)
        rows.text("", summary.endedBy?.name)
        rows.text("", summary.error.flatMap { $0.domain.isEmpty ? nil : $0.domain })
        rows.integer("", summary.error?.code)
        rows.text("", summary.error?.name)
        rows.text("", summary.error?.text)
        rows.attributes("", summary.attributes)
        rows.integer("", summary.sourceCount)
        rows.integer("", summary.eventCount)
        rows.integer("", summary.exchangeCount)
        rows.guid("", summary.parent)
        rows.integer("", summary.children?.count)
        rows.bool("", summary.isWaitingForBeginner ? true : nil)
        rows.endRow()
        return rows.bytes
    }
}

extension ExportingStore {
    /// Writes a CSV with one row for each transaction of a request, of all its pages, in their order.
    ///
    /// - Returns: The number of transactions.
    /// - Throws: `.notFound` if there is none, before anything was handed over.
    package func writeTransactions(
        _ request: ListRequest, style: CSVStyle, isCompressed: Bool, redactor: Redactor,
        to put: ([UInt8]) throws -> Void
    ) async throws -> Int {
        let gzip = isCompressed ? try Gzip() : nil
        var (rows, request, count) = (TransactionRows(style, redactor: redactor), request, 0)
        request[.limit] = "\(ListRequest.limits.upperBound)"
        repeat {
            let page = try await transactions(request)
            guard count > 0 || !page.rows.isEmpty else {
                throw WaybillError(
                    .notFound,
                    (["Nothing was exported."] + [page.whyEmpty].compactMap(\.self)).joined(separator: " "))
            }
            let bytes = (count == 0 ? rows.header : []) + page.rows.flatMap { rows.row(of: $0) }
            try put(gzip?.compress(bytes) ?? bytes)
            count += page.rows.count
            request[.cursor] = page.next
        } while request[.cursor] != nil
        if let gzip { try put(gzip.finish()) }
        return count
    }

    /// Writes the same into a file, in place of one of that name; it appears whole or not at all.
    package func writeTransactions(
        _ request: ListRequest, style: CSVStyle, isCompressed: Bool, redactor: Redactor, to file: URL
    ) async throws -> Int {
        let partial = try PartialFile(file)
        let count = try await writeTransactions(
            request, style: style, isCompressed: isCompressed, redactor: redactor, to: partial.write)
        try partial.finish()
        return count
    }
}
