import Foundation
import WaybillCore
import WaybillExport
import WaybillQueries

/// The search form above a list. Its fields are the URL's parameters, which makes views shareable.
struct ListForm {
    let address: ListAddress
    var field = "text"
    var hint: String
    /// The names of use cases to choose from; `nil` to omit this choice.
    var useCases: [String]?
    var choices: [(name: String, label: String, values: [(value: String, text: String)])] = []
    var hasAges = true
    /// The address of completions for the search field; `nil` for none.
    var terms: String?
    /// The parameters that belong to the page's address. They are no conditions, and Clear keeps them.
    var kept: [String] = []

    private static let ages: [(value: String, text: String)] = [
        ("15m", "last 15 minutes"), ("1h", "last hour"), ("24h", "last 24 hours"), ("7d", "last 7 days"),
    ]

    var html: HTML {
        let named = useCases.map { [("use_case", "Every use case", $0.map { ($0, $0) })] } ?? []
        let all = named + choices + (hasAges && !hasRange ? [("since", "At any time", Self.ages)] : [])
        let fields = [field] + all.map(\.0) + (hasAges ? ["since", "until"] : [])
        let completed: HTML = terms.map { " list=terms data-terms=\"\($0)\"><datalist id=terms></datalist>" } ?? ">"
        return """
            <form class=find method=get><search><input type=search name="\(field)" value="\(address[field] ?? "")" aria-label="Search" \
            placeholder="\(hint)"\(completed)\(all.map(select))\(range, if: hasAges)\(address.hidden(besides: fields))<button>Show</button>\
            \(clear)</search></form>

            """
    }

    /// Whether the page shows a part of the time that the choice does not offer.
    private var hasRange: Bool {
        address["until"] != nil || address["since"].map { since in !Self.ages.contains { $0.value == since } } == true
    }

    /// The fields for any range of time. They replace the choice of ages if the page has such a range.
    private var range: HTML {
        func input(_ name: HTML, _ label: HTML) -> HTML {
            let value = hasRange ? address[name.text] ?? "" : ""
            return """
                <label>\(label) <input name=\(name) value="\(value)" size=20 placeholder="\(Self.exampleOfTime)" autocomplete=off></label>
                """
        }
        return """
            <details class=range\(" open", if: hasRange)><summary>Range</summary>\(input("since", "From"))\(input("until", "to"))</details>
            """
    }

    private static let exampleOfTime = "2026-03-01, 24h"

    private var clear: HTML {
        guard !address.items(besides: kept + ["cursor"]).isEmpty else { return "" }
        let own = ListAddress(address.items.filter { kept.contains($0.name) })
        return "<a href=\"\(own.with("cursor", nil))\">Clear</a>"
    }

    /// Longer choices are unusable, and the search field accepts any value.
    private static let choiceLimit = 200

    private func select(_ name: String, _ label: String, _ all: [(value: String, text: String)]) -> HTML {
        var values = Array(all.prefix(Self.choiceLimit))
        let more = all.count - values.count
        let rest: HTML = more > 0 ? "<option disabled>and \(more) others</option>" : ""
        let chosen = address[name]
        // Keep a value that only the URL contains.
        if let chosen, !values.contains(where: { $0.value == chosen }) { values.append((chosen, chosen)) }
        let options = HTML.options([("", label)] + values, chosen: chosen)
        return "<select name=\"\(name)\" aria-label=\"\(label)\">\(options)\(rest)</select>"
    }
}

struct NoRows {
    var title: String
    var why: String?
    var isMistake = false
    var help: HTML = ""
    let frame: InspectorFrame

    static let firstSet: HTML = """
        <p>Send the first set: give the app <code>Delivery.collector</code> with this address and a token to ingest. \
        Or import files, with <code>waybill import FILES --to STORE</code>.
        """

    var html: HTML {
        let link: HTML =
            frame.meant.map { "<p><a class=chip href=\"\(frame.address.with("filter", $0))\">Show \($0)</a>" } ?? ""
        return
            "<div class=none\(" role=alert", if: isMistake)><b>\(title)</b><p>\(frame.mistake?.value ?? why ?? "")\(link)\(help)</div>\n"
    }
}

/// The CSS class of each day's first row, which shows its date where other rows have no room for one.
struct DayMarks {
    private let days: [String]

    init(_ moments: [Int64], in zone: TimeZone) { days = moments.map { WallTime($0, in: zone).date } }

    subscript(index: Int) -> HTML { index == 0 || days[index] != days[index - 1] ? " day" : "" }
}

struct ListChips {
    let address: ListAddress
    var name: String
    var label: String
    var words: [(word: String, content: HTML, tone: String)]

    var html: HTML {
        "<ul class=outcomes aria-label=\"\(label)\">\(words.map(chip))</ul>\n"
    }

    private func chip(_ word: String, _ content: HTML, _ tone: String) -> HTML {
        let isOn = address.contains(word, in: name)
        return """
            <li class="\(tone)"><a class=chip href="\(address.toggled(word, in: name))"\(" aria-current=true", if: isOn)>\(content)</a>
            """
    }
}

/// The links to further pages of a list, and how far its search got.
struct ListPaging<Row: Sendable & Codable> {
    let page: RecordPage<Row>
    let noun: String
    let frame: InspectorFrame
    private var address: ListAddress { frame.address }

    var html: HTML {
        guard page.next != nil || !address.isFirstPage else { return "" }
        let told: HTML = page.progress.map { "<p class=progress role=status>\(sentence($0))</p>\n" } ?? ""
        let newest: HTML = address.isFirstPage ? "" : "<a href=\"\(address.with("cursor", nil))\">Newest</a>"
        let older: HTML = page.next.map { "<a rel=next href=\"\(address.with("cursor", $0))\">\(word)</a>" } ?? ""
        return "\(told)<nav class=pages aria-label=\"Further rows\">\(newest)\(older)</nav>\n"
    }

    private var word: String {
        switch page.progress {
        case .lookedAt: "Look further"
        case .foundByID: "Look for it in texts"
        case nil: "Older"
        }
    }

    private func sentence(_ progress: SearchProgress) -> HTML {
        switch progress {
        case .lookedAt(let count, let place): "Looked at \(Words.count(count, noun)) so far, to \(words(for: place))."
        case .foundByID: "Found by its ID or support code."
        }
    }

    private func words(for place: SearchProgress.Place) -> HTML {
        switch place {
        case .time(let microseconds): HTML.moment(microseconds, .dateAndTime, in: frame.timeZone)
        case .duration(let microseconds): "\(microseconds.map(Words.duration) ?? "those without a duration")"
        }
    }
}

struct FilterTerms {
    let all: [String]

    /// The maximum number of values per key. People search for use cases and events, which may have more.
    private static let limit = 12
    static let nameLimit = 200

    init(
        _ seen: SeenValues, names: Redacted<[RecordedName]>, about subject: FilterExpression.Subject = .transactions,
        hosts: [String] = []
    ) {
        let names = names.searchable
        func known(_ names: [RecordedName]) -> [String] { Set(names.map(\.name)).sorted() }
        let values: [(FilterExpression.Key, [String])] = [
            (.useCase, known(names.filter { $0.event == nil })), (.outcome, TransactionOutcome.allCases.map(\.name)),
            (.event, known(names.filter { $0.event != nil })), (.has, [RecordedName.feedback]), (.error, ["*"]),
            (.host, hosts),
            (.method, ["GET", "POST"]),
            (.status, ["4xx", "5xx"]), (.state, ExchangeRecord.State.allCases.map(\.rawValue)),
            (.exchange, ExchangeRecord.State.allCases.map(\.rawValue)), (.app, seen.values(of: .app)),
            (.version, seen.values(of: .appVersion)), (.device, seen.values(of: .device)), (.os, seen.values(of: .os)),
            (.osVersion, seen.values(of: .osVersion)), (.ended, FilterCondition.ends),
            (.sampled, FilterCondition.Sampled.allCases.map(\.rawValue)),
            (.since, ["15m", "1h", "24h", "7d"]),
            (.parent, ["known", "failed"] + known(names.filter { $0.event == nil })),
            (.child, ["known", "failed"] + known(names.filter { $0.event == nil })),
            (.beginner, [TransactionFilter.Beginner.unknown, .any].map(\.rawValue)),
            (.sort, TransactionFilter.Order.allCases.map(\.rawValue)),
        ]
        let attributes = seen.attributes.flatMap { name in
            seen.values(of: .attribute(name)).prefix(Self.limit).map { FilterCondition.attribute(name, value: $0) }
        }
        let lengths: [FilterCondition] = [.tookMoreThan(.seconds(1)), .tookLessThan(.milliseconds(100))]
        var all = values.filter { $0.0.goes(with: subject) }.flatMap { key, values in
            values.prefix(key == .useCase || key == .event ? Self.nameLimit : Self.limit)
                .map { FilterExpression(key, $0).description }
        }
        all += (attributes.prefix(4 * Self.limit) + lengths).map(\.description)
        if subject == .exchanges { all.append(FilterCondition.receivedMoreThan(100_000).description) }
        self.all = all
    }
}

extension Redacted<[RecordedName]> {
    var searchable: [RecordedName] { value.filter { $0.isSearchable } }

    var useCases: [String] {
        var seen: Set<String> = []
        return searchable.filter { $0.event == nil }.map(\.name).filter { seen.insert($0).inserted }
    }
}

extension RecordedName {
    var isSearchable: Bool { !name.isEmpty && !name.contains(Redactor.placeholder) }
}
