package import WaybillCore
import WaybillExport
import WaybillQueries

/// Where the numbers on the pages of use cases lead: to the transactions that they count, under the same conditions.
struct UseCaseLinks {
    /// From the page to the pages' folder: `../`, as often as it is deep.
    let root: String
    let conditions: [(name: String, value: String)]

    /// - Parameters:
    ///   - address: Of the page; what only the page's question understands is left out.
    ///   - depth: How many components its path has.
    init(_ address: ListAddress, depth: Int) {
        root = String(repeating: "../", count: depth - 1)
        conditions = address.items.filter { Self.shared.contains($0.name) }
    }

    /// What lists of transactions understand, too.
    private static let shared = ["outcome", "since", "until", "text", "filter"]

    /// The list of transactions of a use case.
    ///
    /// - Parameters:
    ///   - changes: Conditions in place of those of the page.
    ///   - terms: Added to the page's filter.
    func transactions(
        of useCase: UseCaseReference, _ changes: [(name: String, value: String)] = [],
        _ terms: [FilterExpression.Term] = []
    ) -> String {
        var items = conditions.filter { condition in !changes.contains { $0.name == condition.name } } + changes
        if !terms.isEmpty {
            let written = items.last { $0.name == "filter" }?.value
            let expression = ([written].compactMap(\.self) + terms.map(\.description)).joined(separator: " ")
            items = items.filter { $0.name != "filter" } + [("filter", expression)]
        }
        return "\(root)transactions\(Self.query([("use_case", useCase.key)] + items))"
    }

    /// The page of a use case, or one of its files, under the same conditions.
    func useCase(_ useCase: UseCaseReference, _ file: String = "", _ others: [(name: String, value: String)] = [])
        -> String
    {
        "\(root)use-cases/\(ListAddress.encoded(useCase.key))\(file.isEmpty ? "" : "/")\(file)\(Self.query(conditions + others))"
    }

    static func query(_ items: [(name: String, value: String)]) -> String {
        items.isEmpty
            ? ""
            : "?"
                + items.map { "\(ListAddress.encoded($0.name))=\(ListAddress.encoded($0.value))" }.joined(
                    separator: "&")
    }
}

extension FilterExpression.Term {
    /// Those with an error of that domain and name; of that domain and code, where it has no name.
    static func error(_ error: UseCaseSummary.ErrorCount) -> FilterExpression.Term {
        let which = error.name ?? "\(error.code)"
        return FilterExpression.Term(.error, .equal, error.domain.isEmpty ? which : "\(error.domain) \(which)")
    }

    /// The same turned round.
    var negated: FilterExpression.Term {
        var term = self
        term.isNegated.toggle()
        return term
    }
}

/// A use case as addresses and pages name it.
package struct UseCaseReference: Sendable, Hashable {
    /// The code.
    package let code: Int
    /// Redacted; `use case 17` where no name is known, or an empty one.
    package let name: String
    /// What stands for it in an address: its name, or its code where the name would not lead to it.
    package let key: String

    /// Names a use case.
    ///
    /// - Parameters:
    ///   - code: Of the use case.
    ///   - names: What is called how in the store.
    package init(code: Int, among names: Redacted<[RecordedName]>) {
        let named = names.value.filter { $0.event == nil && $0.useCase == code && !$0.name.isEmpty }.min {
            $0.name < $1.name
        }
        self.code = code
        name = named?.name ?? "use case \(code)"
        // A browser takes dots for a way up, and a number is a code; a name that two use cases have means neither.
        let isAddress = named.map { named in
            Int(named.name) == nil && named.name != "." && named.name != ".." && named.isSearchable
                && names.value.allSatisfy { $0.event != nil || $0.useCase == code || $0.name != named.name }
        }
        key = isAddress == true ? name : "\(code)"
    }

    /// The use case that a part of an address means, a name or a code; nil where none is called so, or several are.
    package init?(key: String, among names: Redacted<[RecordedName]>) {
        let codes = Set(names.searchable.filter { $0.event == nil && $0.name == key }.map(\.useCase))
        guard let code = Int(key) ?? (codes.count == 1 ? codes.first : nil) else { return nil }
        self.init(code: code, among: names)
    }

    /// The searchable names of its events by code, each once; of very many, the first.
    package func events(among names: Redacted<[RecordedName]>) -> [String] {
        var seen: Set<String> = []
        let events = names.searchable.filter { $0.useCase == code && $0.event != nil }.map(\.name)
            .filter { seen.insert($0).inserted }
        return Array(events.prefix(FilterTerms.nameLimit))
    }
}

/// A table of an answer. Where there is no room for its columns, each row is a block that has the headings in front of
/// its cells.
struct AnswerTable {
    struct Column: ExpressibleByStringLiteral {
        /// Above the cells; empty above bars that need none.
        var heading: HTML
        /// In front of a cell in a block.
        var label: String
        /// Whether something is drawn in it, which has the whole width of a block.
        var isDrawn = false
        /// Whether its cells take two places of a block.
        var isLong = false

        init(stringLiteral heading: String) { self.init("\(heading)", label: heading) }

        init(_ heading: HTML, label: String) { (self.heading, self.label) = (heading, label) }

        /// Bars or lines.
        static func drawn(_ heading: HTML = "") -> Column {
            var column = Column(heading, label: "")
            column.isDrawn = true
            return column
        }

        /// Texts of two numbers.
        static func long(_ heading: String) -> Column {
            var column = Column(stringLiteral: heading)
            column.isLong = true
            return column
        }
    }

    /// What a screen reader calls it.
    var caption: String
    /// The first one names the rows.
    var columns: [Column]
    /// As many cells as there are columns.
    var rows: [[HTML]]
    /// The last row, of all of them; empty: there is none.
    var sum: [HTML] = []

    var html: HTML {
        let foot: HTML = "<tfoot>\(row(sum))</tfoot>"
        return """
            <div class=scroll tabindex=0 role=region aria-label="\(caption)"><table><thead><tr>\(columns.map(heading))</tr></thead>\
            <tbody>\(rows.map(row))</tbody>\(foot, if: !sum.isEmpty)</table></div>

            """
    }

    /// What has no words is no heading.
    private func heading(_ column: Column) -> HTML {
        let name: HTML = column.heading.bytes.isEmpty ? "td" : "th scope=col"
        return "<\(name)\(" class=drawn", if: column.isDrawn)>\(column.heading)"
    }

    private func row(_ cells: [HTML]) -> HTML {
        let named = zip(columns, cells).enumerated().map { index, cell -> HTML in
            let (column, content) = cell
            if index == 0 { return "<th scope=row>\(content)" }
            if column.isDrawn { return "<td class=drawn>\(content)" }
            return "<td data-label=\"\(column.label)\"\(" class=two", if: column.isLong)>\(content)"
        }
        return "<tr>\(named)</tr>"
    }
}
