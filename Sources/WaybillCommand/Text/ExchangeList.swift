#if Collector
import Foundation
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

extension TextTable {
    /// A page of exchanges, a line for each.
    ///
    /// - Parameter width: Columns of the terminal: a narrow one gets fewer columns, and URLs that are cut; nil: nothing
    ///   has to fit.
    init(exchanges: Redacted<[ExchangeRecord]>, width: Int?) {
        let isWide = width.map { $0 >= 120 } ?? true
        var columns: [(title: String, alignment: Alignment)] = [
            ("EXCHANGE", .left), (isWide ? "OPENED (UTC)" : "UTC", .left), ("METHOD", .left), ("STATUS", .left),
            ("DURATION", .right),
        ]
        if isWide { columns += [("RECEIVED", .right), ("USE CASE", .left), ("TRANSACTION", .left)] }
        columns.append(("HOST AND PATH", .left))
        self.init(columns: columns)
        rows = exchanges.value.map { Self.row($0, isWide: isWide) }
        guard let width else { return }
        let before = columns.indices.dropLast().reduce(0) { sum, column in
            sum + 2 + (([columns[column].title] + rows.map { $0[column].text }).map(\.count).max() ?? 0)
        }
        let last = columns.count - 1
        for row in rows.indices { rows[row][last].text = rows[row][last].text.shortened(to: max(16, width - before)) }
    }

    private static func row(_ record: ExchangeRecord, isWide: Bool) -> [Cell] {
        let exchange = record.exchange
        let time = Words.time(exchange.openedMicroseconds)
        var row = [
            Cell(exchange.id.code), Cell(isWide ? time : String(time.dropFirst(11).prefix(8))),
            Cell(exchange.method, .bold),
            Words.cell(record),
            Cell(exchange.durationMicroseconds.map(Words.duration) ?? "-"),
        ]
        if isWide {
            row += [
                Cell(exchange.receivedByteCount.map(Words.byteCount) ?? "-"), Cell(record.useCaseName ?? "-"),
                Cell(record.transaction.map { "\($0.supportCode)" } ?? "-"),
            ]
        }
        return row + [Cell("\(exchange.role == .server ? "▶ " : "")\(exchange.hostAndPath)")]
    }
}

extension TransactionRecord.Exchange {
    /// Without scheme and query.
    fileprivate var hostAndPath: String {
        let rest = url.prefix { $0 != "?" }
        return String(rest.range(of: "://").map { rest[$0.upperBound...] } ?? rest)
    }
}

extension String {
    /// The beginning and the end, which is where paths differ, with an ellipsis between.
    fileprivate func shortened(to width: Int) -> String {
        guard count > width else { return self }
        let tail = (width - 1) / 2
        return "\(prefix(width - 1 - tail))…\(suffix(tail))"
    }
}
#endif
