#if Collector
import Foundation
import Hummingbird
import Logging
import NIOCore
import TestSupport
@testable import WaybillCollector
import WaybillCore

extension Collector {
    /// Creates an open collector, which is what most tests need.
    init(folder: URL, limits: CollectorLimits = CollectorLimits()) throws(WaybillError) {
        try self.init(folder: folder, access: .open, limits: limits)
    }
}

extension Collector {
    /// Returns the cookie field of a browser that has logged in with this token.
    func sessionCookie(_ token: BearerToken) throws -> [String: String] {
        let identity = try access.identity(fieldValue: token.fieldValue)
        return ["Cookie": "waybill_session=\(access.beginSession(of: identity) ?? "")"]
    }
}

/// A collector that listens on a port that the system picks, while a test's body runs.
struct CollectorServer {
    let port: Int

    static func run(
        _ collector: Collector, logger: Logger = CollectorServer.quiet, _ body: (CollectorServer) async throws -> Void
    ) async throws {
        try await run(collector.router(), logger: logger, body)
    }

    private static var quiet: Logger { Logger(label: "collector", factory: { _ in SwiftLogNoOpLogHandler() }) }

    static func run(
        _ router: Router<BasicRequestContext>, logger: Logger = CollectorServer.quiet,
        _ body: (CollectorServer) async throws -> Void
    ) async throws {
        let (ports, started) = AsyncStream<Int>.makeStream()
        let app = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                started.yield(channel.localAddress?.port ?? 0)
                started.finish()
            },
            logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { started.finish() }
                try await app.run()
            }
            for await port in ports { try await body(CollectorServer(port: port)) }
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
    }

    func get(_ path: String, headers: [String: String] = [:]) async throws -> RawClient.Response {
        try await RawClient.send("GET", path, to: port, headers: headers)
    }

    func post(
        _ body: Data, type: String? = TransactionSet.mediaType, headers: [String: String] = [:]
    ) async throws -> RawClient.Response {
        var headers = headers
        headers["Content-Type"] = type
        return try await RawClient.send("POST", "/v1/sets", to: port, headers: headers, body: body)
    }

    /// Posts a set and returns its receipt, which must exist.
    func post(_ set: TransactionSet) async throws -> Receipt {
        let response = try await post(Data(set.encoded()))
        guard response.status == 200, response.header("Content-Type") == Receipt.mediaType else {
            throw Refusal(response: response)
        }
        return try Receipt.decode(Array(response.body))
    }

    struct Refusal: Error { var response: RawClient.Response }

    /// Returns an answer, decoded with the keys of the API description.
    func value<Value: Decodable>(_ path: String, as type: Value.Type = Value.self) async throws -> Value {
        let response = try await get(path)
        guard response.status == 200 else { throw Refusal(response: response) }
        return try JSONDecoder.waybill().decode(type, from: response.body)
    }
}
#endif
