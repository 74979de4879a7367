#if Collector
import Foundation
import Hummingbird
import TestSupport
import Waybill
import WaybillCore
import WaybillHummingbird

/// A Hummingbird server with the middleware, compared with the same server without it. Every request names a new
/// transaction.
extension Row {
    static let servers: [Row] = [
        Row("server", unit: "requests/s", against: "without the middleware") {
            try await comparingServers { $0.loads.map { Double(ServedRequests.count) / $0.seconds }.median }
        },
        Row("server.cpu", unit: "µs/request", against: "without the middleware") {
            try await comparingServers { $0.microseconds.median }
        },
        Row("server.p99", unit: "ms at 2,000/s", against: "without the middleware") {
            try await comparingServers(perSecond: 2_000) { $0.loads.map(\.slowestHundredth).median * 1000 }
        },
    ]

    private static func comparingServers(
        perSecond: Int? = nil, _ figure: (ServedRequests) -> Double
    ) async throws -> Comparison {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        var recorded = try ServedRequests(["--server", folder.path(percentEncoded: false)])
        var plain = try ServedRequests(["--server"])
        for _ in 0..<7 {
            try await recorded.measure(perSecond: perSecond)
            try await plain.measure(perSecond: perSecond)
        }
        return Comparison(value: figure(recorded), baseline: figure(plain))
    }
}

/// A server in a separate process, and the cost of requests to it.
struct ServedRequests {
    static let count = connections * 400
    private static let connections = 16

    private let child: BenchChild
    private let port: Int
    private var isWarm = false
    private(set) var loads: [Load] = []
    /// CPU microseconds of the server for each request.
    private(set) var microseconds: [Double] = []

    init(_ arguments: [String]) throws {
        child = try BenchChild(arguments)
        port = Int(child.told()) ?? 0
    }

    mutating func measure(perSecond: Int?) async throws {
        let requests = (0..<Self.connections).map { _ in
            (0..<Self.count / Self.connections).map { _ in Self.request() }
        }
        let before = Double(try child.ask()) ?? 0
        let load = try await Load.run(
            requests, to: port, every: perSecond.map { .seconds(1) * Self.connections / $0 })
        let used = (Double(try child.ask()) ?? 0) - before
        defer { isWarm = true }
        guard isWarm else { return }
        loads.append(load)
        microseconds.append(used / Double(Self.count) * 1e6)
    }

    private static func request() -> [UInt8] {
        let header = TransactionHeader(transaction: GUID(), useCase: 1, source: GUID(), exchange: 2)
        return Array(
            """
            POST /login HTTP/1.1\r
            Host: 127.0.0.1\r
            \(TransactionHeader.fieldName): \(header)\r
            Content-Length: 0\r
            \r

            """.utf8)
    }

    /// In the child: runs a server on a free port, with the middleware if a folder is given, and answers each line with
    /// the CPU seconds used so far: `--server [FOLDER]`.
    static func serve(_ folder: String?) async throws {
        let router = Router()
        if let folder {
            router.add(
                middleware: TransactionMiddleware(
                    TransactionManager(store: .directory(URL(filePath: folder))) { options in
                        options.server.accepting = .codes([1])
                        options.server.joinsPerMinute = 10_000_000
                    }))
        }
        let answer = String(repeating: "x", count: 512)
        router.post("login") { _, _ in answer }
        let server = try await RunningServer(router)
        BenchChild.tell(server.port)
        while readLine() != nil { BenchChild.tell(ProcessorSeconds.ofThisProcess) }
        withExtendedLifetime(server) {}
    }
}
#endif
