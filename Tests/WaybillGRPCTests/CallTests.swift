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

/// One call, recorded at both ends. Breaks when client and server record two transactions, or a wrong one.
@Suite(.timeLimit(.minutes(5))) struct CallTests {
    let tx = TransactionManager.calling()
    let server = TransactionManager.calling()

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    private func withBoth<Result: Sendable>(
        _ orders: Orders = Orders(), _ body: (GRPCClient<InProcessTransport.Client>) async throws -> Result
    ) async throws -> Result {
        try await withOrders(
            orders, client: [TransactionClientInterceptor(tx)], server: [TransactionServerInterceptor(server)], body)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func aCallIsAnExchangeOnBothSidesOfOneTransaction() async throws {
        let answer = try await withBoth { client in
            try await tx.perform(Login.self) { _ in
                try await client.unary(
                    request: ClientRequest(
                        message: "ann",
                        metadata: [
                            "authorization": "Bearer s3cret", "token-bin": .binary([1, 2, 3]), "tenant": "blue",
                        ]),
                    descriptor: .orders("Join"), serializer: Text(), deserializer: Text(), options: .defaults
                ) { response in try response.message }
            }
        }
        #expect(answer == "ann")
        let sent = try #require(tx.exchanges.first)
        #expect((sent.method, sent.url) == ("POST", "http://in-process/shop.Orders/Join"))
        #expect((sent.state, sent.status, sent.error) == (.completed, 200, nil))
        let fields = Dictionary(uniqueKeysWithValues: sent.requestHeaderFields.map { ($0.name, $0.value) })
        #expect(fields["authorization"] == "[redacted]" && fields["token-bin"]?.contains("1, 2") == false)
        #expect(fields["tenant"] == "blue")
        #expect(sent.responseHeaderFields.map(\.name) == ["first", "last", "grpc-status"])
        #expect(sent.responseHeaderFields.map(\.value) == ["1", "2", "0"])

        let record = try #require(server.transactions(Login.self).first)
        #expect(record.summary.id == (try tx.transactions(Login.self).first?.summary.id))
        #expect(record.parts.map(\.cause) == [sent.id] && record.parts.map(\.outcome) == [.succeeded])
        #expect(
            record.timeline.map(\.kind) == [.joined, .exchangeBegun, .event, .exchangeFinished, .event, .finished])
        let handled = try #require(record.exchanges.first)
        #expect((handled.role, handled.status, handled.state) == (.server, 200, .completed))
        #expect(handled.url.hasSuffix("/shop.Orders/Join"))
        #expect(handled.requestHeaderFields.contains { $0.name == "authorization" && $0.value == "[redacted]" })
        #expect(try tx.last(Login.self)?.outcome == .succeeded)
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test(
        arguments: [
            ("Join", ["a"], ["a"]), ("Join", ["a", "b", "c"], ["a+b+c"]), ("Split", ["a+b+c"], ["a", "b", "c"]),
            ("Split", ["a+b", "c+d"], ["a", "b", "c", "d"]),
        ]) func messagesAreCountedBothWaysInCallsOfAnyKind(
            _ method: String, _ request: [String], _ response: [String]
        ) async throws
    {
        let answer = try await withBoth { client in
            try await tx.perform(Login.self) { _ in try await client.call(method, request) }
        }
        #expect(answer == response)
        let expected: Attributes = [
            "rpc.method": .string("shop.Orders/\(method)"), "rpc.response.status_code": "OK",
            "request_messages": .integer(Int64(request.count)), "response_messages": .integer(Int64(response.count)),
        ]
        #expect(try tx.events(named: "grpc.call").map(\.attributes) == [expected])
        #expect(try server.events(named: "grpc.handled").map(\.attributes) == [expected])
    }

    /// Breaks when the code that makes a stream of responses runs outside the transaction, after the handler has
    /// returned.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func theTransactionIsCurrentWhereResponsesAreMade() async throws {
        _ = try await withBoth { client in
            try await tx.perform(Login.self) { _ in try await client.call("Split", ["a+b", "c"]) }
        }
        let handled = try server.events(named: "handled")
        #expect(handled.map(\.attributes) == [["message": "a+b"], ["message": "c"]])
        #expect(try server.transactions(Login.self).count == 1)
    }

    /// Breaks when work that an app does while it makes the messages of a request counts as part of that request.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func aRequestThatIsSentWhileMessagesAreMadeIsAnExchangeOfItsOwn() async throws {
        let photo = try #require(URL(string: "https://img.example.com/photo"))
        _ = try await withBoth { client in
            try await tx.perform(Login.self) { _ in
                try await client.clientStreaming(
                    request: StreamingClientRequest(of: String.self) { [tx] writer in
                        tx.openExchange(ExchangeRequest(url: photo)).finish()
                        try await writer.write("photo")
                    }, descriptor: .orders("Join"), serializer: Text(), deserializer: Text(), options: .defaults
                ) { try $0.message }
            }
        }
        #expect(
            try Set(tx.exchanges.map(\.url)) == ["http://in-process/shop.Orders/Join", "https://img.example.com/photo"])
    }

    /// Breaks when a call uses the transaction of a concurrent one.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func callsBesideEachOtherKeepTheirTransactionsAndCauses() async throws {
        try await withBoth { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { [tx] in
                        try await tx.perform(Login.self) { login in
                            async let one = client.call("Split", ["\(login.id)"])
                            async let two = client.call("Split", ["\(login.id)"])
                            let answers = try await one + two
                            #expect(answers == ["\(login.id)", "\(login.id)"])
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        let sent = Dictionary(
            uniqueKeysWithValues: try tx.transactions(Login.self).map { ($0.summary.id, Set($0.exchanges.map(\.id))) })
        let handled = try server.transactions(Login.self)
        #expect(sent.count == 20 && handled.count == 20)
        for record in handled {
            #expect(Set(record.parts.compactMap(\.cause)) == sent[record.summary.id])
            #expect(record.parts.count == 2)
            let told = record.timeline.filter { $0.label == "handled" }.map { $0.attributes["message"] }
            #expect(told == Array(repeating: .string("\(record.summary.id)"), count: 2))
        }
    }

    // MARK: Ends

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test(
        arguments: [
            ("Fail", "mistake", Int64(5), "NOT_FOUND", TransactionOutcome.succeeded, true),
            ("Fail", "break", 2, "UNKNOWN", .failed, true), ("FailLate", "", 15, "DATA_LOSS", .failed, false),
        ]) func aStatusIsTheResult(
            _ method: String, _ message: String, _ code: Int64, _ name: String, _ outcome: TransactionOutcome,
            _ isRejected: Bool
        ) async throws
    {
        await #expect(throws: RPCError.self) {
            try await withBoth { client in
                try await tx.perform(Login.self) { _ in _ = try await client.call(method, [message]) }
            }
        }
        let error = RecordedError(domain: "grpc", code: code, name: name)
        let sent = try #require(tx.exchanges.first)
        #expect((sent.state, sent.status) == (.completed, 200))
        #expect(sent.error == error)
        #expect(try tx.transactions(Login.self).first?.parts.first?.error == error)
        #expect(sent.responseHeaderFields.last == HeaderField(name: "grpc-status", value: "\(code)"))
        #expect(try tx.events(named: "grpc.call").first?.attributes["rpc.response.status_code"] == .string(name))
        #expect(try tx.events(named: "grpc.call").first?.attributes["response_messages"] == (isRejected ? 0 : 1))

        let part = try #require(server.transactions(Login.self).first?.parts.first)
        #expect(part.outcome == outcome)
        #expect(try server.events(named: "grpc.handled").first?.attributes["rpc.response.status_code"] == .string(name))
        if name == "UNKNOWN" { #expect(part.error?.domain.hasSuffix("Broken") == true) }
    }

    /// A client's timeout starts when its call has a connection, which may be late on a busy machine. The test below
    /// covers the client's state.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func aDeadlineThatPassesIsAFailureOfTheTransactionAndOfTheServer() async throws {
        try await withBoth { client in
            await #expect(throws: RPCError(code: .deadlineExceeded, message: "RPC timed out before completing")) {
                try await tx.perform(Login.self) { _ in
                    _ = try await client.call("Wait", ["a"], timeout: .seconds(2))
                }
            }
            // Stopping the server earlier would cancel the call before its deadline.
            try await eventually("the server has given up") { try server.exchanges.map(\.state) == [.failed] }
        }
        let error = RecordedError(domain: "grpc", code: 4, name: "DEADLINE_EXCEEDED")
        #expect(try tx.last(Login.self)?.outcome == .failed)
        #expect(try tx.transactions(Login.self).first?.parts.first?.error == error)
        let called = try #require(tx.events(named: "grpc.call").first)
        #expect(try tx.exchanges.first?.state != .completed)
        guard case .integer(let timeout) = called.attributes["timeout_us"] else {
            Issue.record("no timeout")
            return
        }
        #expect(timeout > 0 && timeout <= 2_000_000)
        let handled = try #require(server.transactions(Login.self).first)
        #expect(handled.parts.map(\.outcome) == [.failed] && handled.parts.map(\.error) == [error])
        #expect(handled.exchanges.map(\.state) == [.failed] && handled.exchanges.map(\.error) == [error])
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func aCallThatIsCancelledIsCancelledOnBothSides() async throws {
        let orders = Orders()
        try await withBoth(orders) { client in
            let login = Task { [tx] in
                try await tx.perform(Login.self) { _ in
                    _ = try await client.call("Wait", ["a"], timeout: .seconds(3_600))
                }
            }
            try await eventually("the call is handled") { orders.waiting.withLock { $0 == 1 } }
            login.cancel()
            await #expect(throws: (any Error).self) { try await login.value }
        }
        #expect(try tx.exchanges.map(\.state) == [.cancelled])
        #expect(try tx.events(named: "grpc.call").first?.attributes["rpc.response.status_code"] == "CANCELLED")
        #expect(try tx.last(Login.self)?.outcome == .cancelled)
        #expect(try server.transactions(Login.self).first?.parts.map(\.outcome) == [.cancelled])
        #expect(try server.exchanges.map(\.state) == [.cancelled])
    }

    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func aStreamWhoseReaderStopsHalfWayIsCancelled() async throws {
        try await withBoth { client in
            try await tx.perform(Login.self) { _ in
                try await client.serverStreaming(
                    request: ClientRequest(message: "a+b+c+d"), descriptor: .orders("Split"), serializer: Text(),
                    deserializer: Text(), options: .defaults
                ) { response in
                    var count = 0
                    for try await _ in response.messages {
                        count += 1
                        if count == 2 { break }
                    }
                }
            }
        }
        try await eventually("its end is told") { try tx.exchanges.map(\.state) == [.cancelled] }
        let called = try #require(tx.events(named: "grpc.call").first)
        #expect(called.attributes["response_messages"] == 2)
        #expect(called.attributes["rpc.response.status_code"] == "CANCELLED")
        #expect(try tx.last(Login.self)?.outcome == .succeeded, "the reader had what it wanted")
    }

    /// Only the elapsed time distinguishes a passed deadline from a cancellation.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test(arguments: [
        ("1n", ExchangeState.failed), ("0S", .failed), ("8H", .cancelled), ("99999999H", .cancelled),
        ("123456789n", .cancelled), ("1x", .cancelled), ("-1n", .cancelled), ("n", .cancelled), ("", .cancelled),
    ])
    func whatTheMetadataSayOfADeadlineIsReadAndNeverTrusted(
        _ timeout: String, _ state: ExchangeState
    ) async throws {
        let interceptor = TransactionClientInterceptor(tx)
        await tx.perform(Login.self) { _ in
            _ = try? await interceptor.intercept(
                request: StreamingClientRequest(of: String.self, metadata: ["grpc-timeout": .string(timeout)]) { _ in },
                context: ClientContext(
                    descriptor: .orders("Wait"), remotePeer: "in-process:1", localPeer: "in-process:1")
            ) { _, _ -> StreamingClientResponse<String> in throw CancellationError() }
        }
        #expect(try tx.exchanges.map(\.state) == [state])
        let isLate = state == .failed
        #expect(
            try tx.events(named: "grpc.call").first?.attributes["rpc.response.status_code"]
                == (isLate ? "DEADLINE_EXCEEDED" : "CANCELLED"))
        let error = RecordedError(domain: "grpc", code: 4, name: "DEADLINE_EXCEEDED")
        #expect(try tx.exchanges.map(\.error) == [isLate ? error : nil])
    }
}
#endif
