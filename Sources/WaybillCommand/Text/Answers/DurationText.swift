#if Collector
import WaybillCollector
import WaybillCore
import WaybillExport
import WaybillQueries

/// How long it takes: a line for all and for each segment, then how many took how long.
struct DurationText: AnswerText {
    let query: DurationQuestion
    let answer: DurationAnswer
    let subject: String

    var isEmpty: Bool { answer.total.statistics.count == 0 }

    private var segments: [(title: String, segment: DurationSegment)] {
        [("all", answer.total)] + answer.segments.map { (Segmentation.title(of: $0.value), $0) }
    }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let columns = DurationColumns(segments.map(\.segment.statistics))
        let (from, to) = (Words.point(query.from), Words.point(query.to))
        var table = TextTable(
            columns: [(query.segmentation?.description.uppercased() ?? "", .left), ("COUNT", .right)] + columns.columns)
        table.rows = segments.map { title, segment in
            [Cell(title), Cell("\(segment.statistics.count)")] + columns.cells(segment.statistics)
        }
        table.drop(DurationColumns.spare, width: width)
        table.cut(column: 0, width: width)
        let headline = palette.paint(subject, .bold) + " from \(from) to \(to)\(columns.unit)"
        return [headline, ""] + table.lines(palette) + remarks + histogram(palette, width: width)
    }

    private var remarks: [String] {
        let (from, to) = (Words.point(query.from), Words.point(query.to))
        var remarks = [Words.counted(answer.total.outcomes)].compactMap(\.self)
        if answer.total.withoutEnd > 0 {
            remarks.append("\(Words.count(answer.total.withoutEnd, "transaction")) had \(from), and not \(to).")
        }
        if answer.total.reversed > 0 {
            remarks.append("\(Words.count(answer.total.reversed, "transaction")) had \(to) before \(from).")
        }
        return remarks.isEmpty ? [] : [""] + remarks
    }

    private func histogram(_ palette: Palette, width: Int) -> [String] {
        let bars = answer.total.histogram
        guard bars.count > 1 else { return [] }
        var table = TextTable(
            columns: [("", .right), ("", .left), ("", .right), ("", .right), ("", .right)], hasTitles: false)
        // A stretch where nothing lies takes one line.
        let shown = bars.indices.filter { bars[$0].count > 0 || bars[max(0, $0 - 1)].count > 0 }.map { bars[$0] }
        table.rows = shown.map { bar in
            guard bar.count > 0 else { return [Cell("…", .dim), "", "", "", ""] }
            return [
                Cell(Self.round(bar.fromMicroseconds)), Cell("to", .dim), Cell(Self.round(bar.toMicroseconds)),
                Cell("\(bar.count)"),
                Cell(Words.percent(bar.count, of: answer.total.statistics.count), .dim),
            ]
        }
        table.addBars(shown.map(\.count), width: width)
        return [""] + table.lines(palette)
    }

    /// `20 ms`, `5 s`: the bounds are round numbers of a decimal unit.
    private static func round(_ microseconds: Int64) -> String {
        switch microseconds {
        case ..<1000: "\(microseconds) µs"
        case ..<1_000_000: "\(microseconds / 1000) ms"
        default: "\(microseconds / 1_000_000) s"
        }
    }
}

/// Columns that say how long something took, all in one unit.
struct DurationColumns {
    let scale: TimeScale
    private let shown: [(title: String, value: KeyPath<DurationStatistics, Int64?>)]

    /// - Parameters:
    ///   - statistics: Of all rows; they decide the unit.
    ///   - titles: Those that are wanted; nil: all.
    init(_ statistics: [DurationStatistics], titles: [String]? = nil) {
        // Not by the maximum, which may be a night during which a phone was suspended.
        scale = TimeScale(column: statistics.compactMap(\.p99Microseconds).max() ?? 0)
        shown = Self.all.filter { titles?.contains($0.title) ?? true }
    }

    var columns: [(title: String, alignment: TextTable.Alignment)] { shown.map { ($0.title, .right) } }

    func cells(_ statistics: DurationStatistics) -> [Cell] {
        shown.map { Cell(statistics[keyPath: $0.value].map(scale.text) ?? "-", $0.title == "P50" ? .bold : nil) }
    }

    /// `, in ms`.
    var unit: String { scale.unit.map { ", in \($0)" } ?? "" }

    /// Columns that a narrow terminal does without, the first ones first.
    static let spare = ["P75", "P95", "MEAN", "MIN"]

    private static var all: [(title: String, value: KeyPath<DurationStatistics, Int64?>)] {
        [
            ("MIN", \.minimumMicroseconds), ("P50", \.p50Microseconds), ("P75", \.p75Microseconds),
            ("P90", \.p90Microseconds),
            ("P95", \.p95Microseconds), ("P99", \.p99Microseconds), ("MAX", \.maximumMicroseconds),
            ("MEAN", \.meanMicroseconds),
        ]
    }
}

/// What a numeric attribute looks like: a line for all and for each segment.
struct MeasureText: AnswerText {
    let query: MeasureQuestion
    let answer: MeasureAnswer
    let subject: String

    var isEmpty: Bool { answer.total.statistics.count == 0 }

    private static var columns: [(title: String, value: KeyPath<NumberStatistics, Double?>)] {
        [
            ("MIN", \.minimum), ("P50", \.p50), ("P75", \.p75), ("P90", \.p90), ("P95", \.p95), ("P99", \.p99),
            ("MAX", \.maximum), ("MEAN", \.mean),
        ]
    }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let titles: [(String, TextTable.Alignment)] = Self.columns.map { ($0.title, .right) }
        var table = TextTable(
            columns: [(query.segmentation?.description.uppercased() ?? "", .left), ("COUNT", .right)] + titles)
        let segments = [("all", answer.total)] + answer.segments.map { (Segmentation.title(of: $0.value), $0) }
        for (title, segment) in segments {
            let numbers: [Cell] = Self.columns.map { column in
                Cell(segment.statistics[keyPath: column.value].map(Words.number) ?? "-")
            }
            table.rows.append([Cell(title), Cell("\(segment.statistics.count)")] + numbers)
        }
        table.drop(["MIN", "P75", "P95", "MEAN"], width: width)
        table.cut(column: 0, width: width)
        let without = answer.total.without
        let remark = without == 0 ? [] : ["", "\(Words.count(without, "transaction")) had no such number."]
        return [palette.paint(subject, .bold) + ", attribute \(query.attribute.printable)", ""]
            + table.lines(palette) + remark
    }
}

/// A line for each leg, over all and for each segment.
struct LegsText: AnswerText {
    let query: LegsQuestion
    let answer: LegsAnswer
    let subject: String

    var isEmpty: Bool { answer.total.duration.count == 0 }

    func lines(_ palette: Palette, width: Int) -> [String] {
        let columns = DurationColumns(
            ([answer.total] + answer.segments).map(\.duration), titles: ["P50", "P90", "P99", "MAX"])
        let count = Words.count(answer.total.duration.count, "transaction")
        var lines = [palette.paint(subject, .bold) + ", where the time of \(count) goes\(columns.unit)", ""]
        lines += table(answer.total, columns, width: width).lines(palette)
        for segment in answer.segments {
            let title = "\(query.segmentation?.description ?? "") \(Segmentation.title(of: segment.value))".printable
            lines += ["", palette.paint(title, .bold) + ", \(Words.count(segment.duration.count, "transaction"))"]
            lines += table(segment, columns, width: width).lines(palette)
        }
        let remarks = Words.remarks(answer.total)
        return lines + (remarks.isEmpty ? [] : [""] + remarks)
    }

    private func table(_ segment: LegsSegment, _ columns: DurationColumns, width: Int) -> TextTable {
        let legs = segment.legs.filter { $0.statistics.count > 0 }
        let whole = legs.reduce(0) { $0 + $1.totalMicroseconds }
        var table = TextTable(columns: [("LEG", .left), ("OF ALL TIME", .right), ("COUNT", .right)] + columns.columns)
        table.rows = legs.map { leg in
            [
                Cell(Words.leg(leg.leg), .bold), Cell(Words.percent(leg.totalMicroseconds, of: whole)),
                Cell("\(leg.statistics.count)"),
            ] + columns.cells(leg.statistics)
        }
        table.rows.append(["all of it", "", Cell("\(segment.duration.count)")] + columns.cells(segment.duration))
        table.drop(["MAX"], width: width)
        table.addBars(legs.map(\.totalMicroseconds) + [0], width: width)
        return table
    }
}

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
