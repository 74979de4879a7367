import Foundation

/// A port of 127.0.0.1 without HTTP: it accepts connections, reads nothing from them, and may send a greeting first.
public final class RawListener: Sendable {
    /// The port it listens on.
    public let port: Int
    private let listener: Socket
    private let stopping = Gate()
    private let threads = DispatchGroup()

    /// Starts to listen.
    ///
    /// - Parameter greeting: Sent on each connection, which is then closed; `nil` to leave connections as they are.
    public init(greeting: String? = nil) throws {
        (listener, port) = try Socket.boundToLoopback()
        // Small: a body of some size must not fit. A peer writes into this buffer, and nobody reads from it.
        var size: Int32 = 2_048
        setsockopt(listener.descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        guard listen(listener.descriptor, 16) == 0 else { throw POSIXError.current }
        let (listener, stopping, threads) = (listener, stopping, threads)
        threads.enter()
        Thread.detachNewThread {
            defer { threads.leave() }
            var kept: [Socket] = []
            while let socket = listener.accept(until: stopping) {
                guard let greeting else {
                    kept.append(socket)
                    continue
                }
                _ = socket.wait(for: POLLIN, until: stopping)
                _ = greeting.withCString { write(socket.descriptor, $0, strlen($0)) }
            }
        }
    }

    deinit {
        stopping.open()
        threads.wait()
    }
}
