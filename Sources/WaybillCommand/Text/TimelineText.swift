#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

/// The facts of a transaction, with a line for each, and a lane for each source. The first source is leftmost.
struct TimelineText {
    private let record: ShownRecord
    private var names: SourceNames { record.names }
    private let exchanges: [FactID: TransactionRecord.Exchange]
    private let parts: [FactID: TransactionRecord.Part]

    init(_ record: ShownRecord) {
        self.record = record
        exchanges = Dictionary(record.exchanges.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        parts = Dictionary(record.parts.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    }

    var table: TextTable {
        var table = TextTable(columns: [
            ("AT", .right), ("SINCE", .right), ("SOURCE", .left), ("WHAT HAPPENED", .left), ("", .left),
        ])
        let beginning = record.timeline.first?.timeMicroseconds ?? record.summary.begunMicroseconds
        var previous: Int64?
        for entry in record.timeline {
            table.rows.append([
                Cell(previous == nil ? "0" : Words.duration(entry.timeMicroseconds - beginning)),
                Cell(
                    previous.map { "+" + Words.duration(entry.timeMicroseconds - $0) }?.replacing("+-", with: "-")
                        ?? "", .dim),
                names.cell(entry.id.source),
                label(of: entry),
                remark(on: entry),
            ])
            previous = entry.timeMicroseconds
        }
        return table
    }

    private func label(of entry: TransactionRecord.Entry) -> Cell {
        let lane = String(repeating: "│   ", count: min(names.lane(of: entry.id.source), 3))
        let isServer = exchange(of: entry)?.role == .server
        let mark =
            switch entry.kind {
            case .begun, .joined: "┌ "
            case .event: "│ "
            case .attributesSet: "│ + "
            case .unknown: "│ ? "
            case .finished: "└ "
            case .exchangeBegun: isServer ? "│ ▶ " : "├─▶ "
            case .exchangeFinished: isServer ? "│ ◀ " : "├─◀ "
            }
        return Cell(lane + mark + text(of: entry), ink(of: entry))
    }

    private func text(of entry: TransactionRecord.Entry) -> String {
        guard entry.kind == .exchangeBegun, let exchange = exchange(of: entry) else {
            return entry.label.replacing("_", with: " ")
        }
        return "\(exchange.method) \(exchange.url)"
    }

    private func ink(of entry: TransactionRecord.Entry) -> Ink? {
        switch entry.kind {
        case .event: entry.error == nil ? nil : .red
        case .attributesSet, .unknown: .dim
        case .begun, .joined: .bold
        case .finished: part(of: entry).flatMap { Words.cell($0.outcome).ink } ?? .bold
        case .exchangeBegun: .bold
        case .exchangeFinished:
            exchange(of: entry).map { $0.state != .completed || $0.status ?? 0 >= 400 ? .red : .green } ?? .bold
        }
    }

    private func remark(on entry: TransactionRecord.Entry) -> Cell {
        var remarks: [String] = []
        switch entry.kind {
        case .exchangeFinished: remarks += exchange(of: entry).map(remarks(on:)) ?? []
        case .finished:
            if let took = part(of: entry)?.durationMicroseconds { remarks.append("took \(Words.duration(took))") }
        case .exchangeBegun: if exchange(of: entry)?.state == nil { remarks.append("no end recorded") }
        case .begun, .joined, .event, .attributesSet, .unknown: break
        }
        if let error = entry.error { remarks.append(Words.error(error)) }
        if !entry.attributes.isEmpty { remarks.append(Words.attributes(entry.attributes)) }
        if entry.isLate { remarks.append("after the end") }
        return Cell(remarks.joined(separator: " · "), entry.error == nil ? .dim : .red)
    }

    private func remarks(on exchange: TransactionRecord.Exchange) -> [String] {
        let durations = exchange.durationWords(record.parts.first { $0.cause == exchange.id })
        guard let duration = durations.first else { return [] }
        let remarks = ["took \(duration)"] + durations.dropFirst()
        let sizes = [
            exchange.sentByteCount.map { "sent \(Words.byteCount($0))" },
            exchange.receivedByteCount.map { "received \(Words.byteCount($0))" },
        ]
        return exchange.role == .client ? remarks + sizes.compactMap(\.self) : remarks
    }

    private func exchange(of entry: TransactionRecord.Entry) -> TransactionRecord.Exchange? {
        entry.exchange.flatMap { exchanges[$0] }
    }

    private func part(of entry: TransactionRecord.Entry) -> TransactionRecord.Part? {
        parts[FactID(source: entry.id.source, sequence: entry.part)]
    }
}
#endif
