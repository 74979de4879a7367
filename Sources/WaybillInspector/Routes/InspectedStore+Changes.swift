import WaybillAnalysis
import WaybillReading

extension InspectedStore {
    /// A stream of server-sent events (html.spec.whatwg.org, section 9.2), each of which says that the store is another
    /// one than before.
    ///
    /// The store is asked rather than its writer, since another process may write it. What has changed is for the page
    /// to ask: then there is one way to make a list.
    ///
    /// - Parameter version: Of the store when the page was made; nil: now.
    func changes(since version: Int64?) -> InspectorResponse {
        let changes = StoreChanges(store, since: version)
        var response = InspectorResponse(
            type: "text/event-stream", .stream(AsyncThrowingStream { try await changes.next() }))
        response.fields["Cache-Control"] = "no-store, no-transform"
        return response
    }
}

/// What a stream of changes says, piece by piece.
private actor StoreChanges {
    /// How often the store is asked whether it has changed, which costs microseconds.
    private static let interval = Duration.seconds(1)
    /// After so many times without a change a comment is sent, so that a client that has gone is noticed.
    private static let budget = 15

    private let store: any ExplorableStore
    private var known: Int64?
    private var isBegun = false
    private var hasAsked = false

    init(_ store: any ExplorableStore, since version: Int64?) {
        self.store = store
        known = version
    }

    /// The next piece; nil where the client has gone, or the server is to stop.
    func next() async throws -> [UInt8]? {
        guard isBegun else {
            isBegun = true
            if known == nil { known = try await store.version() }
            return Array("retry: 2000\n\n".utf8)
        }
        for _ in 0..<Self.budget {
            // Not before the first time: the store may have changed since the page was made.
            if hasAsked, (try? await Task.sleep(for: Self.interval)) == nil { return nil }
            hasAsked = true
            let now = try await store.version()
            if now != known {
                known = now
                return Array("event: changed\ndata: \(now)\n\n".utf8)
            }
        }
        return Array(":\n\n".utf8)
    }
}
