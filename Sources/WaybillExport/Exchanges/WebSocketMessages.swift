package import WaybillCore
package import WaybillQueries

/// The messages of a WebSocket, each with what was kept of it.
package struct WebSocketMessages {
    /// One message.
    package struct Row {
        /// From 1, among those of its direction.
        package var number: Int64
        package var isSent: Bool
        package var isText: Bool
        /// Microseconds since 1970; nil where the end of the WebSocket was not recorded.
        package var timeMicroseconds: Int64?
        /// nil for the same reason.
        package var byteCount: Int64?
        /// nil where nothing was kept of it.
        package var kept: KeptMessage?

        /// As RFC 6455, section 5.2, counts them: 1 for text, 2 for binary.
        var opcode: Int { isText ? 1 : 2 }

        /// What was kept, as text; nil where there is none, or it is no text.
        package var text: String? {
            kept.flatMap { kept in kept.isText ? String(decoding: kept.bytes, as: UTF8.self) : nil }
        }

        /// What is missing and why; nil where it is all there.
        package var lack: String? {
            guard let kept else { return "not kept" }
            guard kept.isCut else { return kept.isText ? nil : "no text" }
            return "the first \(Words.byteCount(kept.bytes.count))"
        }
    }

    /// In order; those of which nothing but their number is known are left out.
    package let rows: [Row]
    /// After how many rows messages are left out, and how many; nil where none are.
    package let omission: (place: Int, count: Int64)?

    package init(of exchange: TransactionRecord.Exchange, _ bodies: ExchangeBodies) {
        let sent = KeptMessage.messages(in: bodies.request)
        let received = KeptMessage.messages(in: bodies.response)
        guard let socket = exchange.transfer.webSocket else {
            // It never ended: what was kept until then is all that is known.
            rows = [(true, sent), (false, received)].flatMap { isSent, messages in
                messages.map { Row(number: $0.number, isSent: isSent, isText: $0.isText, kept: $0) }
            }
            omission = nil
            return
        }
        let kept = [true: sent, false: received].mapValues { messages in
            Dictionary(messages.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        }
        rows = socket.numberedMessages.map { number, message in
            Row(
                number: number, isSent: message.isSent, isText: message.isText,
                timeMicroseconds: message.atMicroseconds, byteCount: message.byteCount,
                kept: kept[message.isSent]?[number])
        }
        let omitted = socket.omittedMessageCount
        omission = omitted > 0 ? (min(rows.count, Limits.webSocketMessages / 2), omitted) : nil
    }
}

extension ExchangeBodies {
    /// Without those that hold messages, which are shown one by one.
    package var withoutMessages: ExchangeBodies {
        let isBody = { (body: ExchangeBody?) in body?.contentType != KeptMessage.contentType }
        return ExchangeBodies(request: isBody(request) ? request : nil, response: isBody(response) ? response : nil)
    }
}

extension Fact.WebSocket {
    /// `3 messages sent, 5 received, 1 ping, closed 1000 (bye)`.
    package var words: String {
        var words = [
            "\(Words.count(sentMessageCount, "message")) sent", "\(receivedMessageCount) received",
        ]
        if pingCount > 0 { words.append(Words.count(pingCount, "ping")) }
        if let closeCode { words.append("closed \(closeCode)\(closeReason.map { " (\($0))" } ?? "")") }
        return words.joined(separator: ", ")
    }
}

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
