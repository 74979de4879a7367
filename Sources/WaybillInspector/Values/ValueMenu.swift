import WaybillCore
import WaybillExport
import WaybillQueries

/// A value of a page. It opens to links: to the transactions with the value, to those without it, and to their sessions.
struct ValueMenu {
    fileprivate let text: String
    private let condition: FilterCondition
    private let links: UseCaseLinks
    private let page: (title: String, address: String)?

    init(
        _ text: String, _ condition: FilterCondition, _ links: UseCaseLinks,
        page: (title: String, address: String)? = nil
    ) {
        (self.text, self.condition, self.links, self.page) = (text, condition, links, page)
    }

    /// A redacted value has no links, because no filter finds it.
    private var canFind: Bool { !text.isEmpty && !condition.description.contains(Redactor.placeholder) }

    var html: HTML {
        guard canFind else { return "\(text)" }
        return """
            <details class=value><summary>\(text)</summary><span><a href="\(links.transactions([], conditions: [condition]))">Only these</a> \
            <a href="\(links.transactions([], conditions: [.not(condition)]))">Without these</a> \
            <a href="\(address)">\(page?.title ?? "Sessions")</a></span></details>
            """
    }

    private var address: String {
        if let page { return page.address }
        return "\(links.root)sessions\(ListAddress([("filter", condition.description)]).query)"
    }
}

extension ValueMenu {
    /// The most values of one place.
    static let limit = 40

    static func attributes(_ attributes: Attributes, _ links: UseCaseLinks) -> [ValueMenu] {
        attributes.sorted { $0.key < $1.key }.prefix(limit).map { name, value in
            ValueMenu("\(name)=\(value)", .attribute(name, value: value.description), links)
        }
    }

    static func useCase(_ code: Int, _ name: String, _ links: UseCaseLinks) -> ValueMenu {
        ValueMenu(name, .useCase(code), links, page: ("Use case", "\(links.root)use-cases/\(code)"))
    }

    static func outcome(_ outcome: TransactionOutcome, _ links: UseCaseLinks) -> ValueMenu {
        ValueMenu(Words.outcome(outcome), .outcome([outcome]), links)
    }

    static func error(_ error: RecordedError, _ links: UseCaseLinks) -> ValueMenu {
        let condition = FilterCondition.finishError(error.identity)
        let page = "\(links.root)errors\(ListAddress([("filter", condition.description)]).query)"
        return ValueMenu(Words.error(error), condition, links, page: ("Error", page))
    }

    static func installation(_ id: GUID, _ links: UseCaseLinks) -> ValueMenu {
        ValueMenu(id.description, .installation(id), links)
    }

    static func session(_ id: GUID, _ links: UseCaseLinks) -> ValueMenu {
        ValueMenu("session \(id.supportCode)", .source(id), links)
    }

    static func app(_ app: String, _ version: String, _ links: UseCaseLinks) -> [ValueMenu] {
        [ValueMenu(app, .app(app), links), ValueMenu(version, .appVersion(version), links)]
    }

    static func device(_ device: String, _ os: String, _ osVersion: String, _ links: UseCaseLinks) -> [ValueMenu] {
        [
            ValueMenu(device, .device(device), links), ValueMenu(os, .os(os), links),
            ValueMenu(osVersion, .osVersion(osVersion), links),
        ]
    }
}

extension [ValueMenu] {
    var html: HTML {
        let drawn = map(\.html).filter { !$0.bytes.isEmpty }
        return drawn.isEmpty ? "" : "<div class=values>\(drawn)</div>\n"
    }
}

struct RowValues {
    private var values: [(name: String, values: [(menu: ValueMenu, count: Int)])] = []

    private static let (nameLimit, valueLimit) = (12, 12)

    init(_ rows: [TransactionSummary], _ links: UseCaseLinks) {
        add("use case", rows.map { ValueMenu.useCase($0.useCase, $0.useCaseName, links) })
        add("error", rows.compactMap { row in row.error.map { ValueMenu.error($0.identity, links) } })
        for name in Set(rows.flatMap(\.attributes.keys)).sorted().prefix(Self.nameLimit) {
            let found = rows.compactMap { $0.attributes[name]?.description }
            add(name, found.map { ValueMenu($0, .attribute(name, value: $0), links) })
        }
    }

    private mutating func add(_ name: String, _ all: [ValueMenu]) {
        let groups = Dictionary(grouping: all, by: \.text).sorted {
            ($1.value.count, $0.key) < ($0.value.count, $1.key)
        }
        guard !groups.isEmpty else { return }
        values.append((name, groups.prefix(Self.valueLimit).map { ($0.value[0], $0.value.count) }))
    }

    var html: HTML {
        guard !values.isEmpty else { return "" }
        let names = values.map { name, values -> HTML in
            "<div><dt>\(name)<dd class=values>\(values.map { "\($0.menu.html)<small>\($0.count)</small>" as HTML })</div>"
        }
        return "<details class=facets><summary>Values of these rows</summary><dl>\(names)</dl></details>\n"
    }
}
