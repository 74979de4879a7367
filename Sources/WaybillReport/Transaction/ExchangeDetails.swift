import WaybillCore

/// One HTTP exchange, unfolding to its timing, sizes, header fields, and the request as a cURL command.
struct ExchangeDetails {
    let exchange: TransactionRecord.Exchange
    /// To tell who recorded it; nil where that goes without saying.
    let names: SourceNames?
    /// The part that it caused at its other end; nil where none is known.
    let caused: TransactionRecord.Part?

    var html: HTML {
        """
        <details><summary><b>\(exchange.method)</b> <span>\(exchange.url)\(recorder)</span> <em\(" class=bad", if: exchange.hasFailed)>\
        \(exchange.result)</em></summary><p>\(timing.joined(separator: " · "))\
        \(error)\(request)\(fields("Response", exchange.responseHeaderFields))</details>

        """
    }

    private var recorder: HTML { names.map { "<small\($0.laneAttribute(of: exchange.id.source))>\($0[exchange.id.source])</small>" } ?? "" }

    private var timing: [String] {
        var facts: [String] = []
        if let closed = exchange.closedMicroseconds {
            let duration = closed - exchange.openedMicroseconds
            facts.append("took \(Words.duration(duration))")
            if let first = exchange.firstByteMicroseconds {
                facts.append("first byte \(Words.duration(first - exchange.openedMicroseconds))")
            }
            if let caused, let end = caused.closedMicroseconds {
                // Two durations by two clocks: their difference needs no common clock.
                let inServer = end - caused.openedMicroseconds
                facts.append("server \(Words.duration(inServer))")
                if inServer <= duration { facts.append("way there and back \(Words.duration(duration - inServer))") }
            }
        }
        if let state = exchange.state, state != .completed, exchange.status != nil { facts.append(state.name) }
        if let count = exchange.sentByteCount { facts.append("sent \(Words.byteCount(count))") }
        if let count = exchange.receivedByteCount { facts.append("received \(Words.byteCount(count))") }
        return facts
    }

    private var error: HTML { exchange.error.map { "<p class=bad>\(Words.error($0))" } ?? "" }

    private func fields(_ title: String, _ fields: [Fact.HeaderField]) -> HTML {
        guard !fields.isEmpty else { return "" }
        return "<h4>\(title)</h4><dl>\(fields.map { "<dt>\($0.name)<dd>\(value($0.value))" as HTML })</dl>"
    }

    private func value(_ value: String) -> HTML { PrettyJSON.text(value).map { "<pre>\($0)</pre>" } ?? "\(value)" }

    /// As a command that says everything; where there is none, the header fields.
    private var request: HTML {
        guard let command = CurlCommand(exchange) else { return fields("Request", exchange.requestHeaderFields) }
        return "<pre>\(command.text)</pre>"
    }
}
