import WaybillCore
import WaybillExport
import WaybillQueries

struct EndpointsPage {
    @Redacted var answer: NetworkAnswer
    let question: NetworkQuestion
    var volume: VolumeChart?
    let frame: InspectorFrame
    private var address: ListAddress { frame.address }

    var html: HTML { frame.page("Endpoints", .endpoints, main: main) }

    static let hint = "All, or a filter: host:example.com status:5xx version:2.1"
    /// The parameters of the page itself. All others are conditions.
    static let parameters = ["sort"]
    /// The most rows, to keep the page readable. The file has all rows.
    static let rowLimit = 200

    private var main: HTML {
        let sorts = NetworkQuestion.Sort.allCases.dropFirst().map { (value: $0.rawValue, text: "by \($0.title)") }
        let form = ListForm(
            address: address, field: "filter", hint: Self.hint, choices: [("sort", "by Count", sorts)],
            terms: "terms?about=exchanges")
        let file: HTML = """
            <a class=copier download href="endpoints.csv\(address.query)">CSV</a>
            """
        return """
            <h1>Endpoints</h1>
            \(form.html)<div class=line><p class=hint>\(notes)</p>\(file, if: !answer.groups.isEmpty)</div>
            \(volume?.html ?? "")\(list)
            """
    }

    private var notes: HTML {
        guard !answer.groups.isEmpty else { return "" }
        let sentences = [
            "Errors are requests that failed or have a status of 400 or more.",
            "p50, p95 and p99 are of successes; “All” also counts errors and timeouts.", answer.otherSentence,
            answer.weighed?.sentence,
        ]
        return "\(sentences.compactMap(\.self).joined(separator: " "))"
    }

    private var list: HTML {
        guard !answer.groups.isEmpty else {
            return NoRows(title: "No requests", why: answer.whyEmpty, frame: frame).html
        }
        let table = _answer.table(question)
        let columns = NetworkQuestion.Sort.allCases.compactMap { sort in
            table.columns.firstIndex { $0.title == sort.title }.map { (sort: sort, index: $0) }
        }.sorted { ($0.sort == .name ? 0 : 1, $0.index) < ($1.sort == .name ? 0 : 1, $1.index) }
        let rows = zip(table.rows, answer.groups + answer.other).map { row, group in
            columns.map { column -> HTML in
                column.sort == .name ? link(to: group) : PlainTable.content(row.cells[column.index])
            }
        }
        let plain = PlainTable(
            caption: "Endpoints", columns: columns.map { .init(title: $0.sort.title, heading: heading($0.sort)) },
            rows: rows, sorted: columns.firstIndex { $0.sort == question.sort }, isAscending: question.sort == .name)
        return """
            <section class="answer endpoints"><header><h2>\(Words.count(answer.exchanges, "request"))</h2></header>
            \(plain.html)</section>

            """
    }

    private func heading(_ sort: NetworkQuestion.Sort) -> HTML {
        "<a href=\"\(address.with("sort", sort == .count ? nil : sort.rawValue))\">\(sort.title)</a>"
    }

    /// Redacted keys and the sum of others have no page.
    private func link(to group: NetworkGroup) -> HTML {
        guard answer.groups.contains(group), !group.title.contains(Redactor.placeholder) else {
            return "\(group.title)"
        }
        let conditions = address.items(besides: Self.parameters + ["method"])
        return "<a href=\"endpoint\(ListAddress(group.key.items + conditions).query)\">\(group.title)</a>"
    }
}

extension NetworkKey {
    static let parameters = ["role", "method", "host", "path"]

    var items: [(name: String, value: String)] {
        [("role", role.name), ("method", method ?? ""), ("host", host ?? ""), ("path", path ?? "")].filter {
            !$0.value.isEmpty
        }
    }

    init(_ address: ListAddress) throws(QueryFailure) {
        guard let role = ExchangeRole.allCases.first(where: { $0.name == address["role"] }) else {
            throw .parameter("role", "Name an endpoint by its role, which is client or server, method, host and path.")
        }
        // Groups by method have a path and a method, which may be empty.
        self.init(role: role, host: address["host"], path: address["path"] ?? "", method: address["method"] ?? "")
    }
}

/// A table whose rows are blocks on a narrow page.
struct PlainTable {
    struct Column {
        var title: String
        /// The content of the heading, if it is more than the title.
        var heading: HTML?
    }

    var caption: String
    var columns: [Column]
    var rows: [[HTML]]
    /// The column that the rows are sorted by; `nil` to mark none.
    var sorted: Int?
    var isAscending = false

    var html: HTML {
        let order: HTML = isAscending ? " aria-sort=ascending" : " aria-sort=descending"
        let headings = columns.indices.map { index -> HTML in
            "<th scope=col\(order, if: index == sorted)>\(columns[index].heading ?? "\(columns[index].title)")"
        }
        let lines = rows.map { cells -> HTML in
            let others = zip(columns, cells).dropFirst().map { column, cell -> HTML in
                "<td data-label=\"\(column.title)\">\(cell)"
            }
            return "<tr><th scope=row>\(cells[0])\(others)</tr>"
        }
        return """
            <div class=scroll tabindex=0 role=region aria-label="\(caption)"><table><thead><tr>\(headings)</tr></thead>\
            <tbody>\(lines)</tbody></table></div>

            """
    }

    static func content(_ cell: AnswerTable.Cell) -> HTML {
        let words = cell.words()
        return cell.tone == .bad ? "<span class=bad>\(words)</span>" : "\(words)"
    }
}
