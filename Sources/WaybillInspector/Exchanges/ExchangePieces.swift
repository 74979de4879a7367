import WaybillCore
import WaybillExport
import WaybillReading

/// Header fields, in the order in which they were recorded.
struct HeaderTable {
    let fields: [Fact.HeaderField]
    let id: String

    var html: HTML {
        guard !fields.isEmpty else { return "<p class=note>No header field was recorded.\n" }
        let rows = fields.map { "<tr><th scope=row>\($0.name)<td>\(value($0.value))" as HTML }
        return """
            <p class=kind><span>\(Words.count(fields.count, "header field"))</span><button type=button class=copier data-copies="\(id)" \
            hidden>Copy</button>
            <table class=fields id="\(id)"><tbody>\(rows)</table>

            """
    }

    private func value(_ value: String) -> HTML { PrettyJSON.text(value).map { "<pre>\($0)</pre>" } ?? "\(value)" }
}

/// The phases of an exchange's time, one below the other, each where it lies in the whole.
struct PhaseTable {
    let timing: ExchangeTiming

    var html: HTML {
        guard timing.total > 0 else { return "" }
        var before: Int64 = 0
        let rows = timing.phases.map { phase -> HTML in
            let start = before.thousandths(of: timing.total)
            before += phase.duration
            let width = max(3, before.thousandths(of: timing.total) - start)
            return """
                <tr><th scope=row>\(phase.name)<td><svg aria-hidden=true><rect x=\(percent: min(start, 997))% width=\(percent: width)% /></svg>\
                <td>\(Words.duration(phase.duration))
                """
        }
        return "<table class=phases-table><tbody>\(rows)</table>\n"
    }
}

/// The way that an exchange went: where it was sent, where it was led, and how that ended.
struct ExchangeRedirects {
    let exchange: TransactionRecord.Exchange

    var html: HTML {
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
