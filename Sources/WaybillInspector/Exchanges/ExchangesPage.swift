import WaybillCore
import WaybillExport
import WaybillQueries

struct ExchangesPage {
    @Redacted var page: RecordPage<ExchangeRecord>
    var volume: VolumeChart?
    let names: Redacted<[RecordedName]>
    var version: Int64 = 0
    let frame: InspectorFrame
    private var address: ListAddress { frame.address }

    var html: HTML { frame.page("Network", .network, main: main) }

    private static let hint = "Any word of URL, header fields or bodies, or host:example.com status:5xx took>1s"
    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]
    private static let statuses = [
        ("2xx", "2xx success"), ("3xx", "3xx redirect"), ("4xx", "4xx refused"), ("5xx", "5xx server failed"),
    ]

    private var main: HTML {
        let form = ListForm(
            address: address, field: "filter", hint: Self.hint, useCases: names.useCases,
            choices: [
                ("method", "Every method", Self.methods.map { ($0, $0) }),
                ("status", "Every status", Self.statuses.map { ($0.0, $0.1) }),
            ], terms: "terms?about=exchanges")
        return """
            <h1>Network</h1>
            \(form.html)<div class=line>\(states)<a href="endpoints\(ListAddress(address.items(besides: ["cursor"])).query)">By endpoint</a>\
            \(frame.liveBar(version), if: address.isFirstPage)</div>
            \(terms)<p><b data-fresh>\(volume?.total ?? "")</b></p>
            \(note)\(volume?.html ?? "")\(list)\
            \(ListPaging(page: page, noun: "request", frame: frame).html)
            """
    }

    private var note: HTML { page.note.map { "<aside><p>\($0)</p></aside>\n" } ?? "" }

    private var states: HTML {
        let words = ExchangeRecord.State.allCases.map {
            (word: $0.rawValue, content: "\(Words.state($0))" as HTML, tone: $0.outcome.name)
        }
        return ListChips(address: address, name: "state", label: "States", words: words).html
    }

    private var list: HTML {
        let word = page.progress == nil ? "No requests" : "Nothing yet"
        guard !page.rows.isEmpty else {
            let none = NoRows(title: word, why: page.whyEmpty, frame: frame)
            return "<ol class=\"rows net\"></ol>\(none.html)"
        }
        let scale = DurationScale(page.rows.compactMap(\.durationMicroseconds))
        let days = DayMarks(page.rows.map(\.exchange.openedMicroseconds), in: frame.timeZone)
        return """
            <ol class="rows net">\(page.rows.enumerated().map { row($1, scale, day: days[$0]) })</ol>
            \(scale.words)
            """
    }

    private func row(_ record: ExchangeRecord, _ scale: DurationScale, day: HTML) -> HTML {
        let exchange = record.exchange
        let error: HTML = exchange.error.map { "<i title=\"\(Words.error($0))\">\(Words.error($0))</i>" } ?? ""
        return """
            <li id="x-\(record.id.description)" class="\(record.outcome.name)\(day)"><a href="network/\(record.id.description)"><b>\(exchange.method)</b> \
            <span>\(exchange.host)\(exchange.path)\(error)</span> <em>\(exchange.closing ?? exchange.status.map { "\($0)" } ?? Words.state(record.state))</em> \
            <small>\(record.belonging)</small> \(scale.strip(record.durationMicroseconds))\
            <data>\(record.durationMicroseconds.map(Words.duration) ?? "-")</data> \
            <data class=size>\(exchange.receivedByteCount.map(Words.byteCount) ?? "")</data> \
            \(HTML.moment(exchange.openedMicroseconds, .row, in: frame.timeZone))</a>

            """
    }
}

extension ExchangeRecord {
    var durationMicroseconds: Int64? { exchange.durationMicroseconds }

    var belonging: String {
        let app = source.app.isEmpty ? "source" : source.app
        return [exchange.role == .server ? "\(app), as the server" : app, useCaseName].compactMap(\.self).joined(
            separator: " · ")
    }
}

extension ExchangesPage {
    private static let hostLimit = 6
    private static let usual: [FilterCondition] = [.tookMoreThan(.seconds(1)), .receivedMoreThan(100_000)]

    static func hosts(of rows: [ExchangeRecord]) -> [String] {
        var counts: [String: Int] = [:]
        // Remove the port. IPv6 addresses contain colons themselves.
        for row in rows where !row.exchange.host.hasPrefix("[") {
            counts[String(row.exchange.host.prefix { $0 != ":" }), default: 0] += 1
        }
        counts[""] = nil
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(Self.hostLimit).map(\.key)
    }

    var terms: HTML {
        let terms = (Self.hosts(of: page.rows).map { FilterCondition.host($0) } + Self.usual).map(\.description)
        // Selected hosts remain, even if they are not on the page.
        let all = terms + chosen.filter { $0.hasPrefix("host:") && !terms.contains($0) }
        return "<ul class=terms aria-label=\"Terms of the filter\">\(all.map(chip))</ul>\n"
    }

    private func chip(_ term: String) -> HTML {
        let isOn = chosen.contains(term)
        let terms = isOn ? chosen.filter { $0 != term } : chosen + [term]
        return """
            <li><a class=chip href="\(address.with("filter", terms.isEmpty ? nil : terms.joined(separator: " ")))"\
            \(" aria-current=true", if: isOn)>\(term)</a>
            """
    }

    /// An invalid filter is one term.
    private var chosen: [String] {
        guard let text = address["filter"] else { return [] }
        return (try? FilterExpression(text, about: .exchanges).terms.map(\.description)) ?? [text]
    }
}
