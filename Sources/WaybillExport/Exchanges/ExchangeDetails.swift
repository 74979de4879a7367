import WaybillCore
package import WaybillReading
import WaybillStore

/// One HTTP exchange, unfolding to its timing, sizes, redirects, header fields, bodies, and the request as a cURL
/// command.
package struct ExchangeDetails {
    let exchange: TransactionRecord.Exchange
    let bodies: ExchangeBodies
    /// To tell who recorded it; nil where that goes without saying.
    let names: SourceNames?
    /// The part that it caused at its other end; nil where none is known.
    let caused: TransactionRecord.Part?
    /// What addresses within the page call it; nil where none leads to it.
    var anchor: String?
    /// The address of its own page; nil where there is none.
    var page: String?

    package init(
        exchange: TransactionRecord.Exchange, bodies: ExchangeBodies, names: SourceNames?,
        caused: TransactionRecord.Part?,
        anchor: String? = nil,
        page: String? = nil
    ) {
        self.exchange = exchange
        self.bodies = bodies
        self.names = names
        self.caused = caused
        self.anchor = anchor
        self.page = page
    }

    package var html: HTML {
        """
        <details\(anchor.map { " id=\"\($0)\"" } ?? HTML())><summary><b>\(exchange.method)</b> <span>\(exchange.url)\(recorder)</span> <em\(" class=bad", if: exchange.hasFailed)>\
        \(exchange.result)</em></summary><p>\(words.joined(separator: " · "))\(toPage)\(phases)\(error)\(redirects)\(request)\
        \(fields("Response", exchange.responseHeaderFields))\(body("Response body", shown.response))\(messages)</details>

        """
    }

    private var recorder: HTML {
        names.map { "<small\($0.laneAttribute(of: exchange.id.source))>\($0[exchange.id.source])</small>" } ?? ""
    }

    private var toPage: HTML { page.map { " · <a href=\"\($0)\">On its own page</a>" } ?? "" }

    /// How long it took, how large it was, over what it went.
    package var words: [String] {
        var facts: [String] = []
        if let closed = exchange.closedMicroseconds {
            let duration = closed - exchange.openedMicroseconds
            facts.append(Words.duration(duration))
            if let caused, let end = caused.closedMicroseconds {
                // Two durations by two clocks: their difference needs no common clock.
                let inServer = end - caused.openedMicroseconds
                facts.append("server \(Words.duration(inServer))")
                if inServer <= duration { facts.append("way there and back \(Words.duration(duration - inServer))") }
            }
        }
        if let state = exchange.state, state != .completed, exchange.status != nil { facts.append(state.name) }
        let transfer = exchange.transfer
        if transfer.isMocked || transfer.rule != nil {
            facts.append(
                [transfer.isMocked ? "mocked" : "", transfer.rule.map { "rule \($0)" } ?? ""].filter { !$0.isEmpty }
                    .joined(separator: ", ")
            )
        }
        // Where no body is kept, one word for each says so: a report may have thousands.
        if let count = exchange.sentByteCount {
            facts.append(
                "sent \(Words.byteCount(count))\(count > 0 && bodies.request == nil && transfer.webSocket == nil ? ", not kept" : "")"
            )
        }
        if let count = exchange.receivedByteCount {
            let wire = transfer.receivedWireByteCount.map { ", \(Words.byteCount($0)) on the wire" } ?? ""
            facts.append("received \(Words.byteCount(count))\(wire)")
        }
        if let socket = transfer.webSocket { facts.append(socket.words) }
        if let version = transfer.httpVersion { facts.append("HTTP/\(version)") }
        if let isReused = transfer.isConnectionReused {
            facts.append(isReused ? "connection reused" : "new connection")
        }
        if let timing = ExchangeTiming(exchange), timing.phases.count == 2 {
            facts.append("first byte \(Words.duration(timing.wait))")
        }
        return facts
    }

    /// A bar for the whole, in proportion, and its phases in words; where there are two, their border is told already.
    private var phases: HTML {
        guard let timing = ExchangeTiming(exchange), timing.total > 0, timing.phases.count > 2 else { return "" }
        var before: Int64 = 0
        let rects = timing.phases.map { phase -> HTML in
            let start = before.thousandths(of: timing.total)
            before += phase.duration
            return
                "<rect x=\(percent: start)% width=\(percent: max(1, before.thousandths(of: timing.total) - start))% />"
        }
        let words = timing.phases.map { "\($0.name) \(Words.duration($0.duration))" }
        return "<svg class=\"bar phases\">\(rects)</svg><p>\(words.joined(separator: " · "))"
    }

    private var error: HTML { exchange.error.map { "<p class=bad>\(Words.error($0))" } ?? "" }

    private var redirects: HTML {
        guard !exchange.transfer.redirects.isEmpty else { return "" }
        let items = exchange.transfer.redirects.map { redirect in
            "<dt>\(redirect.status) after \(Words.duration(redirect.atMicroseconds - exchange.openedMicroseconds))<dd>\(redirect.url)"
                as HTML
        }
        return "<h4>Redirects</h4><dl>\(items)</dl>"
    }

    /// Those that are no messages.
    private var shown: ExchangeBodies { bodies.withoutMessages }

    private var messages: HTML {
        WebSocketTable(exchange: exchange, bodies: bodies).map { "<h4>Messages</h4>\($0.html)" } ?? ""
    }

    private func fields(_ title: String, _ fields: [Fact.HeaderField]) -> HTML {
        guard !fields.isEmpty else { return "" }
        return "<h4>\(title)</h4><dl>\(fields.map { "<dt>\($0.name)<dd>\(value($0.value))" as HTML })</dl>"
    }

    private func value(_ value: String) -> HTML { PrettyJSON.text(value).map { "<pre>\($0)</pre>" } ?? "\(value)" }

    private func body(_ title: String, _ body: ExchangeBody?) -> HTML {
        guard let body, !body.bytes.isEmpty || body.lack != nil else { return "" }
        let text = body.text.map { PrettyJSON.text($0) ?? $0 }
        let shown: HTML =
            if body.bytes.isEmpty {
                ""
            } else if let text {
                "<pre>\(text)</pre>"
            } else {
                "<p>\(Words.byteCount(body.bytes.count)) that are no text."
            }
        return "<h4>\(title)</h4>\(shown)\(body.lack.map { "<p>\($0)" } ?? HTML())"
    }

    /// As a command that says everything; where there is none, the header fields. JSON is shown on lines of its own as
    /// well.
    private var request: HTML {
        guard let command = CurlCommand(exchange, body: bodies.request) else {
            return "\(fields("Request", exchange.requestHeaderFields))\(body("Request body", shown.request))"
        }
        let isJSON = bodies.request?.text.flatMap(PrettyJSON.text) != nil
        return "<pre>\(command.text)</pre>\(isJSON ? body("Request body", bodies.request) : HTML())"
    }
}
