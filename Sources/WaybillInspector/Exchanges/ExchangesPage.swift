package import WaybillCore
package import WaybillExport
package import WaybillReading

/// The list of network exchanges: a line for each, the newest first.
package struct ExchangesPage {
    private let page: RecordPage<ExchangeRecord>
    private let address: ListAddress
    private let names: Redacted<[RecordedName]>
    private let meant: String?
    private let frame: InspectorFrame

    /// - Parameters:
    ///   - page: Where it is empty, with the reason.
    ///   - names: Of use cases, to choose from.
    ///   - meant: The filter that may have been meant; nil: nothing is wrong with the one that was given, or nothing is
    ///     near.
    package init(
        _ page: Redacted<RecordPage<ExchangeRecord>>, at address: ListAddress, names: Redacted<[RecordedName]>,
        meant: String? = nil, in frame: InspectorFrame
    ) {
        (self.page, self.address, self.names, self.meant) = (page.value, address, names, meant)
        self.frame = frame
    }

    /// The whole document.
    package var html: HTML { frame.page("Network", .network, main: main) }

    private static let hint = "Any word of URL, header fields or bodies, or host:example.com status:5xx took>1s"
    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]
    private static let statuses = [
        ("2xx", "2xx success"), ("3xx", "3xx redirect"), ("4xx", "4xx refused"), ("5xx", "5xx server failed"),
    ]

    private var main: HTML {
        let chips = ExchangeTerms(page, at: address)
        let form = ListForm(
            address: address, field: "filter", hint: Self.hint, useCases: names.useCases,
            choices: [
                ("method", "Every method", Self.methods.map { ($0, $0) }),
                ("status", "Every status", Self.statuses.map { ($0.0, $0.1) }),
            ], terms: "terms?about=exchanges")
        return """
            <h1>Network</h1>
            \(form.html)<div class=line>\(states)</div>
            \(chips.html)\(note)\(list)\(ListPaging(address: address, next: page.next, progress: told).html)
            """
    }

    private var note: HTML { page.note.map { "<aside><p>\($0)</p></aside>\n" } ?? "" }

    private var states: HTML {
        let words = ExchangeRecord.State.allCases.map {
            (word: $0.rawValue, content: "\(Words.state($0))" as HTML, tone: $0.tone)
        }
        return ListChips(address: address, name: "state", label: "States", words: words).html
    }

    private var told: ListProgress? { page.progress.map { ListProgress($0, of: "request", timeZone: frame.timeZone) } }

    private var list: HTML {
        let word = page.progress == nil ? "No requests" : "Nothing yet"
        guard !page.rows.isEmpty else {
            return NoRows(title: word, why: page.whyEmpty ?? "", meant: meant, address: address).html
        }
        let scale = DurationStrip.Scale(page.rows.compactMap(\.durationMicroseconds))
        return "<ol class=\"rows net\">\(page.rows.map { row($0, scale) })</ol>\n"
    }

    private func row(_ record: ExchangeRecord, _ scale: DurationStrip.Scale) -> HTML {
        let exchange = record.exchange
        let error: HTML = exchange.error.map { "<i title=\"\(Words.error($0))\">\(Words.error($0))</i>" } ?? ""
        return """
            <li class=\(record.tone)><a href="network/\(record.id.description)"><b>\(exchange.method)</b> \
            <span>\(exchange.host)\(exchange.path)\(error)</span> <em>\(exchange.closing ?? exchange.status.map { "\($0)" } ?? Words.state(record.state))</em> \
            <small>\(record.belonging)</small> \(DurationStrip(record.durationMicroseconds, scale).html)\
            <data>\(record.durationMicroseconds.map(Words.duration) ?? "-")</data> \
            <data class=size>\(exchange.receivedByteCount.map(Words.byteCount) ?? "")</data> \
            \(HTML.moment(exchange.openedMicroseconds, .row, in: frame.timeZone))</a>

            """
    }
}

extension ExchangeRecord.State {
    /// The class of its colour, one of the outcomes' own.
    var tone: String {
        switch self {
        case .completed, .mocked: TransactionOutcome.succeeded.name
        case .failed: TransactionOutcome.failed.name
        case .inProgress: TransactionOutcome.open.name
        case .canceled: TransactionOutcome.canceled.name
        case .interrupted: TransactionOutcome.interrupted.name
        }
    }
}

extension ExchangeRecord {
    /// The class of its colour: a whole response that tells an error is one, too.
    var tone: String { exchange.hasFailed ? TransactionOutcome.failed.name : state.tone }

    var durationMicroseconds: Int64? { exchange.durationMicroseconds }

    /// Who recorded it, and in which use case.
    var belonging: String {
        let app = source.app.isEmpty ? "source" : source.app
        return [exchange.role == .server ? "\(app), as the server" : app, useCaseName].compactMap(\.self).joined(
            separator: " · ")
    }
}
