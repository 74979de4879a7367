import Foundation
package import WaybillCore
package import WaybillQueries
import WaybillStore

/// A record that is a row of a CSV file for people.
package protocol CSVRecord: Redactable, Sendable {
    static func columns(_ style: CSVStyle) -> [StaticString]
    func write(to row: inout CSVFormat, _ style: CSVStyle)
}

extension CSVFormat {
    fileprivate mutating func time(_ microseconds: Int64, _ style: CSVStyle) {
        if style.isForPeople { text("", Words.iso8601(microseconds)) } else { integer("", microseconds) }
    }

    fileprivate mutating func error(_ error: RecordedError?) {
        text("", error.flatMap { $0.domain.isEmpty ? nil : $0.domain })
        integer("", error?.code)
        text("", error?.name)
        text("", error?.text)
    }
}

extension TransactionSummary: CSVRecord {
    package static func columns(_ style: CSVStyle) -> [StaticString] {
        [
            "transaction_id", "support_code", "use_case", "use_case_name", "outcome",
            style.isForPeople ? "begun" : "begun_us", "duration_us", "ended_by", "error_domain", "error_code",
            "error_name", "error_text", "attributes", "sources", "events", "exchanges", "parent", "children",
            "waiting_for_beginner",
        ]
    }

    package func write(to row: inout CSVFormat, _ style: CSVStyle) {
        row.guid("", id)
        row.text("", id.supportCode.description)
        row.integer("", useCase)
        row.text("", useCaseName)
        row.text("", outcome.name)
        row.time(begunMicroseconds, style)
        row.integer("", durationMicroseconds)
        row.text("", endedBy?.name)
        row.error(error)
        row.attributes("", attributes)
        row.integer("", sourceCount)
        row.integer("", eventCount)
        row.integer("", exchangeCount)
        row.guid("", parent)
        row.integer("", children?.count)
        row.bool("", isWaitingForBeginner ? true : nil)
    }
}

extension ExchangeRecord: CSVRecord {
    package static func columns(_ style: CSVStyle) -> [StaticString] {
        [
            "exchange_id", "transaction_id", "support_code", "use_case", "use_case_name", "app", "app_version", "role",
            style.isForPeople ? "begun" : "begun_us", "method", "url", "state", "status", "duration_us",
            "first_byte_after_us", "sent_bytes", "received_bytes", "error_domain", "error_code", "error_name",
            "error_text",
        ]
    }

    package func write(to row: inout CSVFormat, _ style: CSVStyle) {
        row.text("", id.description)
        row.guid("", transaction)
        row.text("", transaction?.supportCode.description)
        row.integer("", useCase)
        row.text("", useCaseName)
        row.text("", source.app)
        row.text("", source.appVersion)
        row.text("", exchange.role.name)
        row.time(exchange.openedMicroseconds, style)
        row.text("", exchange.method)
        row.text("", exchange.url)
        row.text("", state.rawValue)
        row.integer("", exchange.status)
        row.integer("", exchange.durationMicroseconds)
        row.integer("", exchange.firstByteMicroseconds.map { $0.subtracting(exchange.openedMicroseconds) })
        row.integer("", exchange.sentByteCount)
        row.integer("", exchange.receivedByteCount)
        row.error(exchange.error)
    }
}

extension ExportOutput {
    /// Writes CSV with one row per record, and returns their number. Throws `.notFound` if there are none.
    package func write<Record: CSVRecord>(
        _ pages: ListPages<Record>, style: CSVStyle, redactor: Redactor
    ) async throws -> Int {
        var (pages, count) = (pages, 0)
        while let page = try await pages.next() {
            var rows = CSVFormat()
            if count == 0, !page.rows.isEmpty {
                rows.copy((style.beginning + CSVFormat.header(Record.columns(style)))[...])
            }
            for record in page.rows {
                rows.beginRow([])
                redactor.redacted(record).value.write(to: &rows, style)
                rows.endRow()
            }
            try write(rows.bytes)
            count += page.rows.count
            guard count > 0 || !pages.isOver else { throw WaybillError.nothingExported(page.whyEmpty) }
        }
        return count
    }
}
