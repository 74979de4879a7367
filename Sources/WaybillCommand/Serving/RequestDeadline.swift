#if Collector
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import WaybillCollector

/// Ends a connection whose request takes too long to come, however steadily it trickles in: an idle time alone does
/// not.
///
/// A head that is late is not answered, as there may be no request at all; a body that is late gets 408.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
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
    }

    private let times: Times
    private var alarm: Scheduled<Void>?
    private var isAnswering = false
    private var isReading = false

    init(_ times: Times) { self.times = times }

    func handlerAdded(context: ChannelHandlerContext) { wait(times.header, context) { context.close(promise: nil) } }

    func handlerRemoved(context: ChannelHandlerContext) { alarm?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        alarm?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isReading = true
            wait(times.body, context) { self.end(context) }
        case .body: break
        case .end:
            isReading = false
            alarm?.cancel()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head: isAnswering = true
        case .body: break
        case .end:
            isAnswering = false
            // Answered before its end, what is left of a body has the time that it had.
            if !isReading { wait(times.idle, context) { context.close(promise: nil) } }
        }
        context.write(data, promise: promise)
    }

    private func end(_ context: ChannelHandlerContext) {
        guard isReading, !isAnswering else { return context.close(promise: nil) }
        let head = HTTPResponse(status: .requestTimeout, headerFields: [.connection: "close", .contentLength: "0"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }

    private func wait(_ time: TimeAmount, _ context: ChannelHandlerContext, _ body: @escaping () -> Void) {
        alarm?.cancel()
        alarm = context.eventLoop.assumeIsolated().scheduleTask(in: time, body)
    }
}

// Confined to its channel's event loop.
@available(*, unavailable)
extension RequestDeadline: Sendable {}
#endif
