#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

extension TextTable {
    /// A page of transactions, a line for each.
    init(transactions: Redacted<[TransactionSummary]>) {
        let hasChildren = transactions.value.contains { $0.children != nil }
        var columns: [(String, Alignment)] = [
            ("BEGUN (UTC)", .left), ("USE CASE", .left), ("OUTCOME", .left), ("DURATION", .right), ("SOURCES", .right),
            ("EVENTS", .right), ("REQUESTS", .right), ("SUPPORT CODE", .left), ("ID", .left),
        ]
        if hasChildren { columns.insert(("BELOW", .left), at: 7) }
        self.init(columns: columns)
        rows = transactions.value.map { transaction in
            var row = [
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
            if hasChildren { row.insert(Cell(transaction.children.map(Words.children) ?? ""), at: 7) }
            return row
        }
    }
}
#endif
