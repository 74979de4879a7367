import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A WebSocket is one exchange with its messages, their times and its end. Recording it changes nothing for either
/// side.
@Suite(.timeLimit(.minutes(5))) struct CapturedWebSocketTests {
    let clock = ManualClock()
    let carrier = ScriptedWebSocket()

    private func manager(_ change: (inout TransactionManager.Options) -> Void = { _ in }) -> TransactionManager {
        .testing(clock: clock, correlatedHosts: ["api.example.com"], configure: change)
    }

    private func socket(_ tx: TransactionManager) throws -> CapturedWebSocket {
        let request = ExchangeRequest(url: try #require(URL(string: "wss://api.example.com/orders?token=s3cret")))
        let login = tx.begin(Login.self)
        return CapturedWebSocket { [carrier] in
            CapturedWebSocket.Opened(carrier: carrier, record: tx.openExchange(request, in: login))
        }
    }

    @Test func theWholeStoryIsRecorded() async throws {
        let tx = manager()
        let socket = try socket(tx)
        socket.resume()
        clock.advance(by: .milliseconds(1))
        carrier.open()
        clock.advance(by: .milliseconds(1))
        try await socket.send(.string("häh"))
        clock.advance(by: .milliseconds(1))
        carrier.say("yes")
        guard case .string("yes") = try await socket.receive() else {
            Issue.record("another message came")
            return
        }
        try await socket.sendPing()
        clock.advance(by: .milliseconds(1))
        try await socket.send(.data(Data(count: 300)))
        carrier.end(1000, "bye, token=s3cret")

        let record = try #require(tx.exchanges.first)
        let start = record.openedMicroseconds
        #expect(record.url == "wss://api.example.com/orders?token=[redacted]")
        #expect((record.method, record.status, record.state) == ("GET", 101, .completed))
        #expect(record.firstByteMicroseconds == start + 1000, "the handshake's")
        #expect((record.sentByteCount, record.receivedByteCount) == (304, 3))
        #expect(record.closedMicroseconds == start + 4000)
        let wire = try #require(record.transfer.webSocket)
        #expect((wire.sentMessageCount, wire.receivedMessageCount, wire.pingCount) == (2, 1, 1))
        #expect((wire.closeCode, wire.closeReason) == (1000, "bye, token=[redacted]"))
        #expect(
            wire.messages == [
                .init(atMicroseconds: start + 2000, isSent: true, isText: true, byteCount: 4),
                .init(atMicroseconds: start + 3000, isSent: false, isText: true, byteCount: 3),
                .init(atMicroseconds: start + 4000, isSent: true, isText: false, byteCount: 300),
            ])
        #expect(socket.closeCode == .normalClosure)
        #expect(carrier.sent == ["häh", "300"])
    }

    /// Breaks when a socket that was made and never used is an exchange that never ends.
    @Test func nothingIsRecordedBeforeItIsResumed() throws {
        let tx = manager()
        let socket = try socket(tx)
        #expect(try tx.exchanges.isEmpty)
        socket.cancel(with: .normalClosure, reason: nil)
        socket.resume()
        #expect(try tx.exchanges.isEmpty && !carrier.isStarted, "closed before it was opened")
    }

    @Test(arguments: [(1000, false), (1001, false), (4001, false), (1005, false), (1006, true), (1011, true)])
    func theCloseCodeSaysWhetherItFailed(code: Int, isFailure: Bool) async throws {
        let tx = manager()
        let socket = try socket(tx)
        socket.resume()
        carrier.open()
        carrier.end(code, "")
        let record = try #require(tx.exchanges.first)
        #expect(record.state == (isFailure ? .failed : .completed))
        #expect(record.error == (isFailure ? RecordedError(domain: "WebSocket", code: Int64(code)) : nil))
        #expect(record.transfer.webSocket?.closeCode == code)
        var messages: [String] = []
        do {
            for try await message in socket.messages { messages.append("\(message)") }
            #expect(!isFailure, "a loop that ends quietly says that all has come")
        } catch {
            #expect(isFailure, "a server that closes as agreed is no error")
        }
        #expect(messages.isEmpty)
    }

    @Test func aLostConnectionIsAFailure() async throws {
        let tx = manager()
        let socket = try socket(tx)
        socket.resume()
        carrier.open()
        carrier.tell(.ended(URLError(.networkConnectionLost), nil))
        #expect(try tx.exchanges.first?.state == .failed)
        #expect(try tx.exchanges.first?.error?.code == Int64(URLError.networkConnectionLost.rawValue))
        #expect(try tx.exchanges.first?.transfer.webSocket?.closeCode == nil)
    }

    @Test func aHandshakeThatIsDeclinedHasItsStatusAndIsNoWebSocket() async throws {
        let tx = manager()
        let socket = try socket(tx)
        socket.resume()
        let url = try #require(URL(string: "wss://api.example.com/orders"))
        let response = HTTPURLResponse(url: url, statusCode: 403, httpVersion: nil, headerFields: nil)
        carrier.tell(.ended(URLError(.badServerResponse), response))
        #expect(try tx.exchanges.first?.status == 403)
        #expect(try tx.exchanges.first?.state == .failed)
        #expect(try tx.exchanges.first?.transfer.webSocket == nil)
    }

    @Test func closingItIsItsEndAndNobodyWaitsAnyLonger() async throws {
        let tx = manager()
        let socket = try socket(tx)
        let waiting = Task { try await socket.receive() }
        try await eventually("somebody waits") { carrier.isWaitedFor }
        socket.cancel(with: .goingAway, reason: Data("later".utf8))
        await #expect(throws: URLError(.cancelled)) { _ = try await waiting.value }
        await #expect(throws: URLError(.cancelled)) { _ = try await socket.receive() }
        #expect(carrier.closed == [1001])
        let wire = try tx.exchanges.first?.transfer.webSocket
        #expect((wire?.closeCode, wire?.closeReason) == (1001, "later"))
        #expect(try tx.exchanges.first?.state == .completed)
    }

    /// Breaks when a time limit around `receive()` loses the next message.
    @Test func aMessageThatComesForACancelledReaderIsTheNextOnes() async throws {
        let socket = try socket(manager())
        let waiting = Task { try await socket.receive() }
        try await eventually("somebody waits") { carrier.isWaitedFor }
        waiting.cancel()
        await #expect(throws: URLError(.cancelled)) { _ = try await waiting.value }
        carrier.say("late")
        guard case .string("late") = try await socket.receive() else {
            Issue.record("another message came")
            return
        }
        #expect(carrier.closed.isEmpty, "it is open as before")
    }

    @Test func messagesComeInOrderToWhoeverWaits() async throws {
        let socket = try socket(manager())
        let reading = Task {
            var texts: [String] = []
            for try await case .string(let text) in socket.messages { texts.append(text) }
            return texts
        }
        try await eventually("somebody waits") { carrier.isWaitedFor }
        for text in ["a", "b", "c"] { carrier.say(text) }
        try await eventually("all were read") { carrier.isWaitedFor }
        carrier.end(1000, "")
        #expect(try await reading.value == ["a", "b", "c"])
    }

    @Test func letGoOfItIsClosedAndCancelled() async throws {
        let tx = manager()
        var socket: CapturedWebSocket? = try socket(tx)
        socket?.resume()
        carrier.open()
        #expect(try tx.exchanges.first?.state == nil)
        socket = nil
        #expect(try tx.exchanges.first?.state == .cancelled)
        #expect(carrier.closed == [1001])
    }

    /// Breaks when a socket that is open for a day takes memory for each message, and one set for all of them.
    @Test func ofManyMessagesTheFirstAndTheLastAreKeptWithTheirNumbers() async throws {
        let tx = manager()
        let socket = try socket(tx)
        for number in 1...700 {
            clock.advance(by: .milliseconds(1))
            try await socket.send(.string(String(repeating: "x", count: number)))
        }
        socket.cancel(with: .normalClosure, reason: nil)
        let wire = try #require(tx.exchanges.first?.transfer.webSocket)
        #expect(wire.sentMessageCount == 700 && wire.omittedMessageCount == 200)
        #expect(wire.messages.map(\.byteCount) == Array(1...250) + Array(451...700))
        #expect(wire.numberedMessages.map(\.number) == Array(1...250) + Array(451...700))
    }

    @Test func whatMessagesSayIsKeptWhereThePolicyAsksForItWithoutSecrets() async throws {
        let tx = manager { $0.network.bodies = BodyPolicy() }
        let socket = try socket(tx)
        try await socket.send(.string(#"{"user":"bob","password":"hunter2"}"#))
        try await socket.send(.data(Data([1, 2])))
        try await socket.send(.string("plain"))
        carrier.say(#"{"token":"x","ok":true}"#)
        _ = try await socket.receive()
        socket.cancel(with: .normalClosure, reason: nil)
        let id = try #require(tx.exchanges.first?.id)
        let sent = try #require(try await tx.body(of: id, .request))
        #expect(
            KeptMessage.messages(in: sent) == [
                KeptMessage(1, Array(#"{"user":"bob","password":"[redacted]"}"#.utf8), isText: true),
                KeptMessage(3, Array("plain".utf8), isText: true),
            ], "binary is kept where it is named")
        #expect(sent.byteCount == 42)
        let received = try await tx.body(of: id, .response)
        #expect(
            KeptMessage.messages(in: received)
                == [KeptMessage(1, Array(#"{"token":"[redacted]","ok":true}"#.utf8), isText: true)])
        #expect(tx.health.isGood)
    }

    /// Breaks when an app crashes because it wants no bytes of bodies.
    @Test func theSmallestLimitKeepsNothing() async throws {
        var policy = BodyPolicy()
        policy.maximumByteCount = .min
        let tx = manager { $0.network.bodies = policy }
        let socket = try socket(tx)
        try await socket.send(.string("one"))
        socket.cancel(with: .normalClosure, reason: nil)
        let id = try #require(tx.exchanges.first?.id)
        #expect(try await tx.body(of: id, .request)?.bytes.isEmpty != false)
    }

    @Test func binaryIsKeptWhereItIsNamedAndALongMessageIsCut() async throws {
        var policy = BodyPolicy(contentTypes: ["application/octet-stream"])
        policy.maximumByteCount = 100
        let tx = manager { $0.network.bodies = policy }
        let socket = try socket(tx)
        try await socket.send(.string("not named"))
        try await socket.send(.data(Data([0xFF, 0, 1])))
        try await socket.send(.data(Data(repeating: 7, count: 90)))
        try await socket.send(.data(Data(repeating: 8, count: 90)))
        socket.cancel(with: .normalClosure, reason: nil)
        let id = try #require(tx.exchanges.first?.id)
        let body = try #require(try await tx.body(of: id, .request))
        let messages = KeptMessage.messages(in: body)
        #expect(messages.map(\.number) == [2, 3])
        #expect(messages.map(\.isCut) == [false, true])
        #expect(messages.first?.bytes == [0xFF, 0, 1])
        #expect(body.omission == .limit)
    }

    @Test func noWordIsKeptWithoutAPolicy() async throws {
        let tx = manager()
        let socket = try socket(tx)
        try await socket.send(.string("MARKER"))
        socket.cancel(with: .normalClosure, reason: nil)
        let id = try #require(tx.exchanges.first?.id)
        #expect(try await tx.body(of: id, .request) == nil)
    }

    /// Breaks when an app that must keep its users' words out of every file can't use WebSockets.
    @Test func theAppsHookSeesMessagesAndTheReasonBeforeAnythingIsStored() async throws {
        let tx = manager { options in
            options.network.bodies = BodyPolicy()
            options.willRecord = { draft in
                switch draft {
                case .body(var body):
                    if body.bytes == Array("withhold".utf8) { return nil }
                    body.bytes = Array("\(body.contentType ?? "") \(body.byteCount)".utf8)
                    return .body(body)
                case .exchangeClosed(var closed):
                    closed.closeReason = closed.closeReason.map { "\($0) changed" }
                    return .exchangeClosed(closed)
                default: return draft
                }
            }
        }
        let socket = try socket(tx)
        for text in ["withhold", "hello"] { try await socket.send(.string(text)) }
        socket.cancel(with: .normalClosure, reason: Data("bye".utf8))
        let record = try #require(tx.exchanges.first)
        let messages = KeptMessage.messages(in: try await tx.body(of: record.id, .request))
        #expect(messages == [KeptMessage(2, Array("text/plain 5".utf8), isText: true)])
        #expect(record.transfer.webSocket?.closeReason == "bye changed")
        #expect(tx.health.withheld == 1)
    }

    @Test func aRuleFailsItAndOthersSayThatTheyDoNothing() async throws {
        let told = Locked<[String]>([])
        let tx = manager { $0.diagnostics = { sentence in told.withLock { $0.append(sentence) } } }
        tx.rules.isEnabled = true
        tx.rules.add(NetworkRule("offline", .fail(.notConnectedToInternet)))
        let socket = tx.session.webSocketTask(
            with: try #require(URL(string: "wss://api.example.com/orders")), in: tx.begin(Login.self))
        await #expect(throws: URLError.self) { _ = try await socket.receive() }
        let record = try #require(tx.exchanges.first)
        #expect(record.state == .failed && record.transfer.rule == "offline")
        tx.diagnostics.settle()
        #expect(told.withLock { $0.isEmpty })
    }

    @Test func anAddressThatIsNoneOfAWebSocketIsRefusedWithOneSentence() async throws {
        let tx = manager()
        let socket = tx.session.webSocketTask(
            with: try #require(URL(string: "https://api.example.com/orders")), in: tx.begin(Login.self))
        do {
            _ = try await socket.receive()
            Issue.record("a message came")
        } catch {
            #expect(
                error.localizedDescription
                    == "A WebSocket has an address that begins with ws:// or wss://, and not https.")
        }
        #expect(try tx.exchanges.first?.state == .failed)
    }

    /// Breaks when a caller whose `receive` threw can find its exchange still open.
    @Test func aFailureIsRecordedBeforeAnyCallerIsTold() {
        let schedule = ManualSchedule()
        let carrier = FailedWebSocket(URLError(.badURL), on: schedule)
        let order = Locked<[String]>([])
        carrier.ping { _ in order.withLock { $0.append("early") } }
        carrier.start { _ in
            carrier.receive { _ in order.withLock { $0.append("told") } }
            order.withLock { $0.append("recorded") }
        }
        schedule.step()
        carrier.ping { _ in order.withLock { $0.append("late") } }
        #expect(order.withLock { $0 } == ["recorded", "early", "told", "late"])
    }

    #if os(Linux)
    /// Against a real server: if Foundation was built without WebSockets, all calls say so in one sentence, the app
    /// gets one report, and the exchange is recorded as failed. If it has them, the server declines the handshake.
    @Test func whereThePlatformHasNoneOneSentenceSaysSo() async throws {
        let server = try LoopbackServer { _ in .text("no WebSocket here", status: 404) }
        let told = Locked<[String]>([])
        let tx = manager { $0.diagnostics = { sentence in told.withLock { $0.append(sentence) } } }
        let address = try #require(
            URL(string: server.url("/orders").absoluteString.replacing("http://", with: "ws://")))
        let login = tx.begin(Login.self)
        for _ in 1...2 {
            let socket = tx.session.webSocketTask(with: address, protocols: ["graphql-transport-ws"], in: login)
            await #expect(throws: URLError.self) { try await socket.send(.string("hello")) }
            await #expect(throws: URLError.self) { _ = try await socket.receive() }
        }
        try await eventually("both ends are recorded") { try tx.exchanges.allSatisfy { $0.state == .failed } }
        #expect(try tx.exchanges.count == 2)
        #expect(
            try tx.exchanges.first?.requestHeaderFields.contains {
                $0.name.lowercased() == "sec-websocket-protocol" && $0.value == "graphql-transport-ws"
            } == true)
        if server.requests.isEmpty {
            #expect(try tx.exchanges.first?.error?.code == Int64(URLError.unsupportedURL.rawValue))
            tx.diagnostics.settle()
            #expect(told.withLock { $0 }.filter { $0 == TaskWebSocket.refusal }.count == 1)
        }
    }
    #endif
}
