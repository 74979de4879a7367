#if Collector
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTPTypes
import WaybillCore

/// The connections that a collector has, and who may keep one when there are as many as there may be.
///
/// Those that nobody works on make room for those who come: at first connections that had the time to show a valid
/// token and have not, then, where more than half are new and have shown none, the oldest of these, and then what rests
/// between requests. A request of a valid token is never given up. So connections that were only opened, or are kept
/// alive, keep nobody out.
final class ConnectionSlots: AvailableConnectionsDelegate, Sendable {
    /// What a connection is at.
    enum Phase: Sendable {
        /// No request has begun.
        case waiting
        /// A request has begun, and not come whole.
        case reading
        /// A request has come whole, and its answer is not finished.
        case answering
    }

    fileprivate struct Connection {
        let channel: any Channel
        let opened = NIODeadline.now()
        var phase = Phase.waiting
        var since = NIODeadline.now()
        /// Whether it has shown a valid token.
        var isKnown = false
        var isClosing = false

        /// Whether it has shown no valid token, and is not being answered.
        var isStranger: Bool { !isKnown && phase != .answering }

        /// The lower, the sooner it makes room; nil: not now.
        ///
        /// - Parameter isCrowded: Whether most connections are strangers'.
        func rank(isCrowded: Bool, now: NIODeadline) -> Int? {
            switch phase {
            case .waiting where isKnown: 2
            case .answering where !isKnown: 3
            case .reading where isKnown, .answering: nil
            case .waiting, .reading: now - opened >= ConnectionSlots.timeToIntroduce ? 0 : isCrowded ? 1 : nil
            }
        }
    }

    fileprivate struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        /// Of those that were taken, also before they are in `connections`.
        var count = 0
        var closingCount = 0
    }

    /// How long a new connection has for its token before others may have its place.
    static let timeToIntroduce = TimeAmount.seconds(1)

    private let limit: Int
    private let state = Locked(State())
    /// Whether the sender of a request has shown a valid token.
    let isKnown: @Sendable (HTTPRequest) -> Bool

    /// - Parameters:
    ///   - limit: Connections at a time; those beyond wait in the system's queue, as one that is taken costs memory.
    ///   - isKnown: Whether the sender of a request has shown a valid token.
    init(_ limit: Int, isKnown: @escaping @Sendable (HTTPRequest) -> Bool) {
        self.limit = limit
        self.isKnown = isKnown
    }

    func connectionOpened() { state.withLock { $0.count += 1 } }

    func connectionClosed() { state.withLock { $0.count -= 1 } }

    func isAcceptingNewConnections() -> Bool {
        makeRoom()
        return state.withLock { $0.count < limit }
    }

    /// Closes as many as have to go so that one more can come.
    func makeRoom() {
        let chosen = state.withLock { state in
            let now = NIODeadline.now()
            var chosen: [any Channel] = []
            while state.isFull(limit: limit), let id = state.next(limit: limit, now: now) {
                state.connections[id]?.isClosing = true
                state.closingCount += 1
                if let channel = state.connections[id]?.channel { chosen.append(channel) }
            }
            return chosen
        }
        for channel in chosen {
            // On its own loop, where nothing of a request can come in between.
            channel.eventLoop.execute { if self.isStillToClose(channel) { channel.close(promise: nil) } }
        }
    }

    private func isStillToClose(_ channel: any Channel) -> Bool {
        let isToClose = state.withLock { state in
            guard let connection = state.connections[ObjectIdentifier(channel)] else { return true }
            guard connection.isKnown, connection.phase != .waiting else { return true }
            state.connections[ObjectIdentifier(channel)]?.isClosing = false
            state.closingCount -= 1
            return false
        }
        if !isToClose { makeRoom() }
        return isToClose
    }

    func add(_ channel: any Channel) {
        let isFull = state.withLock { state in
            state.connections[ObjectIdentifier(channel)] = Connection(channel: channel)
            return state.isFull(limit: limit)
        }
        if isFull { makeRoom() }
    }

    func remove(_ channel: any Channel) {
        state.withLock { state in
            if state.connections.removeValue(forKey: ObjectIdentifier(channel))?.isClosing == true {
                state.closingCount -= 1
            }
        }
    }

    func update(_ channel: any Channel, _ phase: Phase, isKnown: Bool) {
        let isFull = state.withLock { state in
            let id = ObjectIdentifier(channel)
            state.connections[id]?.phase = phase
            state.connections[id]?.since = .now()
            state.connections[id]?.isKnown = isKnown
            return state.isFull(limit: limit)
        }
        if isFull, phase == .waiting { makeRoom() }
    }
}

extension ConnectionSlots.State {
    /// Whether no more can come before one goes that stays as yet.
    fileprivate func isFull(limit: Int) -> Bool { count - closingCount >= limit }

    /// The one that makes room next; nil: all are needed.
    fileprivate func next(limit: Int, now: NIODeadline) -> ObjectIdentifier? {
        let open = connections.filter { !$0.value.isClosing }
        let strangerCount = open.count { $0.value.isStranger }
        // One that is alone does not make room for itself.
        let isCrowded = strangerCount > 1 && strangerCount * 2 > limit
        let candidates = open.compactMap { id, connection in
            connection.rank(isCrowded: isCrowded, now: now).map { (id: id, rank: $0, since: connection.since) }
        }
        return candidates.min { ($0.rank, $0.since) < ($1.rank, $1.since) }?.id
    }
}

/// Tells ``ConnectionSlots`` what one connection is at.
final class ConnectionSlot: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let slots: ConnectionSlots
    private var introduction: Scheduled<Void>?
    private var isKnown = false
    private var isReading = false
    /// Requests whose answer is not finished; several where they come one behind the other.
    private var openCount = 0

    init(_ slots: ConnectionSlots) { self.slots = slots }

    func handlerAdded(context: ChannelHandlerContext) {
        slots.add(context.channel)
        let slots = slots
        introduction = context.eventLoop.scheduleTask(in: ConnectionSlots.timeToIntroduce) { slots.makeRoom() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        introduction?.cancel()
        slots.remove(context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            isReading = true
            openCount += 1
            if !isKnown { isKnown = slots.isKnown(head) }
            update(context)
        case .body: break
        case .end:
            isReading = false
            update(context)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head, .body: context.write(data, promise: promise)
        case .end:
            // At rest once the system has all of the answer: what is closed before would cut it short.
            let written = promise ?? context.eventLoop.makePromise()
            written.futureResult.assumeIsolated().whenComplete { _ in
                self.openCount -= 1
                self.update(context)
            }
            context.write(data, promise: written)
        }
    }

    private func update(_ context: ChannelHandlerContext) {
        slots.update(
            context.channel, isReading ? .reading : openCount > 0 ? .answering : .waiting, isKnown: isKnown)
    }
}

// Confined to its channel's event loop.
@available(*, unavailable)
extension ConnectionSlot: Sendable {}
#endif
