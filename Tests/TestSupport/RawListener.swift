import Foundation

/// A port of 127.0.0.1 where nobody speaks HTTP: it takes connections and reads nothing from them; and says something
/// first, if it is told to.
public final class RawListener: Sendable {
    /// The port it listens on.
    public let port: Int
    private let listener: Socket
    private let stopping = Gate()
    private let threads = DispatchGroup()

    /// Starts to listen.
    ///
    /// - Parameter greeting: Said to everybody, who is then hung up on; nil: connections stay as they are.
    public init(greeting: String? = nil) throws {
        (listener, port) = try Socket.boundToLoopback()
        // So that a body of some size finds no room: a buffer is what a peer writes into that is never read from.
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
