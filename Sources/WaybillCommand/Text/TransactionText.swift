#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct TransactionText {
    let record: ShownRecord
    private var names: SourceNames { record.names }

    init(_ record: Redacted<TransactionRecord>, clocks: ShownClocks = .aligned) {
        self.record = ShownRecord(record.value, clocks: clocks)
    }

    /// - Parameter width: The columns of the waterfall. The timeline takes as many as it needs.
    func lines(_ palette: Palette, width: Int) -> [String] {
        [headline(palette), ""] + facts.lines(palette) + [""] + sources.lines(palette) + [""]
            + WaterfallText(record).lines(palette, width: width) + [""]
            + TimelineText(record).table.lines(palette)
    }

    private func headline(_ palette: Palette) -> String {
        let summary = record.summary
        let outcome = Words.cell(summary.outcome)
        let duration = summary.durationMicroseconds.map { " after \(Words.duration($0))" } ?? ""
        return palette.paint(summary.useCaseName.printable, .bold) + " " + palette.paint(outcome.text, outcome.ink)
            + duration + (summary.endedBy.map { ": \($0.phrase)" } ?? "")
    }

    private var facts: TextTable {
        let summary = record.summary
        var table = TextTable(columns: [("", .left), ("", .left)], hasTitles: false)
        func add(_ name: String, _ text: String?, _ ink: Ink? = nil) {
            if let text { table.rows.append([Cell(name, .dim), Cell(text, ink)]) }
        }
        add("id", "\(summary.id)")
        add("support code", "\(summary.id.supportCode)")
        add("begun", "\(Words.time(summary.begunMicroseconds)) UTC")
        add("error", summary.error.map(Words.error), .red)
        add("attributes", summary.attributes.isEmpty ? nil : Words.attributes(summary.attributes))
        add("sampled", Words.sampling(of: summary))
        if let parent = summary.parent {
            let above = (record.family?.above ?? []).map { "\($0.useCaseName) \($0.id.supportCode)" }
            add("below", above.isEmpty ? "\(parent), which is not known here" : above.joined(separator: " › "))
        }
        for words in record.feedback { add("feedback", "“\(words)”") }
        for link in record.links {
            add("link", "\(link.relation.map { "\($0.printable): " } ?? "")waybill show \(link.transaction)")
        }
        let isCut = record.family?.isCut == true
        add("note", isCut ? "More transactions are above or below it than are shown." : nil, .yellow)
        add("clocks", record.clockWords)
        add("note", record.beginningWords, .yellow)
        return table
    }

    private var sources: TextTable {
        var table = TextTable(columns: [
            ("SOURCE", .left), ("VERSION", .left), ("DEVICE", .left), ("PART", .left), ("TOOK", .right),
            ("CLOCK", .left),
        ])
        table.rows = record.parts.map { part in
            let source = record.sources.first { $0.id == part.id.source }
            let device = [source?.device, source?.os, source?.osVersion].compactMap(\.self).filter { !$0.isEmpty }
            let outcome = Words.cell(part.outcome)
            return [
                names.cell(part.id.source),
                Cell(source?.appVersion ?? ""),
                Cell(device.joined(separator: " ")),
                Cell("\(part.isJoined ? "joined" : "began"), \(outcome.text)", outcome.ink),
                Cell(part.durationMicroseconds.map(Words.duration) ?? "-"),
                Cell(record.offsets.map { Words.clock(part.id.source, in: $0) } ?? ""),
            ]
        }
        if record.offsets == nil { table.drop(["CLOCK"]) }
        return table
    }
}

extension TextTable {
    /// - Parameters:
    ///   - width: The columns of the terminal, which limit the table; `nil` for no limit.
    ///   - isContinued: Whether tables follow. Otherwise, columns without values are omitted.
    ///   - previous: The table whose columns this one continues.
    init(
        transactions: Redacted<[TransactionSummary]>, width: Int?, isContinued: Bool = false,
        after previous: TextTable? = nil
    ) {
        self.init(columns: [
            ("BEGUN (UTC)", .left), ("USE CASE", .left), ("OUTCOME", .left), ("DURATION", .right), ("SOURCES", .right),
            ("EVENTS", .right), ("REQUESTS", .right), ("BELOW", .left), ("ERROR", .left), ("SUPPORT CODE", .left),
            ("ID", .left),
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
                Cell(transaction.children.map(Words.children) ?? ""),
                Cell(transaction.error.map(Words.error) ?? "", .red),
                Cell("\(transaction.id.supportCode)"),
                Cell("\(transaction.id)", .dim),
            ]
        }
        if let previous {
            continueColumns(of: previous)
        } else {
            if !isContinued { drop(["BELOW", "ERROR"].filter(isEmpty)) }
            // The error, the use case and the support code stay longest.
            if let width { drop(["ID", "EVENTS", "SOURCES", "REQUESTS", "BELOW"], width: width) }
        }
        guard let width else { return }
        if self.width > width {
            for row in rows.indices { rows[row][0].text = String(rows[row][0].text.prefix(19)) }
        }
        for title in ["ERROR", "USE CASE", "OUTCOME"] {
            if let column = columns.firstIndex(where: { $0.title == title }) { cut(column: column, width: width) }
        }
    }
}

extension TextTable {
    init(exchanges: Redacted<[ExchangeRecord]>, width: Int?) {
        let isWide = width.map { $0 >= 120 } ?? true
        self.init(columns: [
            ("EXCHANGE", .left), (isWide ? "OPENED (UTC)" : "UTC", .left), ("METHOD", .left), ("STATUS", .left),
            ("DURATION", .right), ("RECEIVED", .right), ("USE CASE", .left), ("TRANSACTION", .left),
            ("HOST AND PATH", .left),
        ])
        rows = exchanges.value.map { record in
            let exchange = record.exchange
            let time = Words.time(exchange.openedMicroseconds)
            return [
                Cell(exchange.id.code),
                Cell(isWide ? time : String(time.dropFirst(11).prefix(8))),
                Cell(exchange.method, .bold),
                Words.cell(record),
                Cell(exchange.durationMicroseconds.map(Words.duration) ?? "-"),
                Cell(exchange.receivedByteCount.map(Words.byteCount) ?? "-"),
                Cell(record.useCaseName ?? "-"),
                Cell(record.transaction.map { "\($0.supportCode)" } ?? "-"),
                Cell("\(exchange.role == .server ? "▶ " : "")\(exchange.hostAndPath)"),
            ]
        }
        if !isWide { drop(["RECEIVED", "USE CASE", "TRANSACTION"]) }
        guard let width else { return }
        let before = widths.dropLast().reduce(0) { $0 + $1 + 2 }
        let last = columns.count - 1
        for row in rows.indices { rows[row][last].text = rows[row][last].text.shortened(to: max(16, width - before)) }
    }
}

extension String {
    /// The beginning and the end, because most paths differ at the end.
    fileprivate func shortened(to width: Int) -> String {
        guard count > width else { return self }
        let tail = (width - 1) / 2
        return "\(prefix(width - 1 - tail))…\(suffix(tail))"
    }
}

extension ExchangeText {
    func lines(_ palette: Palette) -> [String] {
        lines.map { line in
            line.map { text, tone in
                palette.paint(text.replacing("\t", with: "    ").replacing("\r", with: "").printable, tone?.ink)
            }.joined()
        }
    }
}

extension ExchangeText.Tone {
    fileprivate var ink: Ink {
        switch self {
        case .strong: .bold
        case .faint: .dim
        case .bad: .red
        case .name: .cyan
        case .bar: .blue
        }
    }
}
#endif
