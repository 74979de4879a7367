package import WaybillCore
package import WaybillQueries
import WaybillStore

/// A record that is a row of a CSV file for people.
package protocol CSVRecord: Redactable, Sendable {
    static func table(_ rows: Redacted<[Self]>, _ style: CSVStyle) -> AnswerTable
}

extension TransactionSummary: CSVRecord {
    package static func table(_ rows: Redacted<[Self]>, _ style: CSVStyle) -> AnswerTable {
        let first: [Field<Self>] = [
            Field("transaction_id") { .text($0.id.description) },
            Field("support_code") { .text($0.id.supportCode.description) },
            Field("use_case") { .count($0.useCase) }, Field("use_case_name") { .text($0.useCaseName) },
            Field("outcome") { .text($0.outcome.name) }, .begun(style) { $0.begunMicroseconds },
            Field("duration_us") { .time($0.durationMicroseconds) }, Field("ended_by") { .text($0.endedBy?.name) },
        ]
        let rest: [Field<Self>] = [
            Field("attributes") { .text($0.attributes.columnText) }, Field("sources") { .count($0.sourceCount) },
            Field("events") { .count($0.eventCount) }, Field("exchanges") { .count($0.exchangeCount) },
            Field("parent") { .text($0.parent?.description) }, Field("children") { .integer($0.children?.count) },
            Field("waiting_for_beginner") { .text($0.isWaitingForBeginner ? "true" : nil) },
        ]
        return AnswerTable(rows.value, first + Field<Self>.error { $0.error } + rest)
    }
}

extension ExchangeRecord: CSVRecord {
    package static func table(_ rows: Redacted<[Self]>, _ style: CSVStyle) -> AnswerTable {
        let fields: [Field<Self>] = [
            Field("exchange_id") { .text($0.id.description) },
            Field("transaction_id") { .text($0.transaction?.description) },
            Field("support_code") { .text($0.transaction?.supportCode.description) },
            Field("use_case") { .integer($0.useCase) }, Field("use_case_name") { .text($0.useCaseName) },
            Field("app") { .text($0.source.app) }, Field("app_version") { .text($0.source.appVersion) },
            Field("role") { .text($0.exchange.role.name) }, .begun(style) { $0.exchange.openedMicroseconds },
            Field("method") { .text($0.exchange.method) }, Field("url") { .text($0.exchange.url) },
            Field("state") { .text($0.state.rawValue) }, Field("status") { .integer($0.exchange.status) },
            Field("duration_us") { .time($0.exchange.durationMicroseconds) },
            Field("first_byte_after_us") { record in
                .time(record.exchange.firstByteMicroseconds?.subtracting(record.exchange.openedMicroseconds))
            },
            Field("sent_bytes") { .integer($0.exchange.sentByteCount) },
            Field("received_bytes") { .integer($0.exchange.receivedByteCount) },
        ]
        return AnswerTable(rows.value, fields + Field<Self>.error { $0.exchange.error })
    }
}

extension Field {
    fileprivate static func begun(_ style: CSVStyle, _ time: @escaping (Row) -> Int64) -> Field {
        style.isForPeople
            ? Field("begun") { .text(Words.iso8601(time($0))) } : Field("begun_us") { .time(time($0)) }
    }

    fileprivate static func error(_ error: @escaping (Row) -> RecordedError?) -> [Field] {
        [
            Field("error_domain") { row in .text(error(row).flatMap { $0.domain.isEmpty ? nil : $0.domain }) },
            Field("error_code") { .integer(error($0)?.code) }, Field("error_name") { .text(error($0)?.name) },
            Field("error_text") { .text(error($0)?.text) },
        ]
    }
}

extension AnswerTable.Cell {
    fileprivate static func integer(_ number: (some BinaryInteger)?) -> Self {
        Self(value: .count(number.map { Int64(clamping: $0) }))
    }
}

extension ExportOutput {
    /// Writes CSV with one row per record, and returns their number. Throws `.notFound` if there are none.
    package func write<Record: CSVRecord>(
        _ pages: ListPages<Record>, style: CSVStyle, redactor: Redactor
    ) async throws -> Int {
        var (pages, count) = (pages, 0)
        while let page = try await pages.next() {
            let table = Record.table(redactor.redacted(page.rows), style)
            if count == 0, !page.rows.isEmpty { try write(style.beginning + table.csvHeader) }
            try write(table.csvRows)
            count += page.rows.count
            guard count > 0 || !pages.isOver else { throw WaybillError.nothingExported(page.whyEmpty) }
        }
        return count
    }
}
