#if Collector
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import WaybillCollector

/// A client's connection: its deadlines, its place in ``ConnectionSlots``, and its share of them.
///
/// It closes if a request arrives too slowly, or if an answer is not read. A late head gets no answer, because there may
/// be no request. A late or slow body gets 408.
final class ClientConnection: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    struct Times: Sendable {
        /// For the first head of a connection.
        var header: TimeAmount
        /// From the end of a head to the end of the body.
        var body: TimeAmount
        /// From the end of an answer to the end of the next head.
        var idle: TimeAmount
        /// The deadline for each `stalledByteCount` bytes of a body.
        var stalled: TimeAmount
        var stalledByteCount: Int
        /// The deadline for the client to read some of an answer.
        var write: TimeAmount
    }

    private let slots: ConnectionSlots
    private let times: Times
    private var introduction: Scheduled<Void>?
    private var alarm: Scheduled<Void>?
    private var paceAlarm: Scheduled<Void>?
    private var writeAlarm: Scheduled<Void>?
    private var identity: Access.Identity?
    private var place: SharedBudget.Reservation?
    private var isRefused = false
    private var isReading = false
    private var receivedByteCount = 0
    /// Whether the server waits for the sender, and not for its own handlers.
    private var isAskingForMore = false
    private var isAnswering = false
    /// Requests without a finished answer; more than one with pipelining.
    private var openCount = 0

    init(_ slots: ConnectionSlots, _ times: Times) { (self.slots, self.times) = (slots, times) }

    func handlerAdded(context: ChannelHandlerContext) {
        slots.add(context.channel)
        introduction = schedule(ConnectionSlots.timeToIntroduce, context) { self.slots.makeRoom() }
        wait(times.header, context) { context.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
        slots.remove(context.channel)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A client that closed its half looks the same as one that is gone.
        if event as? ChannelEvent == .inputClosed { slots.hangUp(context.channel) }
        context.fireUserInboundEventTriggered(event)
    }

    func read(context: ChannelHandlerContext) {
        isAskingForMore = true
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writeAlarm?.cancel()
        if !context.channel.isWritable { writeAlarm = schedule(times.write, context) { context.close(promise: nil) } }
        context.fireChannelWritabilityChanged()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        isAskingForMore = false
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard head.hasOneHost else { return refuse(.oneHost, context) }
            if identity == nil { identity = slots.identity(head) }
            if place == nil, let identity {
                do throws(Problem) { place = try slots.place(for: identity) } catch { return refuse(error, context) }
            }
            isReading = true
            openCount += 1
            wait(times.body, context) { self.timeOut(context) }
            keepPace(context)
            update(context)
            if identity != nil, head.awaitsContinue { invite(context) }
        case .body(let buffer): receivedByteCount += buffer.readableBytes
        case .end:
            isReading = false
            alarm?.cancel()
            paceAlarm?.cancel()
            update(context)
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var promise = promise
        switch unwrapOutboundIn(data) {
        case .head: isAnswering = true
        case .body: break
        case .end:
            isAnswering = false
            // If the answer ends before the body does, the deadline of the body remains.
            if !isReading, openCount == 1 { wait(times.idle, context) { context.close(promise: nil) } }
            // Idle only when the system has the whole answer, because closing earlier would truncate it.
            let written = promise ?? context.eventLoop.makePromise()
            written.futureResult.assumeIsolated().whenComplete { _ in
                self.openCount -= 1
                self.update(context)
            }
            promise = written
        }
        context.write(data, promise: promise)
    }

    private func update(_ context: ChannelHandlerContext) {
        let phase: ConnectionSlots.Phase = isReading ? .reading : openCount > 0 ? .answering : .waiting
        if phase == .waiting { place = nil }
        slots.update(context.channel, phase, isKnown: identity != nil)
    }

    private func end() {
        for alarm in [introduction, alarm, paceAlarm, writeAlarm] { alarm?.cancel() }
        place = nil
    }

    // MARK: Answers without the collector

    /// Sends 100 Continue (RFC 9110, section 10.1.1). Clients without a token get their answer without it.
    private func invite(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        isRefused = true
        let (head, body) = (try? problem.answer) ?? (HTTPResponse(status: problem.status), ByteBuffer())
        close(context, with: head, body)
    }

    private func timeOut(_ context: ChannelHandlerContext) {
        guard isReading, !isAnswering else { return context.close(promise: nil) }
        close(context, with: HTTPResponse(status: .requestTimeout, headerFields: [.contentLength: "0"]))
    }

    private func close(_ context: ChannelHandlerContext, with head: HTTPResponse, _ body: ByteBuffer = ByteBuffer()) {
        var head = head
        head.headerFields[.connection] = "close"
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }

    // MARK: Deadlines

    private func keepPace(_ context: ChannelHandlerContext) {
        receivedByteCount = 0
        paceAlarm = schedule(times.stalled, context) {
            let isStalled = self.isAskingForMore && self.receivedByteCount < self.times.stalledByteCount
            if isStalled { self.timeOut(context) } else { self.keepPace(context) }
        }
    }

    private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext, _ body: @escaping () -> Void) {
        alarm?.cancel()
        alarm = schedule(time, context, body)
    }

    private func schedule(_ time: TimeAmount, _ context: ChannelHandlerContext, _ body: @escaping () -> Void)
        -> Scheduled<Void>
    {
        context.eventLoop.assumeIsolated().scheduleTask(in: time, body)
    }
}

// Confined to its channel's event loop.
@available(*, unavailable)
extension ClientConnection: Sendable {}

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
#endif
