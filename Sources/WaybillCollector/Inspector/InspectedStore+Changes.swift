#if Collector
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import WaybillReading
import WaybillStore

extension InspectedStore {
    /// How often the store is asked whether it has changed, which costs microseconds.
    private static let interval = Duration.seconds(1)
    /// After so many times without a change a comment is sent, so that a client that has gone is noticed.
    private static let patience = 15

    /// A stream of server-sent events (html.spec.whatwg.org, section 9.2), each of which says that the store is another one than before.
    ///
    /// The store is asked rather than its writer, since another process may write it. What has changed is for the page to ask: then there is one way to
    /// make a list.
    ///
    /// - Parameter version: Of the store when the page was made; nil: now.
    func changes(since version: Int?) -> Response {
        var headers = HTTPFields.private(type: "text/event-stream")
        headers[.cacheControl] = "no-store, no-transform"
        let queries = queries
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                var known = try await queries.read { reader in try version ?? reader.version() }
                try await writer.write(ByteBuffer(string: "retry: 2000\n\n"))
                var rest = 0
                // Ends when the client has gone, or the server is to stop.
                repeat {
                    let now = try await queries.read { reader in try reader.version() }
                    if now != known {
                        known = now
                        rest = 0
                        try await writer.write(ByteBuffer(string: "event: changed\ndata: \(now)\n\n"))
                    } else if rest == Self.patience {
                        rest = 0
                        try await writer.write(ByteBuffer(string: ":\n\n"))
                    }
                    rest += 1
                } while await Self.pause()
                try await writer.finish(nil)
            })
    }

    /// false where there is no time left.
    private static func pause() async -> Bool {
        do {
            try await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
            return !Task.isCancelled && !Task.isShuttingDownGracefully
        } catch {
            return false
        }
    }
}
#endif
