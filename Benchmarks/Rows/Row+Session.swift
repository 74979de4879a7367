import Foundation
import Waybill
import WaybillCore
import WaybillStore

#if canImport(FoundationNetworking)
import FoundationNetworking
import TestSupport
#endif

extension Row {
    /// Captured requests, compared with those of a bare `URLSession` in its default configuration.
    static let sessions: [Row] = [
        session, session32, sessionStreaming, capture, exchange, sessionBodies, sessionMemory,
    ]

    /// 512 bytes, one request after the other.
    private static let session = Row("session", unit: "µs/request", against: "URLSession.data") {
        let setting = try SessionSetting()
        return try await .microseconds {
            try await setting.captured(512)
        } against: {
            try await setting.bare(512)
        }
    }

    /// The same, 32 at a time.
    private static let session32 = Row("session32", unit: "µs/request", against: "URLSession.data") {
        let setting = try SessionSetting()
        return try await .microseconds(requests: 320, ways: 32, rounds: 20) {
            try await setting.captured(512)
        } against: {
            try await setting.bare(512)
        }
    }

    /// The body piece by piece, with the time of the first byte.
    private static let sessionStreaming = Row("sessionStreaming", unit: "µs/request", against: "URLSession.data") {
        let setting = try SessionSetting()
        return try await .microseconds {
            try await setting.streamed(512)
        } against: {
            try await setting.bare(512)
        }
    }

    /// The time that recording adds to a request of the captured session.
    private static let capture = Row("capture", unit: "µs/request", against: "the same, off") {
        let setting = try SessionSetting()
        let off = try SessionSetting(recording: .off)
        return try await .microseconds(rounds: 80) {
            try await setting.captured(512)
        } against: {
            try await off.captured(512)
        }
    }

    /// The cost of recording a request, on its threads and without the request itself: open, with the header field,
    /// respond and close.
    private static let exchange = Row("exchange", unit: "ns/exchange", against: "the same, off") {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let managers = [RecordingHealth.Mode.on, .off].map { mode in
            TransactionManager(
                store: .directory(folder.appending(path: "\(mode)")), correlatedHosts: ["api.example.com"]
            ) { $0.recording = mode }
        }
        let logins = managers.map { $0.begin(Login.self) }
        let fields = [
            "Content-Type": "application/json", "Content-Length": "512", "Date": "Thu, 26 Nov 2026 12:00:00 GMT",
            "Server": "nginx", "Cache-Control": "no-store",
        ]
        guard let url = URL(string: "https://api.example.com/v1/orders/42/items?page=2&sort=price"),
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
        else { throw CocoaError(.coderInvalidValue) }
        var request = URLRequest(url: url)
        request.allHTTPHeaderFields = ["Accept": "application/json", "User-Agent": "Shop/2.1", "Accept-Language": "en"]
        let record = { [request] (index: Int) in
            for _ in 0..<500 {
                guard let opened = ExchangeRequest(request), let answer = ExchangeResponse(response) else { return 0 }
                let exchange = managers[index].openExchange(opened, in: logins[index])
                precondition(exchange.isRecorded == (index == 0), "the figure would be of something else")
                exchange.responded(answer)
                exchange.received(byteCount: 512)
                exchange.finish()
            }
            return 500
        }
        try await managers[0].sync()
        return try Comparison.nanoseconds(
            operations: 500, before: { try managers[0].sources.source?.writer.runAndWait { _, _ in } },
            of: { record(0) }, against: { record(1) })
    }

    /// 64 KB of JSON, redacted and kept.
    private static let sessionBodies = Row("sessionBodies", unit: "µs/request", against: "URLSession.data") {
        let setting = try SessionSetting(bodies: BodyPolicy())
        return try await .microseconds {
            try await setting.captured(64_000)
        } against: {
            try await setting.bare(64_000)
        }
    }

    /// Growth from the 3,000th request to the 33,000th, with a separate process for each kind.
    private static let sessionMemory = Row("sessionMemory", unit: "MB grown", against: "URLSession.data") {
        Comparison(value: try SessionGrowth.measured("captured"), baseline: try SessionGrowth.measured("bare"))
    }
}

/// A server, a session of each kind, and a transaction for the requests.
final class SessionSetting: Sendable {
    private let server: BenchServer
    private let folder = TemporaryDirectory.place()
    private let transactions: TransactionManager
    private let login: UseCaseTransaction<Login>
    private let bareSession = URLSession(configuration: .default)

    init(recording: RecordingHealth.Mode = .on, bodies: BodyPolicy? = nil) throws {
        server = try BenchServer()
        transactions = TransactionManager(store: .directory(folder), correlatedHosts: ["127.0.0.1"]) { options in
            options.recording = recording
            options.network.bodies = bodies
        }
        login = transactions.begin(Login.self)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func captured(_ byteCount: Int) async throws {
        check(try await transactions.session.data(for: request(byteCount), in: login).0.count, byteCount)
    }

    func streamed(_ byteCount: Int) async throws {
        let (bytes, _) = try await transactions.session.bytes(for: request(byteCount), in: login)
        var count = 0
        for try await piece in bytes { count += piece.count }
        check(count, byteCount)
    }

    func bare(_ byteCount: Int) async throws {
        check(try await bareSession.data(for: request(byteCount)).0.count, byteCount)
    }

    private func request(_ byteCount: Int) -> URLRequest { URLRequest(url: server.url.appending(path: "\(byteCount)")) }

    private func check(_ count: Int, _ expected: Int) {
        precondition(count == expected, "the answer was not whole: the figure would be of something else")
    }
}

/// How much a process grows by making requests: `Benchmarks --requests captured`.
enum SessionGrowth {
    /// Measures the growth of a child process, in megabytes.
    static func measured(_ kind: String) throws -> Double {
        let text = try BenchChild(["--requests", kind]).told()
        guard let growth = Double(text) else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return growth
    }

    /// In the child: prints its growth.
    static func run(_ kind: String) async throws {
        let setting = try SessionSetting()
        for _ in 0..<3_000 { try await kind == "bare" ? setting.bare(512) : setting.captured(512) }
        let before = residentMegabytes()
        for _ in 0..<30_000 { try await kind == "bare" ? setting.bare(512) : setting.captured(512) }
        print(residentMegabytes() - before)
    }
}
