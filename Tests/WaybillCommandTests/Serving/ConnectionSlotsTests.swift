#if Collector
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import TestSupport
import Testing
import WaybillCollector
import WaybillCore

@testable import WaybillCommand

/// Connections without a network, on a clock that the test advances.
@Suite(.timeLimit(.minutes(1))) final class ConnectionSlotsTests {
    private let folder: TemporaryDirectory
    private let time = Locked(NIODeadline.uptimeNanoseconds(0))
    private let refused = Locked(0)
    private let tokens: [String: Access.Identity]

    init() throws {
        folder = try TemporaryDirectory()
        let file = TokenFile(folder: folder.url)
        let projects = ["one": "waybill", "two": "waybill", "other": "shop"]
        tokens = try projects.mapValues { name in
            let project = try #require(ProjectName(name))
            return Access.Identity(try file.add(role: .ingest, project: project).token)
        }
    }

    private let times = ClientConnection.Times(
        header: .hours(1), body: .hours(1), idle: .hours(1), stalled: .hours(1), stalledByteCount: 1, write: .hours(1))

    private func slots(_ limit: Int) -> ConnectionSlots {
        let (time, refused, tokens) = (time, refused, tokens)
        return ConnectionSlots(limit) {
            time.withLock { $0 }
        } identity: {
            $0.headerFields[.authorization].flatMap { tokens[$0] }
        } countRefused: { _ in
            refused.withLock { $0 += 1 }
        }
    }

    /// Returns an accepted connection.
    private func connect(_ slots: ConnectionSlots) throws -> EmbeddedChannel {
        slots.connectionOpened()
        let channel = EmbeddedChannel(handler: ClientConnection(slots, times))
        channel.closeFuture.whenComplete { _ in slots.connectionClosed() }
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private func begin(_ channel: EmbeddedChannel, _ token: String? = nil) throws {
        var head = HTTPRequest(method: .post, scheme: nil, authority: "collector.example", path: "/v1/sets")
        head.headerFields[.authorization] = token
        try channel.writeInbound(HTTPRequestPart.head(head))
    }

    /// Returns a connection with an open request.
    private func begun(_ slots: ConnectionSlots, _ token: String) throws -> EmbeddedChannel {
        let channel = try connect(slots)
        try begin(channel, token)
        return channel
    }

    private func end(_ channel: EmbeddedChannel) throws { try channel.writeInbound(HTTPRequestPart.end(nil)) }

    private func answer(_ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    private func pass(_ amount: TimeAmount) { time.withLock { $0 = $0 + amount } }

    /// Returns whether the slots accept another connection after closing those that have to make room.
    private func isOpen(_ slots: ConnectionSlots, _ channels: [EmbeddedChannel]) -> Bool {
        _ = slots.isAcceptingNewConnections()
        for channel in channels { channel.embeddedEventLoop.run() }
        return slots.isAcceptingNewConnections()
    }

    @Test func whoHadTheTimeToShowATokenAndDidNotMakesRoom() throws {
        let slots = slots(2)
        let known = try connect(slots)
        try begin(known, "one")
        let stranger = try connect(slots)
        #expect(!isOpen(slots, [stranger, known]))
        pass(ConnectionSlots.timeToIntroduce)
        #expect(isOpen(slots, [stranger, known]))
        #expect(!stranger.isActive && known.isActive)
    }

    @Test func whereMostAreNewTheOldestOfTheseMakesRoomAtOnce() throws {
        let slots = slots(3)
        var channels: [EmbeddedChannel] = []
        for _ in 0..<3 {
            channels.append(try connect(slots))
            pass(.milliseconds(1))
        }
        #expect(isOpen(slots, channels))
        #expect(channels.map(\.isActive) == [false, true, true])
    }

    @Test func whatRestsBetweenRequestsMakesRoomAndWhatIsWorkedOnDoesNot() throws {
        let slots = slots(2)
        // Each shows its token before the next one connects, which leaves at most one stranger at a time.
        let (resting, busy) = (try begun(slots, "one"), try begun(slots, "two"))
        for channel in [resting, busy] { try end(channel) }
        pass(.seconds(3_600))
        #expect(!isOpen(slots, [resting, busy]))
        try answer(resting)
        #expect(isOpen(slots, [resting, busy]))
        #expect(!resting.isActive && busy.isActive)
    }

    /// Breaks when a long answer is cut off because it follows another one on its connection.
    @Test func aConnectionWithAnOpenRequestIsNotIdle() throws {
        let channel = try begun(slots(2), "one")
        try end(channel)
        try begin(channel, "one")
        try end(channel)
        try answer(channel)
        channel.embeddedEventLoop.advanceTime(by: times.idle)
        #expect(channel.isActive)
        try answer(channel)
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: times.idle)
        #expect(!channel.isActive)
    }

    /// Breaks when one token, or the tokens of one project, can occupy every connection.
    @Test func oneTokenHasHalfOfTheSlotsAndOneProjectThreeQuarters() throws {
        let slots = slots(8)
        let senders = ["one", "one", "one", "one", "one", "two", "two", "two", "other", "other"]
        let channels = try senders.map { try begun(slots, $0) }
        #expect(
            channels.map(\.isActive) == [true, true, true, true, false, true, true, false, true, true])
        #expect(refused.withLock { $0 } == 2)
        guard case .head(let head)? = try channels[4].readOutbound(as: HTTPResponsePart.self) else {
            Issue.record("It is answered.")
            return
        }
        #expect(head.status == .serviceUnavailable && head.headerFields[.retryAfter] == "1")
        #expect(head.headerFields[.connection] == "close" && head.headerFields[.contentType] == Problem.mediaType)
        #expect(try channels[4].readInbound(as: HTTPRequestPart.self) == nil, "nobody works on it")
    }

    /// Breaks when answered or closed requests still count against a share.
    @Test func whatIsAnsweredOrGoneGivesItsPlaceBack() throws {
        let slots = slots(2)
        let first = try connect(slots)
        for _ in 0..<3 {
            try begin(first, "one")
            try end(first)
            try answer(first)
        }
        let second = try connect(slots)
        try begin(second, "one")
        try second.close().wait()
        let third = try connect(slots)
        try begin(third, "one")
        #expect(third.isActive)
        #expect(refused.withLock { $0 } == 0)
    }

    /// Breaks when the collector reads a store for a client that hung up, or an answered request cancels the next one.
    @Test func whatIsDoneForAClientEndsWhenItHangsUp() async throws {
        let (slots, times) = (slots(2), times)
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext {
            try channel.pipeline.syncOperations.addHandler(ClientConnection(slots, times))
        }
        for _ in 0..<2 { #expect(try await slots.whileConnected(channel) { Task.isCancelled } == false) }
        let begun = Gate()
        let answer = Task {
            try await slots.whileConnected(channel) {
                begun.open()
                // The stream never yields anything, so only cancellation ends the loop.
                for await _ in AsyncStream<Void>.makeStream().stream {}
                return Task.isCancelled
            }
        }
        await begun.opened()
        try await channel.testingEventLoop.executeInContext {
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        #expect(try await answer.value)
        #expect(try await slots.whileConnected(channel) { Task.isCancelled }, "nor does anything begin then")
        _ = try await channel.finish(acceptAlreadyClosed: true)
    }
}
#endif
