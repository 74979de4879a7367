#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

extension TextTable {
    /// A page of transactions, a line for each.
    init(transactions: Redacted<[TransactionSummary]>) {
        self.init(columns: [
            ("BEGUN (UTC)", .left), ("USE CASE", .left), ("OUTCOME", .left), ("DURATION", .right), ("SOURCES", .right),
            ("EVENTS", .right), ("REQUESTS", .right), ("SUPPORT CODE", .left), ("ID", .left),
        ])
        rows = transactions.value.map { transaction in
            [
                Cell(Words.time(transaction.begunMicroseconds)),
                Cell(transaction.useCaseName, .bold),
                Words.cell(transaction),
                Cell(transaction.durationMicroseconds.map(Words.duration) ?? "-"),
                Cell("\(transaction.sourceCount)"),
                Cell("\(transaction.eventCount)"),
                Cell("\(transaction.exchangeCount)"),
                Cell("\(transaction.id.supportCode)"),
                Cell("\(transaction.id)", .dim),
            ]
        }
    }
}
#endif
