#if Collector
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
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

/// Cancels reads of disconnected clients. Writes continue, because the client may send them again.
struct ConnectedResponder: HTTPResponder {
    let base: RouterResponder<ConnectedRequestContext>
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
