import TestSupport
import Testing
import WaybillCore
import WaybillQueries

@testable import WaybillExport

/// WebSockets appear in words and in a table, but not as a body.
@Suite(.timeLimit(.minutes(5))) struct WebSocketShownTests {
    private func record(_ messages: [Fact.WebSocket.Message], sent: Int64, received: Int64, code: Int? = 1000)
        -> ExchangeRecord
    {
        SampleExchange.record {
            ($0.method, $0.url, $0.status) = ("GET", "wss://api.example.com/orders", 101)
            $0.transfer.webSocket = Fact.WebSocket(
                sentMessageCount: sent, receivedMessageCount: received, pingCount: 1, closeCode: code,
                closeReason: "bye", messages: messages)
        }
    }

    private func message(_ after: Int64, isSent: Bool = false, isText: Bool = true, _ byteCount: Int64 = 9)
        -> Fact.WebSocket.Message
    {
        .init(atMicroseconds: SampleExchange.opened + after, isSent: isSent, isText: isText, byteCount: byteCount)
    }

    private func body(_ messages: [KeptMessage]) -> ExchangeBody {
        .whole(messages.flatMap(\.record), KeptMessage.contentType)
    }

    private func text(_ record: ExchangeRecord, _ bodies: ExchangeBodies = ExchangeBodies()) -> String {
        let redactor = Redactor()
        return ExchangeText(redactor.redacted(record), bodies: redactor.redacted(bodies)).text
    }

    @Test func aLineTellsTheDirectionTheTimeTheSizeAndTheMessage() {
        let record = record(
            [message(1000, isSent: true), message(2000), message(3000, isText: false)], sent: 1, received: 2)
        let bodies = ExchangeBodies(
            request: body([KeptMessage(1, Array("hello\nyou".utf8), isText: true)]),
            response: body([KeptMessage(2, [1, 2, 3], isText: false)]))
        let lines = text(record, bodies).split(separator: "\n")
        #expect(lines.contains("→   1.00 ms       9 B  hello…"))
        #expect(lines.contains("←   2.00 ms       9 B  (not kept)"))
        #expect(lines.contains("←   3.00 ms       9 B  (no text)"))
        #expect(lines.contains { $0.hasSuffix("1 message sent, 2 received, 1 ping, closed 1000 (bye)") })
        #expect(!lines.contains { $0.contains("number") }, "the records of what is kept are nobody's body")
        #expect(record.exchange.result == "closed 1000")
    }

    /// Breaks when a list shows 500 messages as if there were no others.
    @Test func thoseInTheMiddleAreCounted() throws {
        let messages = (0..<Limits.webSocketMessages).map { message(Int64($0)) }
        let record = record(messages, sent: 0, received: 700)
        let lines = text(record).split(separator: "\n").map(String.init)
        #expect(lines.contains("(200 messages between)"))
        let table = try #require(WebSocketMessages.table(of: record.exchange, ExchangeBodies()))
        #expect(table.text.contains("200 messages between"))
        #expect(WebSocketMessages(of: record.exchange, ExchangeBodies()).rows.last?.number == 700)
    }

    /// Breaks when no page shows the kept messages of a WebSocket whose process died.
    @Test func ofOneThatNeverEndedWhatWasKeptIsShown() {
        let record = SampleExchange.record(.interrupted) {
            ($0.method, $0.url, $0.status, $0.state) = ("GET", "wss://api.example.com/orders", nil, nil)
            $0.closedMicroseconds = nil
        }
        let bodies = ExchangeBodies(response: body([KeptMessage(1, Array("the last words".utf8), isText: true)]))
        #expect(text(record, bodies).contains("the last words"))
    }

    /// Breaks when a page can be made to run text that a server sent.
    @Test func aMessageIsEscaped() throws {
        let record = record([message(1)], sent: 0, received: 1)
        let bodies = ExchangeBodies(
            response: body([KeptMessage(1, Array("<script>alert(1)</script>".utf8), isText: true)]))
        let html = try #require(WebSocketMessages.table(of: record.exchange, bodies)).text
        #expect(!html.contains("<script>"))
    }
}
