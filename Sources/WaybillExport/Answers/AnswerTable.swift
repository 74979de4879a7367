package import WaybillCore
package import WaybillQueries

/// A table of an answer, which the terminal, the pages and the CSV files render.
///
/// A column with a title is for people, and one with a name is for files; most have both.
package struct AnswerTable {
    /// The heading for people; `nil` for none. The subject is what the question is about.
    package var heading: (subject: String, text: String)?
    package var columns: [Column]
    package var rows: [Row]
    /// A last row with the totals, which only people see; empty if there is none.
    package var sum: [Cell] = []
    /// The number of rows that were left out because people would not read that many.
    package var moreCount = 0
    /// The unit of all times where they line up; `nil` if each time has its own.
    package var scale: TimeScale?
    /// The titles of columns that a narrow terminal drops, the first ones first.
    package var spare = ["p75", "p95", "Mean", "Min", "Max", "p99", "p90"]
    /// Remarks on the table, one sentence each.
    package var notes: [String] = []
    /// Conclusions from the table, one sentence each.
    package var sentences: [String] = []

    package init(columns: [Column], rows: [Row] = []) { (self.columns, self.rows) = (columns, rows) }

    package struct Column {
        /// The name in a file; `nil` if only people see the column.
        package var name: String?
        /// The title for people; `nil` if only files have the column.
        package var title: String?
        package var kind = Kind.number
        /// A second line of the title.
        package var note: String?

        package init(_ name: String?, _ title: String? = nil, _ kind: Kind = .number, note: String? = nil) {
            (self.name, self.title, self.kind, self.note) = (name, title, kind, note)
        }

        package enum Kind {
            case number
            /// Our own words, which are never cut.
            case word
            /// A recorded name, which may be cut.
            case name
            /// A number below the recorded name of a group, which may be cut.
            case group
            /// Two numbers, which need the room of two cells.
            case interval
        }
    }

    package struct Row {
        /// One for each column.
        package var cells: [Cell]
        /// A bar that compares the row with the others, in parts; empty if there is none.
        package var bar: [Part] = []
        /// The length that the whole width of the bar stands for.
        package var whole: Int64 = 0
        /// Whether people see the row.
        package var isShown = true

        package init(_ cells: [Cell], isShown: Bool = true) { (self.cells, self.isShown) = (cells, isShown) }
    }

    /// A part of a bar.
    package struct Part {
        /// The class of its color: the name of an outcome or a leg; empty for the usual color.
        package var tone: String
        package var count: Int64

        package init(_ count: Int64, _ tone: String = "") { (self.count, self.tone) = (count, tone) }
    }

    /// A value, and how people see it.
    package struct Cell {
        package var value: Value
        /// The text for people, if it differs from the value's.
        package var shown: String?
        package var tone: Tone?
        /// The transactions that the cell counts or names; `nil` if no list has exactly these.
        package var listing: Listing?
        /// The class of a sign in front of the text.
        package var sign: String?
    }

    package enum Value {
        case text(String?)
        case count(Int64?)
        case number(Double?)
        /// A share, where 1 is all.
        case rate(Double?)
        /// A count as a share of a total.
        case share(Int64, of: Int64)
        case byteCount(Int64)
        /// Microseconds.
        case time(Int64?)
        /// Microseconds more, or less.
        case difference(Int64?)
        /// Differences; `nil` for an unknown limit.
        case interval(Int64?, Int64?)
        /// Counts over time, as a small picture.
        case series([Int])
    }

    package enum Tone: Equatable {
        case strong, faint, good, bad, warning
        case outcome(TransactionOutcome)
    }

    /// Transactions, as conditions to add to those of the question.
    package struct Listing {
        package var conditions: [(name: String, value: String)] = []
        package var terms: [FilterCondition] = []
        /// The tooltip of the link.
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

    static let empty = Self(value: .text(nil), shown: "")

    /// The cell with a list of the transactions; without conditions there is none.
    func listing(
        _ terms: [FilterCondition] = [], where conditions: [(name: String, value: String)] = [],
        hint: String? = nil
    ) -> Self {
        guard !terms.isEmpty || !conditions.isEmpty else { return self }
        var cell = self
        cell.listing = AnswerTable.Listing(conditions: conditions, terms: terms, hint: hint)
        return cell
    }

    /// The text that people see.
    ///
    /// - Parameter scale: The unit of times; `nil` if each has its own.
    package func words(_ scale: TimeScale? = nil) -> String {
        if let shown { return shown }
        func time(_ microseconds: Int64) -> String { scale?.text(microseconds) ?? Words.duration(microseconds) }
        func difference(_ microseconds: Int64) -> String { (microseconds < 0 ? "" : "+") + time(microseconds) }
        return switch value {
        case .text(let text): text ?? "-"
        case .count(let count): count.map(String.init) ?? "-"
        case .number(let number): number.map(Words.number) ?? "-"
        case .rate(let rate): rate.map { Words.percent($0) } ?? "-"
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

/// A column, and how to make its cells.
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

    /// Fields with the statistics of a duration.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the names; `nil` if only people see the columns.
    ///   - count: The title of the count; `nil` if only files have it.
    ///   - titles: The titles of the columns that people see.
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
    /// Makes a table with a row for each of the values.
    ///
    /// - Parameters:
    ///   - sum: The last row for people.
    ///   - isShown: Whether people see a row.
    init<Row>(
        _ rows: [Row], _ fields: [Field<Row>], sum: Row? = nil, isShown: (Row) -> Bool = { _ in true }
    ) {
        columns = fields.map(\.column)
        self.rows = rows.map { row in AnswerTable.Row(fields.map { $0.cell(row) }, isShown: isShown(row)) }
        if let sum { self.sum = fields.map { $0.cell(sum) } }
    }

    /// Adds a bar to each row.
    ///
    /// - Parameter whole: What the whole width stands for; `nil` for the longest bar.
    mutating func addBars(_ bars: [[Part]], of whole: Int64? = nil) {
        let whole = whole ?? bars.map { $0.first?.count ?? 0 }.max() ?? 0
        for (index, bar) in bars.enumerated() { (rows[index].bar, rows[index].whole) = (bar, whole) }
    }

    /// The columns of a file, as RFC 4180 with a header line, in UTF-8; times are in microseconds.
    package var csv: [UInt8] { [self].csv }

    fileprivate var names: [String] { columns.compactMap(\.name) }
}

extension [AnswerTable] {
    /// The first table and those with the same columns, as one file.
    package var csv: [UInt8] {
        guard let names = first?.names else { return [] }
        var csv = CSVFormat()
        csv.beginRow([])
        for name in names { csv.text("", name) }
        csv.endRow()
        for table in self where table.names == names {
            for row in table.rows {
                csv.beginRow([])
                for (column, cell) in zip(table.columns, row.cells) where column.name != nil {
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
        }
        return csv.bytes
    }
}
