import Foundation
import WaybillCore

/// A request of a ``CapturedSession`` that can be started, watched and canceled.
///
/// ## Usage
///
/// ```swift
/// let task = transactions.session.dataTask(with: url) { data, response, error in show(data) }
/// task.resume()
/// ```
///
/// Nothing is sent or recorded before it is resumed; a task that is let go of before that is gone, and one that was
/// resumed goes on by itself.
public final class CapturedTask: Sendable {
    private enum State {
        case suspended, starting, canceled
        case started(HTTPCall)
    }

    private let open: @Sendable () -> HTTPCall
    private let makeSink: @Sendable () -> any BodySink
    private let state = Locked(State.suspended)

    /// - Parameters:
    ///   - open: Records the exchange and makes it, once at most.
    ///   - sink: Makes what gets the answer, once at most.
    init(open: @escaping @Sendable () -> HTTPCall, sink: @escaping @Sendable () -> any BodySink) {
        self.open = open
        makeSink = sink
    }

    /// Sends the request; only the first call does, and none after ``cancel()``.
    public func resume() {
        let isFirst = state.withLock { state in
            guard case .suspended = state else { return false }
            state = .starting
            return true
        }
        guard isFirst else { return }
        let exchange = open()
        let isWanted = state.withLock { state in
            guard case .starting = state else { return false }
            state = .started(exchange)
            return true
        }
        if !isWanted { exchange.cancel() }
        exchange.start(into: makeSink())
    }

    /// Ends it with `URLError.cancelled`, unless it has ended; never waits, from any thread, at any time.
    public func cancel() {
        let (exchange, isSuspended): (HTTPCall?, Bool) = state.withLock { state in
            switch state {
            case .suspended:
                state = .canceled
                return (nil, true)
            case .starting:
                state = .canceled
                return (nil, false)
            case .started(let exchange): return (exchange, false)
            case .canceled: return (nil, false)
            }
        }
        exchange?.cancel()
        if isSuspended { makeSink().ended(.failure(URLError(.cancelled))) }
    }

    /// How far it is.
    public var progress: TransferProgress {
        guard case .started(let exchange) = state.withLock({ $0 }) else { return TransferProgress() }
        return exchange.progress
    }
}
