#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

/// One transaction as `waybill show` prints it: what it was, who took part, and what happened when.
struct TransactionText {
    let record: ShownRecord
    private let names: SourceNames

    /// - Parameter clocks: By which times.
    init(_ record: Redacted<TransactionRecord>, clocks: ShownClocks = .aligned) {
        self.record = ShownRecord(record.value, clocks: clocks)
        names = SourceNames(record.value.sources)
    }

    /// All lines.
    ///
    /// - Parameter width: Columns that the picture may take; the table below it is as wide as what it says.
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
        table.rows = [
            [Cell("id", .dim), Cell("\(summary.id)")],
            [Cell("support code", .dim), Cell("\(summary.id.supportCode)")],
            [Cell("begun", .dim), Cell("\(Words.time(summary.begunMicroseconds)) UTC")],
        ]
        if let error = summary.error { table.rows.append([Cell("error", .dim), Cell(Words.error(error), .red)]) }
        if !summary.attributes.isEmpty {
            table.rows.append([Cell("attributes", .dim), Cell(Words.attributes(summary.attributes))])
        }
        if let words = Words.sampling(of: summary) { table.rows.append([Cell("sampled", .dim), Cell(words)]) }
        if let parent = summary.parent {
            let above = (record.family?.above ?? []).map { "\($0.useCaseName) \($0.id.supportCode)" }
            table.rows.append([
                Cell("below", .dim),
                Cell(above.isEmpty ? "\(parent), which is not known here" : above.joined(separator: " › ")),
            ])
        }
        for link in record.links {
            table.rows.append([
                Cell("link", .dim),
                Cell("\(link.relation.map { "\($0.printable): " } ?? "")waybill show \(link.transaction)"),
            ])
        }
        if record.family?.isCut == true {
            table.rows.append([
                Cell("note", .dim), Cell("More transactions are above or below it than are shown.", .yellow),
            ])
        }
        if let words = record.clockWords(names) { table.rows.append([Cell("clocks", .dim), Cell(words)]) }
        if let note = record.beginningWords {
            table.rows.append([Cell("note", .dim), Cell(note, .yellow)])
        }
        return table
    }

    private var sources: TextTable {
        let clock: [(String, TextTable.Alignment)] = record.offsets == nil ? [] : [("CLOCK", .left)]
        var table = TextTable(
            columns: [("SOURCE", .left), ("VERSION", .left), ("DEVICE", .left), ("PART", .left), ("TOOK", .right)]
                + clock)
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
            ] + (record.offsets.map { [Cell(Words.clock(part.id.source, in: $0))] } ?? [])
        }
        return table
    }
}
#endif
