package import WaybillCore

/// One network exchange, with the way to its transaction.
package struct ExchangePage {
    private let record: ExchangeRecord
    private let bodies: ExchangeBodies
    private let transaction: TransactionRecord?
    private let frame: InspectorFrame

    /// - Parameters:
    ///   - record: Redacted.
    ///   - bodies: Redacted.
    ///   - transaction: The one that it belongs to, redacted; nil outside any.
    package init(_ record: ExchangeRecord, bodies: ExchangeBodies, transaction: TransactionRecord?, in frame: InspectorFrame) {
        (self.record, self.bodies, self.transaction, self.frame) = (record, bodies, transaction, frame)
    }

    /// The whole document.
    package var html: HTML { frame.page("\(record.exchange.method) \(record.exchange.path)", .network, depth: 2, main: main) }

    private var main: HTML {
        let caused = transaction?.parts.first { $0.cause == record.id }
        let details = ExchangeDetails(exchange: record.exchange, bodies: bodies, names: nil, caused: caused, isPage: true)
        return """
            <nav class=around aria-label="Around it"><a rel=up href="../network">All requests</a>\(toTransaction)</nav>
            <header class="what \(record.tone)"><h1>\(record.exchange.method) \(record.exchange.path) <em>\(record.exchange.result)</em></h1>
            <dl>\(cells)</dl>
            <p class=actions><button type=button class=copier data-copy=link hidden>Copy link</button></header>
            <article class="t \(record.tone)">\(details.html)</article>

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
        let opened = WallTime(record.exchange.openedMicroseconds, in: frame.timeZone)
        let cells = [
            ("Opened", "\(opened.date) \(opened.time)"), ("Duration", record.durationMicroseconds.map(Words.duration) ?? "not closed"),
            ("State", Words.state(record.state)), ("Host", record.exchange.host), ("Recorded by", record.belonging),
            ("Exchange", record.id.code),
        ]
        return "\(cells.map { "<div><dt>\($0.0)<dd>\($0.1)</div>" as HTML })"
    }
}
