import Foundation
import TestSupport
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A policy that keeps bodies also keeps those of requests, whatever their source.
@Suite(.timeLimit(.minutes(5)))
struct RequestBodyTests {
    let tx: TransactionManager
    let text = String(repeating: "what was sent, line by line\n", count: 4_000)

    init() {
        tx = TransactionManager.testing { options in
            options.diagnostics = { _ in }
            options.network.bodies = BodyPolicy()
        }
    }

    @Test func aBodyFromMemoryIsKept() async throws {
        try await isKept { try await tx.session.upload(for: $0, from: Data(text.utf8), in: $1) }
    }

    @Test func aBodyFromAFileIsKept() async throws {
        let folder = try TemporaryDirectory()
        try Data(text.utf8).write(to: folder.file("body"))
        try await isKept { try await tx.session.upload(for: $0, fromFile: folder.file("body"), in: $1) }
    }

    #if canImport(FoundationNetworking)
    @Test func aBodyFromAStreamIsKept() async throws {
        try await isKept { request, login in
            var request = request
            request.httpBodyStream = InputStream(data: Data(text.utf8))
            return try await tx.session.data(for: request, in: login)
        }
    }
    #endif

    private func isKept(_ send: (URLRequest, UseCaseTransaction<Login>) async throws -> (Data, URLResponse))
        async throws
    {
        let server = try LoopbackServer { _ in .text("thanks") }
        var request = URLRequest(url: server.url())
        request.httpMethod = "POST"
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        _ = try await send(request, tx.begin(Login.self))
        #expect(server.requests.map(\.body) == [Data(text.utf8)])
        let exchange = try #require(tx.exchanges.first)
        #expect(exchange.sentByteCount == Int64(text.utf8.count))
        let kept = try #require(try await tx.body(of: exchange.id, .request))
        #expect(String(decoding: kept.bytes, as: UTF8.self) == text)
        #expect(kept.isWhole)
        let answer = try #require(try await tx.body(of: exchange.id, .response))
        #expect(String(decoding: answer.bytes, as: UTF8.self) == "thanks")
    }
}
