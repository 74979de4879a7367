#if Tracing && Hummingbird
import Foundation
import Hummingbird
import InMemoryTracing
import Testing
import Tracing
import Waybill
import WaybillCore
import WaybillHummingbird
import WaybillQueries
import WaybillTesting
import WaybillTracing

/// A server with Hummingbird's own middleware for spans, alone and with ours in either order, over a real socket. One
/// request must be one part with one exchange.
@Suite(.timeLimit(.minutes(5))) struct HummingbirdTests {
    enum Order: CaseIterable { case spansAlone, spansFirst, oursFirst }

    let client: TransactionManager = {
        .testing(correlatedHosts: ["127.0.0.1"]) { options in
            options.diagnostics = { _ in }
        }
    }()
    let server = TransactionManager.tracing()

    @Test(arguments: Order.allCases) func aRequestIsOnePartWithOneExchange(_ order: Order) async throws {
        try await withServer(order) { url in
            await client.perform(Login.self) { _ in
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<5 {
                        group.addTask {
                            _ = try? await client.session.data(from: url.appending(path: "orders/\(number)"))
                        }
                    }
                }
            }
        }
        let record = try #require(server.allRecords().first)
        #expect(record.parts.count == 5 && record.exchanges.count == 5)
        #expect(
            Set(record.parts.map(\.cause)) == (try Set(client.exchanges.map(\.id))),
            "each was caused by its own request")
        #expect(Set(record.exchanges.map { $0.url.suffix(8) }).count == 5)
        #expect(record.exchanges.allSatisfy { $0.role == .server && $0.status == 200 })
        #expect(record.parts.allSatisfy { $0.outcome == .succeeded })
        let events = record.timeline.filter { $0.kind == .event }.map(\.label).sorted()
        #expect(events == ["SELECT orders", "initiated"].flatMap { Array(repeating: $0, count: 5) })
    }

    @Test(arguments: Order.allCases) func whatFailsHasFailedAndWhatHasNoFieldLeavesNoTrace(_ order: Order) async throws
    {
        try await withServer(order) { url in
            _ = try await client.session.data(from: url.appending(path: "broken"), in: client.begin(Login.self))
            _ = try await client.session.data(from: url.appending(path: "orders/1"))
        }
        #expect(try server.allRecords().map { $0.parts.map(\.outcome) } == [[.failed]])
        #expect(try server.exchanges.map(\.status) == [500])
    }

    /// Breaks when a team on another tracer sees its spans in a separate trace.
    @Test func anotherTracerGetsTheSpansInTheTransactionsTrace() async throws {
        let other = InMemoryTracer()
        let id = try await withServer(.spansAlone, forwardingTo: other) { url in
            try await client.perform(Login.self) { login in
                _ = try await client.session.data(from: url.appending(path: "orders/1"))
                return login.id
            }
        }
        #expect(other.finishedSpans.map(\.operationName) == ["SELECT orders", "/orders/{id}"])
        #expect(try server.exchanges.count == 1)
        let told = other.performedContextExtractions.compactMap { ($0.carrier as? [String: String])?["traceparent"] }
        #expect(told.contains { $0.contains(id.description.filter { $0 != "-" }) })
    }

    private func withServer<Result: Sendable>(
        _ order: Order, forwardingTo next: (any Tracer)? = nil, _ body: (URL) async throws -> Result
    ) async throws -> Result {
        let router = Router()
        switch order {
        case .spansAlone: router.add(middleware: TracingMiddleware())
        case .spansFirst:
            router.add(middleware: TracingMiddleware())
            router.add(middleware: TransactionMiddleware(server))
        case .oursFirst:
            router.add(middleware: TransactionMiddleware(server))
            router.add(middleware: TracingMiddleware())
        }
        router.get("orders/:id") { _, _ in
            Login.current?.log(.initiated)
            return withSpan("SELECT orders") { _ in "an order" }
        }
        router.get("broken") { _, _ -> String in throw Broken() }
        let (ports, port) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) })
        let tracer = TransactionTracer(server, forwardingTo: next)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            // Request handlers run below this task, and inherit its tracer.
            group.addTask { try await withTracer(tracer) { try await application.run() } }
            var iterator = ports.makeAsyncIterator()
            let url = try #require(URL(string: "http://127.0.0.1:\(await iterator.next() ?? 0)"))
            let result = try await body(url)
            group.cancelAll()
            try? await group.waitForAll()
            return result
        }
    }
}
#endif
