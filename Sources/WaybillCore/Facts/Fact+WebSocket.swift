extension Fact {
    /// The traffic of a WebSocket (RFC 6455). ``ExchangeClosed`` has the byte counts of all messages.
    package struct WebSocket: Hashable, Sendable, Codable {
        package var sentMessageCount: Int64
        package var receivedMessageCount: Int64
        /// Pings that this side sent. The platform answers the other side's pings without reporting them.
        package var pingCount: Int64
        /// The code of the close frame (RFC 6455, section 7.4), 1000 for a normal closure; `nil` if there was no frame.
        package var closeCode: Int?
        package var closeReason: String?
        /// The messages in order; of more than 500, the first 250 and the last 250.
        package fileprivate(set) var messages: [Message]

        package init(
            sentMessageCount: Int64 = 0, receivedMessageCount: Int64 = 0, pingCount: Int64 = 0, closeCode: Int? = nil,
            closeReason: String? = nil, messages: [Message] = []
        ) {
            self.sentMessageCount = sentMessageCount
            self.receivedMessageCount = receivedMessageCount
            self.pingCount = pingCount
            self.closeCode = closeCode
            self.closeReason = closeReason
            self.messages = messages
        }

        /// Counts a message, and makes room for it by removing one in the middle.
        package mutating func add(_ message: Message) {
            if message.isSent { sentMessageCount += 1 } else { receivedMessageCount += 1 }
            if messages.count == Limits.webSocketMessages { messages.remove(at: Limits.webSocketMessages / 2) }
            messages.append(message)
        }

        /// Whether a close code (RFC 6455, section 7.4) signals no error: 1000, 1001, 1005, or an application's code.
        package static func isNormal(closeCode: Int) -> Bool {
            [1000, 1001, 1005].contains(closeCode) || (3000...4999).contains(closeCode)
        }

        package var omittedMessageCount: Int64 {
            max(0, sentMessageCount + receivedMessageCount - Int64(messages.count))
        }

        /// The messages with their numbers per direction, from 1.
        package var numberedMessages: [(number: Int64, message: Message)] {
            var (sent, received): (Int64, Int64) = (0, 0)
            let half = Limits.webSocketMessages / 2
            return messages.enumerated().map { index, message in
                if index == half, omittedMessageCount > 0 {
                    let rest = messages[half...]
                    sent = sentMessageCount - Int64(rest.count { $0.isSent })
                    received = receivedMessageCount - Int64(rest.count { !$0.isSent })
                }
                if message.isSent { sent += 1 } else { received += 1 }
                return (message.isSent ? sent : received, message)
            }
        }

        package func timed(by clock: (Int64) -> Int64) -> Self {
            var socket = self
            for index in messages.indices {
                socket.messages[index].atMicroseconds = clock(messages[index].atMicroseconds)
            }
            return socket
        }
    }
}

extension Fact.WebSocket {
    package struct Message: Hashable, Sendable, Codable {
        package var atMicroseconds: Int64
        package var isSent: Bool
        package var isText: Bool
        package var byteCount: Int64

        package init(atMicroseconds: Int64, isSent: Bool, isText: Bool, byteCount: Int64) {
            self.atMicroseconds = atMicroseconds
            self.isSent = isSent
            self.isText = isText
            self.byteCount = byteCount
        }

        package var opcode: Int { isText ? 1 : 2 }
    }
}

extension JSONWriter {
    /// `{"messages_sent": 1, "messages": [{"at_us": 1391000, "sent": true, "opcode": 1, "bytes": 9}]}`
    package mutating func webSocket(_ socket: Fact.WebSocket) {
        beginObject()
        member("messages_sent", socket.sentMessageCount)
        member("messages_received", socket.receivedMessageCount)
        member("pings", socket.pingCount == 0 ? nil : socket.pingCount)
        member("close_code", socket.closeCode)
        member("close_reason", socket.closeReason)
        array("messages", socket.messages) { message, writer in
            writer.member("at_us", message.atMicroseconds)
            writer.member("sent", message.isSent)
            writer.member("opcode", message.opcode)
            writer.member("bytes", message.byteCount)
        }
        endObject()
    }
}

extension JSONReader {
    package mutating func webSocket() throws(JSONFailure) -> Fact.WebSocket {
        var socket = Fact.WebSocket()
        try beginObject()
        while let key = try nextKey() {
            switch key {
            case "messages_sent": socket.sentMessageCount = try count()
            case "messages_received": socket.receivedMessageCount = try count()
            case "pings": socket.pingCount = try count()
            case "close_code": socket.closeCode = try integer(in: 0...65_535)
            case "close_reason": socket.closeReason = try string(limit: Limits.labelLength)
            case "messages": socket.messages = try webSocketMessages()
            default: try skipValue()
            }
        }
        return socket
    }

    private mutating func webSocketMessages() throws(JSONFailure) -> [Fact.WebSocket.Message] {
        try list(of: "messages", limit: Limits.webSocketMessages) { reader throws(JSONFailure) in
            try reader.webSocketMessage()
        }
    }

    private mutating func webSocketMessage() throws(JSONFailure) -> Fact.WebSocket.Message {
        var at: Int64?
        var isSent = false
        var opcode: Int?
        var byteCount: Int64?
        let start = try beginObject()
        while let key = try nextKey() {
            switch key {
            case "at_us": at = try count()
            case "sent": isSent = try bool()
            case "opcode": opcode = try integer(in: 0...15)
            case "bytes": byteCount = try count()
            default: try skipValue()
            }
        }
        return Fact.WebSocket.Message(
            atMicroseconds: try required(at, "at_us", at: start), isSent: isSent,
            isText: try required(opcode, "opcode", at: start) == 1,
            byteCount: try required(byteCount, "bytes", at: start))
    }
}
