package import WaybillCore
package import WaybillExport
package import WaybillReading

/// One network exchange: what was asked and answered, where the time went, and the way to its transaction.
package struct ExchangePage {
    private let record: ExchangeRecord
    private let bodies: ExchangeBodies
    private let transaction: TransactionRecord?
    private let frame: InspectorFrame
    private var exchange: TransactionRecord.Exchange { record.exchange }

    /// - Parameter transaction: The one that it belongs to; nil outside any.
    package init(
        _ record: Redacted<ExchangeRecord>, bodies: Redacted<ExchangeBodies>, transaction: Redacted<TransactionRecord?>,
        in frame: InspectorFrame
    ) {
        (self.record, self.bodies, self.transaction, self.frame) = (
            record.value, bodies.value, transaction.value, frame
        )
    }

    /// The whole document.
    package var html: HTML { frame.page("\(exchange.method) \(exchange.path)", .network, depth: 2, main: main) }

    private var main: HTML {
        """
        <nav class=around aria-label="Around it"><a rel=up href="../network">All requests</a>\(toTransaction)</nav>
        <header class="what \(record.tone)"><h1>\(exchange.method) \(exchange.path) <em>\(exchange.result)</em></h1>
        <p class=url>\(exchange.url)
        <dl>\(cells)</dl>
        <p class=actions><button type=button class=copier data-copy=link hidden>Copy link</button>\(copyCommand)\
        \([ExchangeFile.har, .json, .text].map(download))</header>
        \(find)<article class="exchange \(record.tone)" id=exchange>\(time)\(ExchangeRedirects(exchange: exchange).html)<div class=sides>
        \(side("Request", exchange.requestHeaderFields, shown.request, byteCount(exchange.sentByteCount), .requestBody))\
        \(side("Response", exchange.responseHeaderFields, shown.response, byteCount(exchange.receivedByteCount), .responseBody))</div>
        \(messages)\(commandText)</article>

        """
    }

    private var toTransaction: HTML {
        guard let transaction else { return "<span>Outside any transaction</span>" }
        let anchor = SourceNames(transaction.sources).anchor(of: record.id)
        return """
            <a class=\(transaction.summary.outcome.name) href="../transactions/\(transaction.summary.id.description)#\(anchor)">In: \
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
        return "\(cells.map { "<div><dt>\($0.0)<dd>\($0.1)</div>" as HTML })"
    }

    /// Unfolded by the script: without it the browser's own search does.
    private var find: HTML {
        """
        <search class=within data-find=exchange hidden><input type=search aria-label="Find in this request" \
        placeholder="Find in header fields and bodies"><output aria-live=polite></output></search>

        """
    }

    private var time: HTML {
        let caused = transaction?.parts.first { $0.cause == record.id }
        let words = ExchangeDetails(exchange: exchange, bodies: bodies, names: nil, caused: caused).words
        let error: HTML = exchange.error.map { "<p class=bad>\(Words.error($0))\n" } ?? ""
        return """
            <section aria-labelledby=timing><h2 id=timing>Timing</h2><p>\(words.isEmpty ? "It was not closed." : words.joined(separator: " · "))
            \(error)\(ExchangeTiming(exchange).map { PhaseTable(timing: $0).html } ?? "")</section>

            """
    }

    private func side(
        _ title: String, _ fields: [Fact.HeaderField], _ body: ExchangeBody?, _ byteCount: Int64?, _ file: ExchangeFile
    ) -> HTML {
        let view = BodyView(body: body, byteCount: byteCount, file: file, address: address(of: file))
        return """
            <section aria-labelledby=\(file.rawValue)-side><h2 id=\(file.rawValue)-side>\(title)</h2>\
            \(HeaderTable(fields: fields, id: "\(file.rawValue)-fields").html)\(view.html)</section>

            """
    }

    /// The bodies that are no messages.
    private var shown: ExchangeBodies { bodies.withoutMessages }

    /// The length of a body; what went over a WebSocket is none.
    private func byteCount(_ count: Int64?) -> Int64? { exchange.transfer.webSocket == nil ? count : nil }

    private var messages: HTML {
        guard let table = WebSocketTable(exchange: exchange, bodies: bodies) else { return "" }
        return "<section aria-labelledby=messages><h2 id=messages>Messages</h2>\(table.html)</section>\n"
    }

    // MARK: To take away

    private var command: CurlCommand? { CurlCommand(exchange, body: bodies.request) }

    /// What is longer is a file and no page.
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

    /// With a dot first: what stands before a colon would be a scheme.
    private func address(of file: ExchangeFile) -> String { "./\(record.id.description)/\(file.rawValue)" }
}
