#if Collector
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTPTypes
import WaybillCollector
import WaybillCore

/// The connections that a collector has, and which of them are closed when there are as many as there may be.
///
/// Those that nobody works on make room for new ones: first connections that had the time to show a valid token and have
/// not, then, where more than half are new and have shown none, the oldest of these, and last those that rest between
/// requests. A request of a valid token is not given up once it was let in, and a token has its share of those: what it
/// sends beyond is refused at once. So neither connections that are only opened or kept alive nor the requests of one
/// token take all slots.
final class ConnectionSlots: AvailableConnectionsDelegate, Sendable {
    /// What is done with a connection.
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
        let opened: NIODeadline
        var phase = Phase.waiting
        var since: NIODeadline
        /// Whether it has shown a valid token.
        var isKnown = false
        var isClosing = false
        /// Whether its client has gone.
        var isHungUp = false
        /// Ends what is done for its client.
        var cancel: (@Sendable () -> Void)?

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
    /// For requests of valid tokens that are being read or answered.
    private let room: SharedBudget
    private let now: @Sendable () -> NIODeadline
    /// Whose a request is, if its sender has shown a valid token.
    let bearer: @Sendable (HTTPRequest) -> Bearer?
    private let countRefused: @Sendable (Bearer) -> Void

    /// - Parameters:
    ///   - limit: Connections at a time; those beyond wait in the system's queue, as one that is taken costs memory.
    ///   - now: Says how long a connection has been open.
    ///   - bearer: Whose a request is, if its sender has shown a valid token; nil: it has not.
    ///   - countRefused: Told whose request was one beyond its share.
    init(
        _ limit: Int, now: @escaping @Sendable () -> NIODeadline = NIODeadline.now,
        bearer: @escaping @Sendable (HTTPRequest) -> Bearer?,
        countRefused: @escaping @Sendable (Bearer) -> Void = { _ in }
    ) {
        self.limit = limit
        self.now = now
        self.bearer = bearer
        self.countRefused = countRefused
        room = SharedBudget(limit: limit)
    }

    /// A place for a request of a valid token, which is its own until it is let go of.
    ///
    /// - Throws: The answer to a request for which there is none, because its token or its project has its share.
    func place(for bearer: Bearer) throws(Problem) -> SharedBudget.Reservation {
        let place = room.reservation(for: bearer)
        do {
            try place.grow(by: 1)
        } catch {
            countRefused(bearer)
            throw error
        }
        return place
    }

    func connectionOpened() { state.withLock { $0.count += 1 } }

    func connectionClosed() { state.withLock { $0.count -= 1 } }

    func isAcceptingNewConnections() -> Bool {
        makeRoom()
        return state.withLock { $0.count < limit }
    }

    /// Closes as many as have to go so that one more can come.
    func makeRoom() {
        let now = now()
        let chosen = state.withLock { state in
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
        let now = now()
        let isFull = state.withLock { state in
            state.connections[ObjectIdentifier(channel)] = Connection(channel: channel, opened: now, since: now)
            return state.isFull(limit: limit)
        }
        if isFull { makeRoom() }
    }

    func remove(_ channel: any Channel) {
        hangUp(channel)
        state.withLock { state in
            if state.connections.removeValue(forKey: ObjectIdentifier(channel))?.isClosing == true {
                state.closingCount -= 1
            }
        }
    }

    func update(_ channel: any Channel, _ phase: Phase, isKnown: Bool) {
        let now = now()
        let isFull = state.withLock { state in
            let id = ObjectIdentifier(channel)
            state.connections[id]?.phase = phase
            state.connections[id]?.since = now
            state.connections[id]?.isKnown = isKnown
            return state.isFull(limit: limit)
        }
        if isFull, phase == .waiting { makeRoom() }
    }

    /// Ends what is done for the client of a connection, who has gone.
    func hangUp(_ channel: any Channel) {
        let cancel = state.withLock { state in
            state.connections[ObjectIdentifier(channel)]?.isHungUp = true
            return state.connections[ObjectIdentifier(channel)]?.cancel
        }
        cancel?()
    }

    /// Runs `body`, and cancels it once the client of its connection has gone.
    func whileConnected<Value: Sendable>(
        _ channel: any Channel, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = state.withLock { state in
            let isHungUp = state.connections[ObjectIdentifier(channel)]?.isHungUp ?? true
            let task = Task {
                // Canceled from outside, it might have begun by then.
                if isHungUp { withUnsafeCurrentTask { $0?.cancel() } }
                return try await body()
            }
            state.connections[ObjectIdentifier(channel)]?.cancel = { task.cancel() }
            return task
        }
        defer { state.withLock { $0.connections[ObjectIdentifier(channel)]?.cancel = nil } }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
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

/// Tells ``ConnectionSlots`` what is done with one connection, and refuses requests beyond a token's share.
final class ConnectionSlot: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let slots: ConnectionSlots
    private var introduction: Scheduled<Void>?
    private var bearer: Bearer?
    /// For what its bearer has under way here.
    private var place: SharedBudget.Reservation?
    private var isRefused = false
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
        place = nil
        slots.remove(context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        place = nil
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // Who sends no more has gone, as far as anybody can tell: half of a connection is left of one that was closed.
        if event as? ChannelEvent == .inputClosed { slots.hangUp(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard head.hasOneHost else { return refuse(.oneHost, context) }
            if bearer == nil { bearer = slots.bearer(head) }
            if place == nil, let bearer {
                do throws(Problem) { place = try slots.place(for: bearer) } catch { return refuse(error, context) }
            }
            isReading = true
            openCount += 1
            update(context)
            if bearer != nil, head.awaitsContinue { invite(context) }
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
        let phase: ConnectionSlots.Phase = isReading ? .reading : openCount > 0 ? .answering : .waiting
        if phase == .waiting { place = nil }
        slots.update(context.channel, phase, isKnown: bearer != nil)
    }

    /// Has a sender who asked for it go on with the body (RFC 9110, section 10.1.1). Who shows no token is answered
    /// without it.
    private func invite(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    /// Answers, and closes the connection: what else comes on it is passed over.
    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        isRefused = true
        var (head, body) = (try? problem.answer) ?? (HTTPResponse(status: problem.status), ByteBuffer())
        head.headerFields[.connection] = "close"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }
}

extension HTTPRequest {
    /// RFC 9112, section 3.2. The first field `Host` is the authority, and a second one is left among the others.
    fileprivate var hasOneHost: Bool {
        authority != nil && !headerFields.contains { $0.name.canonicalName == "host" }
    }

    fileprivate var awaitsContinue: Bool { headerFields[.expect]?.lowercased() == "100-continue" }
}

extension Problem {
    fileprivate static let oneHost = Problem(
        .badRequest, "A request names the host that it is for in one field `Host`, and in no second one.")
}

// Confined to its channel's event loop.
@available(*, unavailable)
extension ConnectionSlot: Sendable {}

/// Ends what is read for a client that has gone, so that the store is not read for nobody.
///
/// What changes something goes on: its sender may send it again, and finds it done.
struct ConnectedResponder<Base: HTTPResponder>: HTTPResponder where Base.Context == ConnectedRequestContext {
    let base: Base
    let slots: ConnectionSlots

    func respond(to request: Request, context: ConnectedRequestContext) async throws -> Response {
        guard request.method != .delete, request.uri.path != Route.addSet.path else {
            return try await base.respond(to: request, context: context)
        }
        return try await slots.whileConnected(context.channel) {
            try await base.respond(to: request, context: context)
        }
    }
}

/// What Hummingbird knows of a request, and the connection that it came on.
struct ConnectedRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
#endif
