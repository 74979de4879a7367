/// An HTTP stack that Waybill does not know.
struct ToyRequest: Sendable {
    var method = "POST"
    var host = "api.example.com"
    var target: String
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
}

struct ToyResponse: Sendable {
    var status: Int
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []
}

/// A chain of handlers, as in server frameworks.
protocol ToyMiddleware: Sendable {
    func handle(_ request: ToyRequest, next: @Sendable (ToyRequest) async throws -> ToyResponse) async throws
        -> ToyResponse
}

struct ToyServer: Sendable {
    var middleware: any ToyMiddleware
    var handler: @Sendable (ToyRequest) async throws -> ToyResponse

    /// Answers 500 if the handler throws.
    func answer(_ request: ToyRequest) async -> ToyResponse {
        do { return try await middleware.handle(request, next: handler) } catch { return ToyResponse(status: 500) }
    }
}

/// Sends a request straight to a server. Without a server, the connection is lost.
struct ToyClient: Sendable {
    struct ConnectionLost: Error {}

    var server: ToyServer?

    func send(_ request: ToyRequest) async throws -> ToyResponse {
        guard let server else { throw ConnectionLost() }
        return await server.answer(request)
    }
}
