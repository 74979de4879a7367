import WaybillCore

/// What happened in a transaction, in words: a row for each fact, under the name of its source wherever that changes.
struct TimelineTable {
    let record: TransactionRecord
    let names: SourceNames

    var html: HTML {
        var html: HTML = "<table><caption>What happened</caption>"
        let beginning = record.timeline.first?.timeMicroseconds ?? 0
        var previous: TransactionRecord.Entry?
        for entry in record.timeline {
            if previous?.id.source != entry.id.source {
                let source = entry.id.source
                html += "<tbody class=l\(min(names.lane(of: source), 3))><tr><th colspan=3 scope=rowgroup>\(names[source])"
            }
            let at = entry.timeMicroseconds - beginning
            let since = previous.map { Self.signed(entry.timeMicroseconds - $0.timeMicroseconds) } ?? ""
            html +=
                "<tr><td>\(at == 0 ? "0" : Words.duration(at))<td>\(since)<td\(kind(of: entry))>\(entry.label.replacing("_", with: " "))"
            html += "\(remark(on: entry))\n"
            previous = entry
        }
        html += "</table>\n"
        return html
    }

    private static func signed(_ duration: Int) -> String { duration < 0 ? Words.duration(duration) : "+" + Words.duration(duration) }

    /// What tells the kinds apart; events, of which there are most, have nothing.
    private func kind(of entry: TransactionRecord.Entry) -> HTML {
        switch entry.kind {
        case .event: entry.error == nil ? "" : " class=bad"
        case .opened: " class=from"
        case .closed: entry.error == nil && entry.label != Outcome.failed.name ? " class=to" : " class=\"to bad\""
        case .exchangeOpened: " class=out"
        case .exchangeClosed: exchange(of: entry)?.hasFailed == true ? " class=\"in bad\"" : " class=in"
        }
    }

    private func remark(on entry: TransactionRecord.Entry) -> HTML {
        var remarks: [String] = []
        if entry.kind == .exchangeClosed, let exchange = exchange(of: entry) {
            remarks.append(Words.duration(entry.timeMicroseconds - exchange.openedMicroseconds))
        }
        if entry.kind == .exchangeOpened, exchange(of: entry)?.state == nil { remarks.append("no end recorded") }
        if let error = entry.error { remarks.append(Words.error(error)) }
        if entry.isLate { remarks.append("after the end") }
        let text: HTML = remarks.isEmpty ? "" : "<small>\(remarks.joined(separator: " · "))</small>"
        return "\(text)\(AttributeList(entry.attributes).html)"
    }

    private func exchange(of entry: TransactionRecord.Entry) -> TransactionRecord.Exchange? {
        entry.exchange.flatMap { id in record.exchanges.first { $0.id == id } }
    }
}
