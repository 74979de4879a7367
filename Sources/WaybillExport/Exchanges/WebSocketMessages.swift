package import WaybillCore
package import WaybillQueries

package struct WebSocketMessages {
    package struct Row {
        /// The number within its direction, from 1.
        package var number: Int64
        package var isSent: Bool
        package var isText: Bool
        /// Microseconds since 1970; `nil` without a recorded end of the WebSocket.
        package var timeMicroseconds: Int64?
        package var byteCount: Int64?
        package var kept: KeptMessage?

        /// The opcode according to RFC 6455, section 5.2.
        var opcode: Int { isText ? 1 : 2 }

        package var text: String? {
            kept.flatMap { kept in kept.isText ? String(decoding: kept.bytes, as: UTF8.self) : nil }
        }

        /// Why the content is incomplete; `nil` if it is complete.
        package var lack: String? {
            guard let kept else { return "not kept" }
            guard kept.isCut else { return kept.isText ? nil : "no text" }
            return "the first \(Words.byteCount(kept.bytes.count))"
        }
    }

    /// The messages in order, without those that were only counted.
    package let rows: [Row]
    /// The number of omitted messages, and the index of the following row; `nil` if there are none.
    package let omission: (place: Int, count: Int64)?

    package init(of exchange: TransactionRecord.Exchange, _ bodies: ExchangeBodies) {
        let sent = KeptMessage.messages(in: bodies.request)
        let received = KeptMessage.messages(in: bodies.response)
        guard let socket = exchange.transfer.webSocket else {
            // The WebSocket has no recorded end; only the stored messages are known.
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
    package var withoutMessages: ExchangeBodies {
        let isBody = { (body: ExchangeBody?) in body?.contentType != KeptMessage.contentType }
        return ExchangeBodies(request: isBody(request) ? request : nil, response: isBody(response) ? response : nil)
    }
}

extension Fact.WebSocket {
    package var words: String {
        var words = [
            "\(Words.count(sentMessageCount, "message")) sent", "\(receivedMessageCount) received",
        ]
        if pingCount > 0 { words.append(Words.count(pingCount, "ping")) }
        if let closeCode { words.append("closed \(closeCode)\(closeReason.map { " (\($0))" } ?? "")") }
        return words.joined(separator: ", ")
    }
}

extension WebSocketMessages {
    /// Returns `nil` without messages.
    package static func table(of exchange: TransactionRecord.Exchange, _ bodies: ExchangeBodies) -> HTML? {
        let messages = WebSocketMessages(of: exchange, bodies)
        guard !messages.rows.isEmpty else { return nil }
        var rows = messages.rows.map { row -> HTML in
            let text: HTML = row.text.map { "<pre>\(PrettyJSON.text($0) ?? $0)</pre>" } ?? ""
            let lack: HTML = row.lack.map { "<small>\($0)</small>" } ?? ""
            let after = row.timeMicroseconds.map { Words.duration($0 - exchange.openedMicroseconds) } ?? ""
            return """
                <tr><td>\(row.isSent ? "sent" : "received")<td>\(after)<td>\(row.byteCount.map(Words.byteCount) ?? "")<td>\(text)\(lack)
                """
        }
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
}
