#if Collector
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTPTypes
import WaybillCollector

/// Closes a connection whose request arrives too slowly, or whose answer is not read. A late head gets no answer,
/// because there may be no request. A late or slow body gets 408.
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
        /// The deadline for each `stalledByteCount` bytes of a body.
        var stalled: TimeAmount
        var stalledByteCount: Int
        /// The deadline for the client to read some of an answer.
        var write: TimeAmount
    }

    private let times: Times
    private var alarm: Scheduled<Void>?
    private var paceAlarm: Scheduled<Void>?
    private var writeAlarm: Scheduled<Void>?
    private var receivedByteCount = 0
    /// Whether the server waits for the sender, and not for its own handlers.
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
        // 100 Continue is not the answer yet.
        case .head(let head): if head.status.kind != .informational { isAnswering = true }
        case .body: break
        case .end:
            isAnswering = false
            // If the answer ends before the body does, the deadline of the body remains.
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

enum FreedMemory {
    /// Makes the C library return freed memory once 128 KiB are free at the end of an arena.
    /// By default, glibc keeps up to 64 MiB per thread after large questions. Other C libraries lack this function.
    static func giveBack() {
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        let trimThreshold: CInt = -1  // M_TRIM_THRESHOLD of malloc.h
        _ = mallopt(trimThreshold, 128 << 10)
    }
}
#endif
