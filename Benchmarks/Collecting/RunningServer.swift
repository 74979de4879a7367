#if Collector
import Foundation
import Hummingbird
import Logging
import NIOCore

/// A server on a free port of loopback, until it is deallocated.
final class RunningServer {
    let port: Int
    private let running: Task<Void, any Error>

    init(_ router: Router<BasicRequestContext>) async throws {
        let (ports, port) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        running = Task { try await application.run() }
        var iterator = ports.makeAsyncIterator()
        self.port = await iterator.next() ?? 0
    }

    deinit { running.cancel() }
}
#endif
