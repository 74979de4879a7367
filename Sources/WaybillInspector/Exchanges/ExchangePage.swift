import WaybillCore
package import WaybillExport
import WaybillQueries

struct ExchangePage {
    @Redacted var record: ExchangeRecord
    @Redacted var bodies: ExchangeBodies
    @Redacted var transaction: TransactionRecord?
    let frame: InspectorFrame
    private var exchange: TransactionRecord.Exchange { record.exchange }

    var html: HTML { frame.page("\(exchange.method) \(exchange.path)", .network, main: main) }

    private var main: HTML {
        """
        <nav class=around aria-label="Around it"><a rel=up href="../network">All requests</a>\(toTransaction)</nav>
        <header class="what \(record.outcome.name)"><h1>\(exchange.method) \(exchange.path) <em>\(exchange.result)</em></h1>
        <p class=url>\(exchange.url)
        <dl>\(cells)</dl>
        <p class=actions><button type=button class=copier data-copy=link hidden>Copy link</button>\(copyCommand)\
        \([ExchangeFile.har, .json, .text].map(download))</header>
        \(find)<article class="exchange \(record.outcome.name)" id=exchange>\(time)\(redirects)<div class=sides>
        \(side("Request", exchange.requestHeaderFields, shown.request, byteCount(exchange.sentByteCount), .requestBody))\
        \(side("Response", exchange.responseHeaderFields, shown.response, byteCount(exchange.receivedByteCount), .responseBody))</div>
        \(messages)\(commandText)</article>

        """
    }

    private var toTransaction: HTML {
        guard let transaction else { return "<span>Outside any transaction</span>" }
        let anchor = SourceNames(transaction.sources).anchor(of: record.id)
        return """
            <a class=\(transaction.summary.outcome.name) href="../transactions/\(transaction.summary.id.description)?at=\(anchor)#\(anchor)">In: \
            \(transaction.summary.outcome.icon)\(transaction.summary.useCaseName) \(transaction.summary.id.supportCode.description)</a>
            """
    }

    private var cells: HTML {
        let cells: [(String, HTML)] = [
            ("Opened", HTML.moment(exchange.openedMicroseconds, .exact, in: frame.timeZone)),
            ("Duration", "\(record.durationMicroseconds.map(Words.duration) ?? "not closed")"),
            ("State", "\(Words.state(record.state))"), ("Host", "\(exchange.host)"),
            ("Recorded by", "\(record.belonging)"),
            ("Exchange", "\(record.id.code)"),
        ]
        return .cells(cells)
    }

    /// The script reveals this field. Without it, the browser's search works.
    private var find: HTML {
        """
        <search class=within data-find=exchange hidden><input type=search aria-label="Find in this request" \
        placeholder="Find in header fields and bodies"><output aria-live=polite></output></search>

        """
    }

    private var time: HTML {
        let caused = transaction?.parts.first { $0.cause == record.id }
        let words = exchange.words(bodies, caused)
        let error: HTML = exchange.error.map { "<p class=bad>\(Words.error($0))\n" } ?? ""
        return """
            <section aria-labelledby=timing><h2 id=timing>Timing</h2><p>\(words.isEmpty ? "It was not closed." : words.joined(separator: " · "))
            \(error)\(ExchangeTiming(exchange).map(phases) ?? "")</section>

            """
    }

    private func side(
        _ title: String, _ fields: [HeaderField], _ body: ExchangeBody?, _ byteCount: Int64?, _ file: ExchangeFile
    ) -> HTML {
        let view = BodyView(body: body, byteCount: byteCount, file: file, address: address(of: file))
        return """
            <section aria-labelledby=\(file.rawValue)-side><h2 id=\(file.rawValue)-side>\(title)</h2>\
            \(headerTable(fields, id: "\(file.rawValue)-fields"))\(view.html)</section>

            """
    }

    private var shown: ExchangeBodies { bodies.withoutMessages }

    private func byteCount(_ count: Int64?) -> Int64? { exchange.transfer.webSocket == nil ? count : nil }

    private var messages: HTML {
        guard let table = WebSocketMessages.table(of: exchange, bodies) else { return "" }
        return "<section aria-labelledby=messages><h2 id=messages>Messages</h2>\(table)</section>\n"
    }

    // MARK: To take away

    private var command: CurlCommand? { CurlCommand(exchange, body: bodies.request) }

    /// Longer commands are only downloads.
    private static let commandLimit = 64 << 10

    private var copyCommand: HTML {
        guard let command else { return "" }
        return command.text.utf8.count > Self.commandLimit
            ? download(.curl) : "<button type=button class=copier data-copies=curl hidden>Copy as cURL</button>"
    }

    private var commandText: HTML {
        guard let command, command.text.utf8.count <= Self.commandLimit else { return "" }
        return "<details class=raw><summary>As a cURL command</summary><pre id=curl>\(command.text)</pre></details>\n"
    }

    private func download(_ file: ExchangeFile) -> HTML {
        "<a class=copier download href=\"\(address(of: file))\">\(file.name)</a>"
    }

    /// A dot precedes the ID, since its colon would otherwise end a URL scheme.
    private func address(of file: ExchangeFile) -> String { "./\(record.id.description)/\(file.rawValue)" }
}

extension ExchangePage {
    private func headerTable(_ fields: [HeaderField], id: String) -> HTML {
        guard !fields.isEmpty else { return "<p class=note>No header field was recorded.\n" }
        let rows = fields.map { "<tr><th scope=row>\($0.name)<td>\(PrettyJSON.html($0.value))" as HTML }
        return """
            <p class=kind><span>\(Words.count(fields.count, "header field"))</span><button type=button class=copier data-copies="\(id)" \
            hidden>Copy</button>
            <table class=fields id="\(id)"><tbody>\(rows)</table>

            """
    }

    private func phases(_ timing: ExchangeTiming) -> HTML {
        guard timing.total > 0 else { return "" }
        let rects = HTML.segments(timing.phases.map { ("", $0.duration) }, of: timing.total, least: 3)
        let rows = zip(timing.phases, rects).map { phase, rect in
            "<tr><th scope=row>\(phase.name)<td><svg aria-hidden=true>\(rect)</svg><td>\(Words.duration(phase.duration))"
                as HTML
        }
        return "<table class=phases-table><tbody>\(rows)</table>\n"
    }

    private var redirects: HTML {
        guard !exchange.transfer.redirects.isEmpty else { return "" }
        var from = exchange.url
        var steps: [HTML] = []
        for redirect in exchange.transfer.redirects {
            let after = Words.duration(redirect.atMicroseconds - exchange.openedMicroseconds)
            steps.append("<li><span>\(from)</span> <em>\(redirect.status)</em> <data>after \(after)</data>")
            from = redirect.url
        }
        let end = exchange.closedMicroseconds.map { "after \(Words.duration($0 - exchange.openedMicroseconds))" } ?? ""
        let tone: HTML = exchange.hasFailed ? " class=bad" : ""
        return """
            <section aria-labelledby=redirects><h2 id=redirects>Redirects</h2><ol class=redirects>\(steps)\
            <li><span>\(from)</span> <em\(tone)>\(exchange.result)</em> <data>\(end)</data></ol></section>

            """
    }
}

package enum ExchangeFile: String, Sendable, CaseIterable {
    /// A stored body: an image if browsers show its format, otherwise bytes.
    case requestBody = "request-body", responseBody = "response-body"
    case har, curl, text, json

    package var format: ExchangeFormat? { ExchangeFormat(rawValue: rawValue) }

    var name: String {
        switch self {
        case .requestBody: "Request body"
        case .responseBody: "Response body"
        case .curl: "cURL"
        case .text: "Text"
        case .har, .json: rawValue.uppercased()
        }
    }

    package var suffix: String {
        switch self {
        case .requestBody, .responseBody: rawValue
        case .curl: "sh"
        case .text: "txt"
        case .har, .json: rawValue
        }
    }

    /// The media type; for bodies, the one used unless they are images.
    package var mediaType: String {
        switch self {
        case .requestBody, .responseBody: "application/octet-stream"
        case .curl, .text: "text/plain; charset=utf-8"
        case .har, .json: "application/json"
        }
    }
}
