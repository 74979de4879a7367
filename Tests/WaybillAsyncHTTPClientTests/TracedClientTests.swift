#if AsyncHTTPClient && Tracing
import AsyncHTTPClient
import Foundation
import NIOCore
import TestSupport
import Testing
import Tracing
import Waybill
import WaybillAsyncHTTPClient
import WaybillCore
import WaybillQueries
import WaybillTesting
import WaybillTracing

/// The client's own spans, with the tracer alone and with the wrapper over them. The tests use real sockets and the
/// client's own redirects.
@Suite(.timeLimit(.minutes(5))) struct TracedClientTests {
    let tx = TransactionManager.capturing(traceContext: .propagate)

    private func configuration(_ redirects: HTTPClient.Configuration.RedirectConfiguration? = nil)
        -> HTTPClient.Configuration
    {
        var configuration = HTTPClient.Configuration(redirectConfiguration: redirects)
        configuration.tracing.tracer = TransactionTracer(tx)
        return configuration
    }

    @Test func theTracerAloneMakesARequestAnExchange() async throws {
        let server = try LoopbackServer { _ in .text("hello", status: 201) }
        try await withClient(configuration()) { client in
            try await tx.perform(Login.self) { _ in
                _ = try await client.execute(HTTPClientRequest(server.url("/items")), timeout: .seconds(60))
            }
        }
        let exchange = try #require(try tx.exchange)
        #expect((exchange.url, exchange.status) == (server.url("/items").absoluteString, 201))
        #expect(server.requests.map { $0.told?.exchange } == [exchange.id.sequence])
        #expect(server.requests.first?.header("traceparent") != nil)
    }

    /// Breaks when the client, which follows redirects to any host and asks the tracer for fields each time, reveals
    /// the transaction to that host.
    @Test(arguments: [301, 302, 303, 307, 308]) func aRedirectToAnotherHostCarriesNoField(status: Int) async throws {
        let target = try LoopbackServer { _ in .text("there") }
        let place = target.url("/there", host: "localhost")
        let server = try LoopbackServer { _ in .redirect(to: place, status: status) }
        try await withClient(configuration()) { client in
            try await tx.perform(Login.self) { _ in
                let response = try await client.execute(HTTPClientRequest(server.url()), timeout: .seconds(60))
                #expect(response.url == place)
            }
        }
        #expect(server.requests.map { $0.told == nil } == [false])
        let there = try #require(target.requests.first)
        for name in ["Waybill-Transaction", "traceparent", "tracestate"] {
            #expect(there.header(name) == nil, "\(name)")
        }
        #expect(try tx.exchanges.count == 1)
    }

    /// Breaks when the wrapper over a client that traces sends two fields, which no server can read, or records two
    /// exchanges.
    @Test func theWrapperOverTheTracerSendsOneFieldAndRecordsOneExchange() async throws {
        let server = try LoopbackServer { request in
            request.path == "/"
                ? LoopbackServer.Response(status: 302, headers: [("Location", "/there")]) : .text("there")
        }
        try await withClient(configuration(.disallow)) { client in
            try await tx.perform(Login.self) { _ in
                let response = try await client.execute(
                    HTTPClientRequest(server.url()), timeout: .seconds(60), in: tx)
                _ = try await response.body.collect(upTo: 100)
            }
        }
        let exchange = try #require(try tx.exchange)
        #expect(exchange.receivedByteCount == 5)
        #expect(server.requests.count == 2)
        for request in server.requests {
            for name in ["waybill-transaction", "traceparent"] {
                #expect(request.headers.filter { $0.name.lowercased() == name }.count == 1, "\(name)")
            }
        }
        #expect(try tx.transactions(Login.self).flatMap(\.timeline).allSatisfy { $0.kind != .event })
    }
}
#endif
