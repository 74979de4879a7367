package import WaybillCore
package import WaybillQueries

/// Columns with a title are for people, and columns with a name are for files.
package struct AnswerTable {
    package var heading: (subject: String, text: String)?
    package var columns: [Column]
    package var rows: [Row]
    /// A last row with the totals, shown only to people; empty if there is none.
    package var sum: [Cell] = []
    /// The number of rows that people don't see because there are too many.
    package var moreCount = 0
    /// The common unit of all times; `nil` if each time has its own.
    package var scale: TimeScale?
    /// The titles of columns that a narrow terminal drops, in this order.
    package var spare = ["p75", "p95", "Mean", "Min", "Max", "p99", "p90"]
    package var notes: [String] = []
    package var sentences: [String] = []

    package init(columns: [Column], rows: [Row] = []) { (self.columns, self.rows) = (columns, rows) }

    package struct Column {
        /// The name in files; `nil` if only people see the column.
        package var name: String?
        package var title: String?
        package var kind = Kind.number
        package var note: String?

        package init(_ name: String?, _ title: String? = nil, _ kind: Kind = .number, note: String? = nil) {
            (self.name, self.title, self.kind, self.note) = (name, title, kind, note)
        }

        package enum Kind {
            case number
            case word
            case name
            case group
            case interval
        }
    }

    package struct Row {
        package var cells: [Cell]
        package var bar: [Part] = []
        /// The value that the bar's full width represents.
        package var whole: Int64 = 0
        package var isShown = true

        package init(_ cells: [Cell], isShown: Bool = true) { (self.cells, self.isShown) = (cells, isShown) }
    }

    package struct Part {
        /// The CSS class of its color: the name of an outcome or a leg; empty for the default color.
        package var tone: String
        package var count: Int64

        package init(_ count: Int64, _ tone: String = "") { (self.count, self.tone) = (count, tone) }
    }

    package struct Cell {
        package var value: Value
        package var shown: String?
        package var tone: Tone?
        /// The transactions that the cell counts or names; `nil` if no list shows exactly these.
        package var listing: Listing?
        /// The CSS class of an icon before the text.
        package var sign: String?
    }

    package enum Value {
        case text(String?)
        case count(Int64?)
        case number(Double?)
        /// A share, where 1 is all.
        case rate(Double?)
        case share(Int64, of: Int64)
        case byteCount(Int64)
        case time(Int64?)
        /// A difference in microseconds.
        case difference(Int64?)
        /// A range of differences; `nil` for an unknown limit.
        case interval(Int64?, Int64?)
        case series([Int])
    }

    package enum Tone: Equatable {
        case strong, faint, good, bad, warning
        case outcome(TransactionOutcome)
    }

    package struct Listing {
        package var parameters: [(name: String, value: String)] = []
        package var conditions: [FilterCondition] = []
        package var hint: String?
    }
}

extension AnswerTable.Cell {
    static func text(_ text: String?, as shown: String? = nil, _ tone: AnswerTable.Tone? = nil) -> Self {
        Self(value: .text(text), shown: shown, tone: tone)
    }

    static func count(_ count: some BinaryInteger, as shown: String? = nil, _ tone: AnswerTable.Tone? = nil) -> Self {
        Self(value: .count(Int64(clamping: count)), shown: shown, tone: tone)
    }

    static func share(
        _ count: some BinaryInteger, of total: some BinaryInteger, _ tone: AnswerTable.Tone? = nil
    ) -> Self {
        Self(value: .share(Int64(clamping: count), of: Int64(clamping: total)), tone: tone)
    }

    static func time(_ microseconds: Int64?, _ tone: AnswerTable.Tone? = nil) -> Self {
        Self(value: .time(microseconds), tone: tone)
    }

    private static let seriesLimit = 24

    /// Counts over time, between the first and the last of `starts`. If there are too many steps, several are combined.
    static func series(_ counts: [(start: Int64, count: Int)], each step: Int64, from starts: [Int64]) -> Self {
        guard let first = starts.min(), let last = starts.max() else { return Self(value: .series([])) }
        let step = max(1, step)
        let count = (last.subtracting(first) / step).adding(1)
        var series = [Int](repeating: 0, count: Int(min(count, Int64(seriesLimit))))
        for (start, more) in counts {
            let place = Double(start.subtracting(first) / step) / Double(count)
            let index = min(Int(place * Double(series.count)), series.count - 1)
            series[index] = Int(clamping: Int64(series[index]).adding(Int64(more)))
        }
        return Self(value: .series(series))
    }

    static let empty = Self(value: .text(nil), shown: "")
    /// A zero that is nothing to look at.
    static let zero = count(0, as: "-", .faint)

    static func positive(_ count: some BinaryInteger, _ tone: AnswerTable.Tone) -> Self {
        count > 0 ? .count(count, tone) : zero
    }

    func listing(
        _ conditions: [FilterCondition] = [], where parameters: [(name: String, value: String)] = [],
        hint: String? = nil
    ) -> Self {
        guard !conditions.isEmpty || !parameters.isEmpty else { return self }
        var cell = self
        cell.listing = AnswerTable.Listing(parameters: parameters, conditions: conditions, hint: hint)
        return cell
    }

    package func words(_ scale: TimeScale? = nil) -> String {
        if let shown { return shown }
        func time(_ microseconds: Int64) -> String { scale?.text(microseconds) ?? Words.duration(microseconds) }
        func difference(_ microseconds: Int64) -> String { (microseconds < 0 ? "" : "+") + time(microseconds) }
        return switch value {
        case .text(let text): text ?? "-"
        case .count(let count): count.map(String.init) ?? "-"
        case .number(let number): number.map(Words.number) ?? "-"
        case .rate(let rate): rate?.percentText ?? "-"
        case .share(let count, let total): Words.percent(count, of: total)
        case .byteCount(let count): Words.byteCount(count)
        case .time(let microseconds): microseconds.map(time) ?? "-"
        case .difference(let microseconds): microseconds.map(difference) ?? "-"
        case .interval(nil, nil): "unknown"
        case .interval(let low, let high): "\(low.map(difference) ?? "?") to \(high.map(difference) ?? "?")"
        case .series: ""
        }
    }
}

struct Field<Row> {
    var column: AnswerTable.Column
    let cell: (Row) -> AnswerTable.Cell

    init(
        _ name: String?, _ title: String? = nil, _ kind: AnswerTable.Column.Kind = .number,
        cell: @escaping (Row) -> AnswerTable.Cell
    ) {
        column = AnswerTable.Column(name, title, kind)
        self.cell = cell
    }

    /// Returns columns of statistics. Files omit them without a prefix, and people see only those with titles.
    static func durations(
        _ statistics: @escaping (Row) -> DurationStatistics, prefix: String? = "", count: String? = nil,
        titles: [String] = []
    ) -> [Field] {
        let times: [(title: String, value: KeyPath<DurationStatistics, Int64?>)] = [
            ("Min", \.minimumMicroseconds), ("p50", \.p50Microseconds), ("p75", \.p75Microseconds),
            ("p90", \.p90Microseconds), ("p95", \.p95Microseconds), ("p99", \.p99Microseconds),
            ("Max", \.maximumMicroseconds), ("Mean", \.meanMicroseconds),
        ]
        return [Field(prefix.map { "\($0)count" }, count) { .count(statistics($0).count) }]
            + times.map { time in
                Field(
                    prefix.map { "\($0)\(time.title.lowercased())_us" },
                    titles.contains(time.title) ? time.title : nil
                ) { .time(statistics($0)[keyPath: time.value], time.title == "p50" ? .strong : nil) }
            }
    }
}

extension AnswerTable {
    init<Row>(
        _ rows: [Row], _ fields: [Field<Row>], sum: Row? = nil, isShown: (Row) -> Bool = { _ in true }
    ) {
        columns = fields.map(\.column)
        self.rows = rows.map { row in AnswerTable.Row(fields.map { $0.cell(row) }, isShown: isShown(row)) }
        if let sum { self.sum = fields.map { $0.cell(sum) } }
    }

    /// - Parameter whole: The value that the full width represents; `nil` for the longest bar.
    mutating func addBars(_ bars: [[Part]], of whole: Int64? = nil) {
        let whole = whole ?? bars.map { $0.first?.count ?? 0 }.max() ?? 0
        for (index, bar) in bars.enumerated() { (rows[index].bar, rows[index].whole) = (bar, whole) }
    }

    /// The columns with names as CSV (RFC 4180) with a header line; times are in microseconds.
    package var csv: [UInt8] { [self].csv }

    static func title(each step: Int64) -> String {
        switch step {
        case 86_400_000_000: "Each day"
        case 3_600_000_000: "Each hour"
        default: "Each \(Words.duration(step))"
        }
    }

    fileprivate var names: [String] { columns.compactMap(\.name) }

    var csvHeader: [UInt8] {
        var csv = CSVFormat()
        csv.beginRow([])
        for name in names { csv.text("", name) }
        csv.endRow()
        return csv.bytes
    }

    var csvRows: [UInt8] {
        var csv = CSVFormat()
        for row in rows {
            csv.beginRow([])
            for (column, cell) in zip(columns, row.cells) where column.name != nil {
                switch cell.value {
                case .text(let text): csv.text("", text)
                case .count(let number), .time(let number), .difference(let number): csv.integer("", number)
                case .number(let number), .rate(let number): csv.number("", number)
                case .byteCount(let number): csv.integer("", number)
                case .share, .interval, .series: csv.text("", cell.words())
                }
            }
            csv.endRow()
        }
        return csv.bytes
    }
}

extension [AnswerTable] {
    package var csv: [UInt8] {
        guard let first else { return [] }
        return first.csvHeader + filter { $0.names == first.names }.flatMap(\.csvRows)
    }
}
