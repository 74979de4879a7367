#if Collector
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import WaybillCollector

/// Ends a connection whose request takes too long to come, however steadily it trickles in, or whose answer is not
/// read: an idle time alone does not.
///
/// A head that is late is not answered, as there may be no request at all; a body that is late, or of which too little
/// comes for some time, gets 408.
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
        /// In which so much of a body has to come.
        var stalled: TimeAmount
        /// Bytes of a body that have to come in that time, while there is room for them.
        var stalledByteCount: Int
        /// How long an answer may wait for its reader to take some of it.
        var write: TimeAmount
    }

    private let times: Times
    private var alarm: Scheduled<Void>?
    private var paceAlarm: Scheduled<Void>?
    private var writeAlarm: Scheduled<Void>?
    /// Of a body, in the time that is running.
    private var receivedByteCount = 0
    /// Whether it is the sender that is waited for, and not those that take in what came.
    private var isAskingForMore = false
    private var isAnswering = false
    private var isReading = false

    init(_ times: Times) { self.times = times }

    func handlerAdded(context: ChannelHandlerContext) { wait(times.header, context) { context.close(promise: nil) } }

    func handlerRemoved(context: ChannelHandlerContext) { cancelAlarms() }

    func channelInactive(context: ChannelHandlerContext) {
        cancelAlarms()
        context.fireChannelInactive()
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
        isAskingForMore = false
        switch unwrapInboundIn(data) {
        case .head:
            isReading = true
            wait(times.body, context) { self.end(context) }
            keepPace(context)
        case .body(let buffer): receivedByteCount += buffer.readableBytes
        case .end:
            isReading = false
            alarm?.cancel()
            paceAlarm?.cancel()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        // To ask for the body is no answer yet.
        case .head(let head): if head.status.kind != .informational { isAnswering = true }
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

    private func keepPace(_ context: ChannelHandlerContext) {
        receivedByteCount = 0
        paceAlarm = schedule(times.stalled, context) {
            let isStalled = self.isAskingForMore && self.receivedByteCount < self.times.stalledByteCount
            if isStalled { self.end(context) } else { self.keepPace(context) }
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

    private func cancelAlarms() { for alarm in [alarm, paceAlarm, writeAlarm] { alarm?.cancel() } }
}

// Confined to its channel's event loop.
@available(*, unavailable)
extension RequestDeadline: Sendable {}

/// What the C library does with memory that was freed.
enum FreedMemory {
    /// Gives it back as soon as 128 KiB of it lie at an end.
    ///
    /// By itself glibc keeps up to 64 MiB at the end of each thread's share, the more the larger what was freed before: a
    /// question of many words would leave some in each. Found by its name, since other C libraries do not have it and
    /// give memory back anyway.
    static func giveBack() {
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        let trimThreshold: CInt = -1  // M_TRIM_THRESHOLD of malloc.h
        _ = mallopt(trimThreshold, 128 << 10)
    }
}
#endif
