#if GRPC
import Foundation
import GRPCCore
import GRPCInProcessTransport
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillGRPC
import WaybillQueries
import WaybillTesting

/// A call tells no server more than it should, and a server believes no call more than it should.
@Suite(.timeLimit(.minutes(5))) struct CorrelationTests {
    let server = TransactionManager.calling()

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test(
        arguments: [
            ("ipv4:10.0.0.7:50051", nil, "http://10.0.0.7:50051"), ("ipv6:[::1]:443", nil, "http://[::1]:443"),
            ("unix:/run/orders", nil, "http://unix"), ("in-process:27182", nil, "http://in-process"),
            ("ipv4:10.0.0.7:443", "https://orders.example.com/path?query", "https://orders.example.com"),
            ("ipv4:10.0.0.7:443", "https://[2001:db8::1]:8443", "https://[2001:db8::1]:8443"),
        ] as [(String, String?, String)])
    func whereACallGoesIsWhatItsClientSaysElseItsPeer(_ peer: String, _ named: String?, _ origin: String) async throws {
        let host = try #require(URL(string: origin)?.host())
        for isListed in [true, false] {
            let tx = TransactionManager.calling(isListed ? [host] : ["other.example.com"])
            let interceptor = TransactionClientInterceptor(tx, server: named.flatMap { URL(string: $0) })
            let told = try await tx.perform(Login.self) { _ in
                let told = Locked<Metadata?>(nil)
                _ = try await interceptor.intercept(
                    request: StreamingClientRequest(of: String.self) { _ in },
                    context: ClientContext(descriptor: .orders("Join"), remotePeer: peer, localPeer: "ipv4:127.0.0.1:1")
                ) { request, _ in
                    told.withLock { $0 = request.metadata }
                    return StreamingClientResponse<String>(error: RPCError(code: .unavailable, message: "nobody"))
                }
                return told.withLock { $0 }
            }
            #expect(try tx.exchanges.map(\.url) == ["\(origin)/shop.Orders/Join"])
            #expect(try tx.exchanges.map(\.state) == [.failed], "nobody has answered")
            let field = try #require(told)[stringValues: "waybill-transaction"].first { _ in true }
            #expect(
                field.flatMap { TransactionHeader(parsing: $0) }?.exchange
                    == (try (isListed ? tx.exchanges.first?.id.sequence : nil)))
            #expect(told?.count == (isListed ? 1 : 0))
        }
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func outsideAnyTransactionACallTellsNothingAndIsRecordedByItself() async throws {
        let (tx, orders) = (TransactionManager.calling(), Orders())
        let answer = try await withOrders(
            orders, client: [TransactionClientInterceptor(tx, traceContext: .propagate)],
            server: [TransactionServerInterceptor(server)]
        ) { try await $0.call("Join", ["a", "b"]) }
        #expect(answer == ["a+b"])
        #expect(orders.metadata.withLock { $0 } == [[]])
        #expect(try tx.allRecords().isEmpty)
        #expect(try server.allRecords().isEmpty)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func aFieldOfTheCallersIsLeftAsItIs() async throws {
        let (tx, orders) = (TransactionManager.calling(), Orders())
        let other = TransactionHeader(transaction: GUID(), useCase: Login.code)
        try await withOrders(
            orders, client: [TransactionClientInterceptor(tx)], server: [TransactionServerInterceptor(server)]
        ) { client in
            try await tx.perform(Login.self) { _ in
                _ = try await client.call("Join", ["a"], metadata: ["waybill-transaction": "\(other)"])
            }
        }
        #expect(orders.metadata.withLock { $0 } == [["waybill-transaction"]])
        #expect(try server.transactions(Login.self).map(\.summary.id) == [other.transaction])
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func whatCannotBeReadIsCountedAndTheCallIsHandled() async throws {
        let answer = try await withOrders(client: [], server: [TransactionServerInterceptor(server)]) { client in
            var answers = try await client.call("Join", ["a"], metadata: ["waybill-transaction": "?"])
            var twice = Metadata()
            for _ in 0..<2 {
                twice.addString("\(TransactionHeader(transaction: GUID(), useCase: 0))", forKey: "waybill-transaction")
            }
            answers += try await client.call("Join", ["b"], metadata: twice)
            return answers
        }
        #expect(answer == ["a", "b"])
        #expect(try server.allRecords().isEmpty)
        #expect(server.health.malformedHeaders == 2)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func traceContextIsSentAndReadWhereThatIsAskedFor() async throws {
        let (tx, orders) = (TransactionManager.calling(), Orders())
        let id = try await withOrders(
            orders, client: [TransactionClientInterceptor(tx, traceContext: .propagate)],
            server: [TransactionServerInterceptor(server)]
        ) { client in
            try await tx.perform(Login.self) { login in
                _ = try await client.call("Join", ["a"])
                return login.id
            }
        }
        #expect(orders.metadata.withLock { $0 } == [["traceparent", "tracestate", "waybill-transaction"]])

        // A service in another language sends only a trace.
        let trace = id.description.filter { $0 != "-" }
        let metadata: Metadata = ["traceparent": "00-\(trace)-b7ad6b7169203331-01"]
        for policy in [TraceContextPolicy.off, .propagate, .join] {
            let server = TransactionManager.calling()
            _ = try await withOrders(
                client: [], server: [TransactionServerInterceptor(server, traceContext: policy)]
            ) { try await $0.call("Join", ["a"], metadata: metadata) }
            #expect(try server.transactions(Login.self).map(\.summary.id) == (policy == .join ? [id] : []))
        }
    }

    /// Breaks when an app with one interceptor on the client and another on the router records two parts instead of
    /// one.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func twoInterceptorsMakeOnePart() async throws {
        let tx = TransactionManager.calling()
        let twice = [TransactionServerInterceptor(server), TransactionServerInterceptor(server)]
        try await withOrders(
            client: [TransactionClientInterceptor(tx), TransactionClientInterceptor(tx)], server: twice
        ) {
            client in try await tx.perform(Login.self) { _ in _ = try await client.call("Split", ["a+b"]) }
        }
        #expect(try server.transactions(Login.self).first?.parts.count == 1)
        #expect(try server.exchanges.count == 1)
        #expect(try tx.exchanges.count == 1)
        #expect(try server.events(named: "grpc.handled").count == 1)
        #expect(try tx.events(named: "grpc.call").count == 1)
    }
}
#endif
