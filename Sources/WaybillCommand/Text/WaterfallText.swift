#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

struct WaterfallText {
    private let waterfall: Waterfall
    private let names: SourceNames

    /// The minimum columns. Narrower terminals wrap.
    private static let narrowest = 24

    init(_ record: ShownRecord) {
        names = record.names
        waterfall = Waterfall(record)
    }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let labels = waterfall.bars.map { bar in
            String(repeating: "  ", count: min(bar.depth, 4)) + bar.label.printable
                + (bar.transaction.map { " \($0.supportCode)" } ?? "")
        }
        let notes = waterfall.bars.map(\.note.printable)
        let noteWidth = min(notes.map(\.columnCount).max() ?? 0, 18)
        let wanted = labels.map(\.columnCount).max() ?? 0
        let labelWidth = min(wanted, max(12, width - noteWidth - 4 - max(Self.narrowest, width / 2)))
        let pictureWidth = max(Self.narrowest, width - labelWidth - noteWidth - 4)
        let margin = String(repeating: " ", count: labelWidth + noteWidth + 4)
        let rows = zip(waterfall.bars, zip(labels, notes)).map { bar, texts in
            let label = texts.0.cut(toColumns: labelWidth)
            let note = texts.1.cut(toColumns: noteWidth)
            let gap = String(repeating: " ", count: labelWidth - label.columnCount + 2 + noteWidth - note.columnCount)
            return palette.paint(label, names.ink(lane: bar.lane)) + gap
                + palette.paint(note, bar.hasFailed ? .red : .dim) + "  "
                + picture(of: bar, width: pictureWidth, palette)
        }
        return [margin + palette.paint(axis(width: pictureWidth), .dim)] + rows + legend(palette)
    }

    private func axis(width: Int) -> String {
        var line = "0"
        for tick in waterfall.ticks {
            let place = column(waterfall.span.lowerBound + tick, width: width)
            let label = Words.roundDuration(tick)
            guard place > line.count + 1, place + label.count <= width else { continue }
            line += String(repeating: " ", count: place - line.count) + label
        }
        return line
    }

    private func picture(of bar: Waterfall.Bar, width: Int, _ palette: Palette) -> String {
        let start = column(bar.start, width: width)
        let end = max(start, column(bar.end, width: width))
        let cells =
            bar.kind == .exchange ? exchange(bar, start, end, width: width) : part(bar, start, end, width: width)
        let ink: Ink? =
            switch bar.kind {
            case .part: names.ink(lane: bar.lane)
            case .exchange: bar.hasFailed ? .red : .green
            case .child, .event, .run: bar.hasFailed ? .red : names.ink(lane: bar.lane)
            }
        var line = palette.paint(whisker(before: bar, start, width: width), .dim)
        for run in cells.chunked(by: { ($0 == "✕") == ($1 == "✕") }) {
            line += palette.paint(String(run), run.first == "✕" ? .red : ink)
        }
        return line
    }

    /// A line back to the earliest possible start.
    private func whisker(before bar: Waterfall.Bar, _ start: Int, width: Int) -> String {
        let first = bar.uncertainty.map { min(start, column(bar.start - $0, width: width)) } ?? start
        return String(repeating: " ", count: first) + String(repeating: "~", count: start - first)
    }

    private func part(_ bar: Waterfall.Bar, _ start: Int, _ end: Int, width: Int) -> [Character] {
        var cells = [Character](repeating: "─", count: end - start + 1)
        cells[0] = "├"
        cells[cells.count - 1] = bar.isOpen ? "╌" : "┤"
        if let uncertainty = bar.uncertainty {
            let end = min(cells.count - 1, column(bar.start + uncertainty, width: width) - start)
            for place in 1..<max(2, end + 1) where place < cells.count - 1 { cells[place] = "~" }
        }
        for (times, mark) in [(bar.events.map(\.time), "●" as Character), (bar.errors.map(\.time), "✕")] {
            for time in times {
                let place = column(time, width: width)
                // An event after the end extends the bar with spaces.
                while start + cells.count <= place { cells.append(" ") }
                cells[max(0, place - start)] = mark
            }
        }
        return cells
    }

    private func exchange(_ bar: Waterfall.Bar, _ start: Int, _ end: Int, width: Int) -> [Character] {
        let count = end - start + 1
        guard let timing = bar.timing, timing.total > 0 else {
            return Array(repeating: bar.isOpen ? "╌" : "█", count: count)
        }
        var cells: [Character] = []
        var passed: Int64 = 0
        for phase in timing.phases {
            passed += phase.duration
            // Rounding the ends of phases keeps their sum equal to the bar.
            let place = Int((Double(passed) / Double(timing.total) * Double(count)).rounded())
            cells += Array(repeating: Self.mark(of: phase.name), count: max(0, place - cells.count))
        }
        for message in bar.events {
            let place = column(message.time, width: width) - start
            if cells.indices.contains(place) { cells[place] = "•" }
        }
        return cells
    }

    private static func mark(of phase: String) -> Character {
        switch phase {
        case "lookup", "connect", "TLS": "▒"
        case "send": "▓"
        case "wait": "░"
        default: "█"
        }
    }

    private func legend(_ palette: Palette) -> [String] {
        guard waterfall.bars.contains(where: { $0.kind == .exchange }) else { return [] }
        let uncertain = waterfall.bars.contains { $0.uncertainty != nil } ? "   ~ may begin here" : ""
        let messages = waterfall.bars.contains { $0.kind == .exchange && !$0.events.isEmpty } ? "   • message" : ""
        return [
            palette.paint(
                "├──┤ part   ● event   ✕ error   ▒ connect   ▓ send   ░ wait   █ receive\(messages)\(uncertain)", .dim)
        ]
    }

    /// The column, inside the picture even if a clock was changed.
    private func column(_ time: Int64, width: Int) -> Int {
        let span = waterfall.span
        let time = min(max(time, span.lowerBound), span.upperBound)
        let length = max(1, span.upperBound.subtracting(span.lowerBound))
        let place = Double(time.subtracting(span.lowerBound)) / Double(length) * Double(width)
        return max(0, min(width - 1, Int(min(place, Double(width)))))
    }
}

extension [Character] {
    fileprivate func chunked(by belongs: (Character, Character) -> Bool) -> [[Character]] {
        reduce(into: []) { chunks, character in
            if let last = chunks.last?.last, belongs(last, character) {
                chunks[chunks.count - 1].append(character)
            } else {
                chunks.append([character])
            }
        }
    }
}

extension Words {
    static func cell(_ outcome: TransactionOutcome) -> Cell {
        let ink: Ink =
            switch outcome {
            case .succeeded: .green
            case .failed: .red
            case .cancelled, .abandoned, .interrupted, .timedOut: .yellow
            case .open: .cyan
            }
        return Cell(Words.outcome(outcome), ink)
    }

    /// The outcome in its color. For an interrupted transaction, it includes how the process ended.
    static func cell(_ summary: TransactionSummary) -> Cell {
        let outcome = cell(summary.outcome)
        return summary.endedBy.map { Cell("\(outcome.text) (\($0.name))", outcome.ink) } ?? outcome
    }

    /// The status or state in its color: `200`, `mocked 200`, `failed`.
    static func cell(_ exchange: ExchangeRecord) -> Cell {
        let status = exchange.exchange.closing ?? exchange.exchange.status.map { "\($0)" }
        switch exchange.state {
        case .completed: return Cell(status ?? "completed", (exchange.exchange.status ?? 0) < 400 ? .green : .red)
        case .mocked: return Cell(["mocked", status].compactMap(\.self).joined(separator: " "), .magenta)
        case .failed: return Cell(exchange.exchange.closing ?? "failed", .red)
        case .cancelled, .interrupted: return Cell(state(exchange.state), .yellow)
        case .inProgress: return Cell(state(.inProgress), .cyan)
        }
    }

    static func rejection(_ rejection: Receipt.Rejection) -> String {
        let fact = rejection.sequence.map { "fact \($0)" } ?? "the fact at index \(rejection.index)"
        return "\(fact) of source \(rejection.source) was rejected: \(rejection.reason)"
    }
}

extension SourceNames {
    func cell(_ source: GUID) -> Cell { Cell(self[source], ink(lane: lane(of: source))) }

    func ink(lane: Int) -> Ink { Self.inks[lane % Self.inks.count] }

    private static let inks: [Ink] = [.cyan, .magenta, .blue, .yellow]
}
#endif
