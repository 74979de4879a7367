#if Collector
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTPTypes
import WaybillCollector
import WaybillCore

/// The connections of a collector, and the order of closing them when new ones need room.
///
/// First it closes connections without a valid token that had time to show one, or the oldest if most have none.
/// Then it closes idle connections. Requests with a valid token stay, but each token has a limited share of them.
final class ConnectionSlots: AvailableConnectionsDelegate, Sendable {
    enum Phase: Sendable {
        case waiting
        case reading
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
        var isHungUp = false
        var cancel: (@Sendable () -> Void)?

        var isStranger: Bool { !isKnown && phase != .answering }

        /// The priority for closing, lowest first; `nil` to keep the connection.
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
        /// Includes accepted connections that are not yet in `connections`.
        var count = 0
        var closingCount = 0
    }

    /// The time for a new connection to show its token, before it can be closed.
    static let timeToIntroduce = TimeAmount.seconds(1)

    private let limit: Int
    private let state = Locked(State())
    /// The shares of tokens and projects.
    private let room: SharedBudget
    private let now: @Sendable () -> NIODeadline
    let identity: @Sendable (HTTPRequest) -> Access.Identity?
    private let countRefused: @Sendable (Access.Identity) -> Void

    /// Connections beyond `limit` wait in the system's queue, because an accepted connection costs memory.
    init(
        _ limit: Int, now: @escaping @Sendable () -> NIODeadline = NIODeadline.now,
        identity: @escaping @Sendable (HTTPRequest) -> Access.Identity?,
        countRefused: @escaping @Sendable (Access.Identity) -> Void = { _ in }
    ) {
        self.limit = limit
        self.now = now
        self.identity = identity
        self.countRefused = countRefused
        room = SharedBudget(limit: limit)
    }

    /// Reserves a place for a request with a valid token. Throws the answer if its share is used up.
    func place(for identity: Access.Identity) throws(Problem) -> SharedBudget.Reservation {
        let place = room.reservation(for: identity)
        do {
            try place.grow(by: 1)
        } catch {
            countRefused(identity)
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
            // On the channel's own event loop, no request can begin in between.
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

    func hangUp(_ channel: any Channel) {
        let cancel = state.withLock { state in
            state.connections[ObjectIdentifier(channel)]?.isHungUp = true
            return state.connections[ObjectIdentifier(channel)]?.cancel
        }
        cancel?()
    }

    /// Runs `body`, and cancels it when the client disconnects.
    func whileConnected<Value: Sendable>(
        _ channel: any Channel, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = state.withLock { state in
            let isHungUp = state.connections[ObjectIdentifier(channel)]?.isHungUp ?? true
            let task = Task {
                // The task cancels itself, because it could begin before anyone else cancels it.
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
    fileprivate func isFull(limit: Int) -> Bool { count - closingCount >= limit }

    /// The next connection to close; `nil` if all must stay.
    fileprivate func next(limit: Int, now: NIODeadline) -> ObjectIdentifier? {
        let open = connections.filter { !$0.value.isClosing }
        let strangerCount = open.count { $0.value.isStranger }
        // A single connection does not make room for itself.
        let isCrowded = strangerCount > 1 && strangerCount * 2 > limit
        let candidates = open.compactMap { id, connection in
            connection.rank(isCrowded: isCrowded, now: now).map { (id: id, rank: $0, since: connection.since) }
        }
        return candidates.min { ($0.rank, $0.since) < ($1.rank, $1.since) }?.id
    }
}

/// Reports the phase of a connection to ``ConnectionSlots``, and refuses requests beyond a token's share.
final class ConnectionSlot: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let slots: ConnectionSlots
    private var introduction: Scheduled<Void>?
    private var identity: Access.Identity?
    private var place: SharedBudget.Reservation?
    private var isRefused = false
    private var isReading = false
    /// Requests without a finished answer; more than one with pipelining.
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
        // A client that closed its half looks the same as one that is gone.
        if event as? ChannelEvent == .inputClosed { slots.hangUp(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard head.hasOneHost else { return refuse(.oneHost, context) }
            if identity == nil { identity = slots.identity(head) }
            if place == nil, let identity {
                do throws(Problem) { place = try slots.place(for: identity) } catch { return refuse(error, context) }
            }
            isReading = true
            openCount += 1
            update(context)
            if identity != nil, head.awaitsContinue { invite(context) }
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
            // Idle only when the system has the whole answer, because closing earlier would truncate it.
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
        slots.update(context.channel, phase, isKnown: identity != nil)
    }

    /// Sends 100 Continue (RFC 9110, section 10.1.1). Clients without a token get their answer without it.
    private func invite(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

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
    /// RFC 9112, section 3.2. The first field `Host` is the authority, and a second one remains in the fields.
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

/// Cancels reads of disconnected clients. Writes continue, because the client may send them again.
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

struct ConnectedRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
#endif
