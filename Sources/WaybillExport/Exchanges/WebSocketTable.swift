package import WaybillReading

/// The messages of a WebSocket as a table: which way, when, how long, and what was kept of them.
package struct WebSocketTable {
    private let messages: WebSocketMessages
    private let opened: Int64

    /// nil where there are none.
    package init?(exchange: TransactionRecord.Exchange, bodies: ExchangeBodies) {
        messages = WebSocketMessages(of: exchange, bodies)
        opened = exchange.openedMicroseconds
        guard !messages.rows.isEmpty else { return nil }
    }

    package var html: HTML {
        var rows = messages.rows.map(row)
        if let omission = messages.omission {
            rows.insert(
                "<tr><td colspan=4>\(Words.count(omission.count, "message")) between, of which only the number is known",
                at: omission.place)
        }
        return """
            <table class=messages><thead><tr><th scope=col>Direction<th scope=col>After<th scope=col>Size<th scope=col>Message\
            <tbody>\(rows)</table>

            """
    }

    private func row(_ row: WebSocketMessages.Row) -> HTML {
        let text: HTML =
            row.text.map { text in PrettyJSON.text(text).map { "<pre>\($0)</pre>" } ?? "<pre>\(text)</pre>" } ?? ""
        let lack: HTML = row.lack.map { "<small>\($0)</small>" } ?? ""
        return """
            <tr><td>\(row.isSent ? "sent" : "received")<td>\(row.timeMicroseconds.map { Words.duration($0 - opened) } ?? "")\
            <td>\(row.byteCount.map(Words.byteCount) ?? "")<td>\(text)\(lack)
            """
    }
}
