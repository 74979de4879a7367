public import Foundation
import WaybillCore
import WaybillStore

/// An HTTP/1.1 server in this process on 127.0.0.1, on a port that the system picks. A closure decides its answers: for
/// real sockets, real timeouts and real hang-ups.
///
/// ## Usage
/// ```swift
/// let server = try LoopbackServer { request in request.path == "/" ? .text("hello") : .closed }
/// let (data, _) = try await URLSession.shared.data(from: server.url("/"))
/// #expect(server.requests.count == 1)
/// ```
/// It keeps connections alive, has one thread for each, and ends them all in `stop()`, or on release at the latest.
public final class LoopbackServer: Sendable {
    /// The port it listens on.
    public let port: Int
    private let received: Locked<[Request]>
    private let stopping = Gate()
    private let threads = DispatchGroup()

    /// Starts to listen.
    ///
    /// - Parameter handler: Called on the connection's thread, once for each request, when all of it has arrived.
    /// - Throws: `POSIXError` if the system gives no socket.
    public init(_ handler: @escaping @Sendable (Request) -> Response) throws {
        let (listener, port) = try Socket.boundToLoopback()
        guard listen(listener.descriptor, 128) == 0 else { throw POSIXError.current }
        let received = Locked<[Request]>([])
        self.port = port
        self.received = received
        let (stopping, threads) = (stopping, threads)
        threads.enter()
        Thread.detachNewThread {
            defer { threads.leave() }
            while let socket = listener.accept(until: stopping) {
                threads.enter()
                Thread.detachNewThread {
                    defer { threads.leave() }
                    let connection = Connection(socket: socket, stopping: stopping)
                    while let request = connection.read() {
                        received.withLock { $0.append(request) }
                        guard connection.write(handler(request)) else { return }
                    }
                }
            }
        }
    }

    deinit { stop() }

    /// Hangs up on everybody and returns when the last thread has ended.
    public func stop() {
        stopping.open()
        threads.wait()
    }

    /// The requests that have arrived, in order of arrival.
    public var requests: [Request] { received.withLock { $0 } }

    /// A URL of this server. `host` may be another name for it, e.g. `localhost`.
    public func url(_ path: String = "/", host: String = "127.0.0.1") -> URL {
        loopbackURL(host: host, port: port, path: path)
    }
}

/// A URL that nobody answers: a connection to it is refused.
public func refusedURL(_ path: String = "/") throws -> URL {
    let (_, port) = try unusedPort.get()
    return loopbackURL(host: "127.0.0.1", port: port, path: path)
}

/// Bound as long as the process lives, to keep the port from others, but not listened on.
private let unusedPort = Result { try Socket.boundToLoopback() }

private func loopbackURL(host: String, port: Int, path: String) -> URL {
    var components = URLComponents()
    components.scheme = "http"
    components.host = host
    components.port = port
    let parts = path.split(separator: "?", maxSplits: 1)
    components.path = String(parts.first ?? "/")
    components.percentEncodedQuery = parts.count == 2 ? String(parts[1]) : nil
    return components.url ?? URL(fileURLWithPath: path)
}
