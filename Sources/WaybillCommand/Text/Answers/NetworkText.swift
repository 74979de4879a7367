#if Collector
import WaybillAnalysis
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillReading

/// A line for each host and path, then what to look at.
struct NetworkText: AnswerText {
    let query: NetworkQuestion
    let answer: NetworkAnswer

    /// Exchanges that are shown of the slowest, and of the failing; more are in `--json`.
    private static let exampleLimit = 5

    var isEmpty: Bool { answer.exchanges == 0 }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let columns = DurationColumns(answer.groups.map(\.whole), titles: ["P50", "P90", "P99", "MAX"])
        var table = TextTable(columns: [
            ("HOST AND PATH", .left), ("COUNT", .right), ("4XX", .right), ("5XX", .right), ("NONE", .right),
        ])
        table.columns += columns.columns + [("SENT", .right), ("RECEIVED", .right)]
        table.rows = answer.groups.map { group in
            let statuses = group.statuses
            let counts = [statuses.clientError, statuses.serverError, statuses.none].map {
                $0 > 0 ? Cell("\($0)", .red) : Cell("-", .dim)
            }
            return [Cell(Self.name(group), .bold), Cell("\(group.count)")] + counts + columns.cells(group.whole)
                + [Cell(Words.byteCount(group.sentByteCount)), Cell(Words.byteCount(group.receivedByteCount))]
        }
        table.drop(["SENT", "MAX", "RECEIVED", "P90"], width: width)
        table.cut(column: 0, width: width)
        let headline = palette.paint(Words.count(answer.exchanges, "exchange"), .bold) + "\(columns.unit)"
        return [headline, ""] + table.lines(palette) + [""] + counted
            + examples("slowest", { $0.slowest }, palette, width: width)
            + examples("failing", { $0.failing }, palette, width: width)
    }

    /// Which exchanges the durations are of, and how long the others took: a timeout that no percentile counts must not
    /// go unseen.
    private var counted: [String] {
        let failed = answer.groups.filter { $0.failed.count > 0 }
        let canceled = answer.groups.reduce(0) { $0 + ($1.states[.canceled] ?? 0) }
        var sentences = ["Durations above are of completed exchanges, whatever their status."]
        if canceled > 0 { sentences.append("Canceled ones (\(canceled)) count in neither.") }
        guard !failed.isEmpty else { return sentences }
        let lines = failed.map { group in
            let times = [("p50", group.failed.p50Microseconds), ("at most", group.failed.maximumMicroseconds)]
            return "  \(Self.name(group)): \(group.failed.count), "
                + times.map { "\($0) \($1.map(Words.duration) ?? "-")" }.joined(separator: ", ")
        }
        return sentences + ["Failed, timeouts among them:"] + lines
    }

    /// `▶ POST api.example.com/users/{id}`: with a mark where it is a server that recorded it.
    private static func name(_ group: NetworkGroup) -> String {
        let place = (group.host ?? "") + (group.path ?? "")
        let words = [group.role == .server ? "▶" : nil, group.method, place.isEmpty ? "(unknown)" : place]
        return words.compactMap(\.self).joined(separator: " ")
    }

    private func examples(
        _ title: String, _ list: (NetworkGroup) -> [NetworkGroup.Example], _ palette: Palette, width: Int
    ) -> [String] {
        var all: [(name: String, example: NetworkGroup.Example)] = []
        for group in answer.groups { all += list(group).map { (Self.name(group), $0) } }
        guard !all.isEmpty else { return [] }
        let shown = all.sorted { $0.example.durationMicroseconds ?? 0 > $1.example.durationMicroseconds ?? 0 }.prefix(
            Self.exampleLimit)
        var table = TextTable(
            columns: [("EXCHANGE", .left), ("STATUS", .left), ("DURATION", .right), ("", .left)], hasTitles: false)
        table.rows = shown.map { name, example in
            [
                Cell(example.id.code), Cell(example.status.map { "\($0)" } ?? example.error.map(Words.error) ?? "-"),
                Cell(example.durationMicroseconds.map(Words.duration) ?? "-"), Cell(name, .dim),
            ]
        }
        table.cut(column: 3, width: width)
        return ["", palette.paint(title, .dim)] + table.lines(palette)
    }
}
#endif
