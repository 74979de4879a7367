import WaybillCore
import WaybillExport
import WaybillQueries

struct SessionsPage {
    @Redacted var page: RecordPage<TransactionSummary>
    @Redacted var list: SessionList
    let errorCounts: [GUID: Int]
    let names: Redacted<[RecordedName]>
    let frame: InspectorFrame
    private var address: ListAddress { frame.address }
    private var links: UseCaseLinks { frame.links(keeping: ["use_case"]) }

    var html: HTML { frame.page("Sessions", .transactions, main: main) }

    private var main: HTML {
        let form = ListForm(
            address: address, field: "filter", hint: "Any word, or attribute:user=u-17 device:iPhone17,1",
            useCases: names.useCases, terms: "terms")
        return """
            <h1>\(title)</h1>
            \(form.html)<div class=line><b>\(page.progress == nil ? list.total.words("transaction") : "")</b>\
            <a href="transactions\(address.with("cursor", nil))">As a list</a></div>
            \(content)
            """
    }

    private var title: String {
        guard let filter = address["filter"], let condition = try? FilterCondition(filter) else { return "Sessions" }
        if case .attribute(let name, let value?) = condition { return "Sessions of \(name) \(value)" }
        if case .installation(let id) = condition { return "Sessions of the installation \(id.supportCode)" }
        if case .source(let id) = condition { return "Session \(id.supportCode)" }
        return "Sessions of \(filter)"
    }

    private var content: HTML {
        guard !page.rows.isEmpty else {
            let word = page.progress == nil ? "No transactions" : "Nothing yet"
            let none = NoRows(title: word, why: page.whyEmpty, frame: frame)
            return "\(none.html)\(paging)"
        }
        let rows = TransactionRows(page.rows, errorCounts: errorCounts, in: frame)
        return "<header class=what><dl>\(cells)</dl></header>\n\(groups(rows))\(rows.scales)\(paging)"
    }

    private var paging: HTML { ListPaging(page: page, noun: "transaction", frame: frame).html }

    private var cells: HTML {
        func time(_ microseconds: Int64?) -> HTML {
            microseconds.map { HTML.moment($0, .dateAndMinute, in: frame.timeZone) } ?? "-"
        }
        let sources = list.sessions.map(\.source)
        let failed = links.transactions([], [("outcome", TransactionOutcome.failed.name)], conditions: [])
        var cells: [(String, HTML)] = [
            ("Failed", list.failedCount == 0 ? "none" : "<a class=bad href=\"\(failed)\">\(list.failedCount)</a>"),
            ("Sessions", "\(list.sessions.count)"), ("First", time(list.firstMicroseconds)),
            ("Last", time(list.lastMicroseconds)),
            ("Apps and versions", menus(sources.flatMap { ValueMenu.app($0.app, $0.appVersion, links) })),
            (
                "Devices and systems",
                menus(sources.flatMap { ValueMenu.device($0.device, $0.os, $0.osVersion, links) })
            ),
        ]
        let installations = Set(sources.compactMap(\.installation)).sorted()
        if !installations.isEmpty {
            cells.append(("Installations", menus(installations.map { ValueMenu.installation($0, links) })))
        }
        if !list.errors.isEmpty { cells.append(("Errors", errors)) }
        return .cells(cells)
    }

    private static let errorLimit = 10

    private var errors: HTML {
        let sorted = list.errors.sorted { ($1.value, $0.key.identityText) < ($0.value, $1.key.identityText) }
        let shown = sorted.prefix(Self.errorLimit).map { error, count -> HTML in
            "\(ValueMenu.error(error, links).html)<small>\(count)</small>"
        }
        return "<div class=values>\(shown)</div>"
    }

    private func menus(_ all: [ValueMenu]) -> HTML {
        var seen: Set<HTML> = []
        let different = all.filter { seen.insert($0.html).inserted }
        return Array(different.prefix(ValueMenu.limit)).html
    }

    private func groups(_ rows: TransactionRows) -> HTML {
        struct Place: Hashable {
            var session: GUID?
            var day: Int64
        }
        var order: [Place] = []
        var groups: [Place: [Int]] = [:]
        for (index, row) in page.rows.enumerated() {
            let place = Place(session: list.sources[row.id], day: frame.timeZone.day(row.begunMicroseconds))
            if groups[place] == nil { order.append(place) }
            groups[place, default: []].append(index)
        }
        let sessions = Dictionary(list.sessions.map { ($0.source.id, $0) }) { first, _ in first }
        let drawn = order.map { place -> HTML in
            let indices = groups[place] ?? []
            let session = place.session.flatMap { sessions[$0] }
            let day = session?.days[place.day]
            return """
                <h2>\(HTML.moment(page.rows[indices[0]].begunMicroseconds, .date, in: frame.timeZone))\(about(session, day))</h2>
                \(rows.html(indices))
                """
        }
        return "\(drawn)"
    }

    private func about(_ session: SessionList.Session?, _ day: SessionList.Day?) -> HTML {
        guard let source = session?.source else { return "" }
        let app = "\(source.app.isEmpty ? "source" : source.app) \(source.appVersion)"
        let place = [source.device, source.system].filter { !$0.isEmpty }.joined(separator: ", ")
        let failed: HTML = "<b class=bad>\(day?.failedCount ?? 0) failed</b>"
        let counts: HTML = "\(Words.count(day?.count ?? 0, "transaction"))\(", ", if: day?.failedCount ?? 0 > 0)"
        return """
            , <a href="sources/\(source.id.description)">\(app)</a>\(place.isEmpty ? "" : " on \(place)"): \
            \(counts)\(failed, if: day?.failedCount ?? 0 > 0)
            """
    }
}

extension SourceIdentity {
    fileprivate var system: String { [os, osVersion].filter { !$0.isEmpty }.joined(separator: " ") }
}

extension InspectedStore {
    func sessionsPage() async throws -> InspectorResponse {
        let names = redactor.redacted(try await store.names())
        var list = SessionList()
        let (page, frame) = try await self.page {
            let request = try ListRequest(address.items, about: .transactions)
            let page = try await store.transactions(request, within: Self.budget)
            list = try await store.sessions(
                request, rows: page.rows.map(\.id), in: self.frame.timeZone, within: Self.budget)
            return page
        }
        let errorCounts = try await store.errorCounts(of: page.value.rows.map(\.id))
        let html = SessionsPage(
            page: page, list: redactor.redacted(list), errorCounts: errorCounts, names: names, frame: frame
        ).html
        return .page(html, status: frame.status)
    }
}

extension ListTotal {
    fileprivate func words(_ noun: String) -> String {
        let number = Words.count(count, noun)
        if isComplete { return number }
        return count >= Self.limit ? "more than \(number)" : "at least \(number)"
    }
}
