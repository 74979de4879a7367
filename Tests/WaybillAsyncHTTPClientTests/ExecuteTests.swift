#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing
import Waybill
import WaybillAsyncHTTPClient
import WaybillCore
import WaybillQueries
import WaybillTesting

/// Requests over real sockets: the caller gets the client's result, and the record says what happened.
@Suite(.timeLimit(.minutes(5))) struct ExecuteTests {
    let tx = TransactionManager.capturing(traceContext: .propagate)

    @Test func anExchangeSaysWhatWentBothWays() async throws {
        let server = try LoopbackServer { _ in .text("hello", status: 203, type: "text/teapot") }
        try await withClient { client in
            try await tx.perform(Login.self) { _ in
                var request = HTTPClientRequest(server.url("/items?page=2"), .POST)
                request.body = .bytes(ByteBuffer(string: "0123456"))
                let response = try await client.execute(request, timeout: .seconds(60), in: tx)
                #expect(try await response.body.collect(upTo: 100) == ByteBuffer(string: "hello"))
                #expect(response.status.code == 203)
                #expect(response.url == server.url("/items?page=2"))
            }
        }
        let exchange = try #require(try tx.exchange)
        #expect((exchange.method, exchange.status, exchange.state) == ("POST", 203, .completed))
        #expect(exchange.url == server.url("/items?page=2").absoluteString)
        #expect((exchange.sentByteCount, exchange.receivedByteCount) == (7, 5))
        #expect(exchange.transfer.httpVersion == "1.1")
        #expect(exchange.responseHeaderFields.contains { $0.name == "Content-Type" && $0.value == "text/teapot" })
        let request = try #require(server.requests.first)
        #expect(request.told?.exchange == exchange.id.sequence && request.told?.source == exchange.id.source)
        #expect(request.header("traceparent")?.hasPrefix("00-") == true)
        #expect((request.header("Content-Length"), request.body) == ("7", Data("0123456".utf8)))
    }

    /// Breaks when concurrent requests get each other's exchange.
    @Test func eachOfManyRequestsHasItsOwnExchange() async throws {
        let server = try LoopbackServer { .text($0.path) }
        try await withClient { client in
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        await tx.perform(Login.self) { login in
                            let request = HTTPClientRequest(server.url("/\(login.id)/\(number)"))
                            let response = try? await client.execute(request, timeout: .seconds(60), in: tx)
                            _ = try? await response?.body.collect(upTo: 1000)
                        }
                    }
                }
            }
        }
        let exchanges = try Dictionary(uniqueKeysWithValues: tx.exchanges.map { ($0.id, $0) })
        #expect(exchanges.count == 30)
        for request in server.requests {
            let told = try #require(request.told)
            let source = try #require(told.source)
            let exchange = exchanges[FactID(source: source, sequence: try #require(told.exchange))]
            #expect(exchange?.url.hasSuffix(request.path) == true)
            #expect(request.path.contains(told.transaction.description))
            #expect(exchange?.state == .completed && exchange?.receivedByteCount == Int64(request.path.utf8.count))
        }
    }

    @Test func aHostThatIsNotOnTheListGetsNothingAndIsRecordedAllTheSame() async throws {
        let server = try LoopbackServer { _ in .text("") }
        try await withClient { client in
            try await tx.perform(Login.self) { _ in
                let request = HTTPClientRequest(server.url(host: "localhost"))
                _ = try await client.execute(request, timeout: .seconds(60), in: tx)
            }
            _ = try await client.execute(HTTPClientRequest(server.url()), timeout: .seconds(60), in: tx)
        }
        #expect(try tx.exchange?.status == 200)
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.told == nil && $0.header("traceparent") == nil })
    }

    @Test func secretsAreNotRecorded() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(headers: [("Set-Cookie", "id=hidden1")], body: Data())
        }
        try await withClient { client in
            try await tx.perform(Login.self) { _ in
                var request = HTTPClientRequest(server.url("/items?token=hidden2"))
                request.headers.add(name: "Authorization", value: "Bearer hidden3")
                _ = try await client.execute(request, timeout: .seconds(60), in: tx)
            }
        }
        #expect(server.requests.first?.header("Authorization") == "Bearer hidden3", "it is sent")
        let exchange = try #require(try tx.exchange)
        #expect(!"\(exchange)".contains("hidden"))
        #expect(exchange.requestHeaderFields.contains { $0.name == "Authorization" })
    }

    // MARK: Bodies

    @Test(arguments: [true, false]) func aStreamedBodyIsCountedAsItGoes(isLengthKnown: Bool) async throws {
        let server = try LoopbackServer { request in
            LoopbackServer.Response(body: Data(count: request.body.count)).chunked
        }
        let pieces = Pieces(piece: ByteBuffer(repeating: 7, count: 10_000), count: 20)
        try await withClient { client in
            try await tx.perform(Login.self) { _ in
                var request = HTTPClientRequest(server.url(), .PUT)
                request.body = .stream(pieces, length: isLengthKnown ? .known(Int64(200_000)) : .unknown)
                let response = try await client.execute(request, timeout: .seconds(60), in: tx)
                var count = 0
                for try await bytes in response.body { count += bytes.readableBytes }
                #expect(count == 200_000)
            }
        }
        #expect(try tx.exchange?.sentByteCount == 200_000)
        #expect(try tx.exchange?.receivedByteCount == 200_000)
        let field = isLengthKnown ? "Content-Length" : "Transfer-Encoding"
        #expect(server.requests.first?.header(field) == (isLengthKnown ? "200000" : "chunked"))
    }

    @Test func aBodyOfEveryKindIsSentAsItIsAndCounted() async throws {
        let server = try LoopbackServer { _ in .text("") }
        let bytes = [UInt8](repeating: 7, count: 100)
        let bodies: [HTTPClientRequest.Body] = [
            .bytes(ByteBuffer(bytes: bytes)), .bytes(bytes), .bytes(bytes, length: .known(Int64(100))),
            .bytes(bytes.lazy.map { $0 }, length: .known(Int64(100))),
            .stream(Pieces(piece: ByteBuffer(bytes: bytes), count: 1), length: .known(Int64(100))),
            .bytes(ByteBuffer()),
        ]
        try await withClient { client in
            for body in bodies {
                try await tx.perform(Login.self) { _ in
                    var request = HTTPClientRequest(server.url(), .POST)
                    request.body = body
                    _ = try await client.execute(request, timeout: .seconds(60), in: tx)
                }
            }
        }
        #expect(server.requests.map { $0.header("Content-Length") } == Array(repeating: "100", count: 5) + ["0"])
        #expect(try tx.exchanges.map(\.sentByteCount) == Array(repeating: 100, count: 5) + [0])
    }

    @Test(arguments: [(HTTPMethod.HEAD, 200), (.GET, 204), (.GET, 304), (.GET, 200)])
    func whereNoBodyComesTheExchangeIsOver(method: HTTPMethod, status: Int) async throws {
        let server = try LoopbackServer { _ in LoopbackServer.Response(status: status) }
        try await withClient { client in
            try await tx.perform(Login.self) { _ in
                _ = try await client.execute(HTTPClientRequest(server.url(), method), timeout: .seconds(60), in: tx)
            }
        }
        #expect(try tx.exchange?.state == .completed)
        #expect(try tx.exchange?.receivedByteCount == 0)
    }

    enum Neglect: CaseIterable { case unread, leftInTheMiddle }

    /// Breaks when an exchange stays in progress forever because nobody reads the rest of its body.
    @Test(arguments: Neglect.allCases) func aBodyThatNobodyReadsOnCancelsTheExchange(_ neglect: Neglect) async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(body: Data(count: 1_000)).secondHalf(after: Gate())
        }
        try await withClient { client in
            try await tx.perform(Login.self) { _ in
                let response = try await client.execute(
                    HTTPClientRequest(server.url()), timeout: .seconds(60), in: tx)
                #expect(try tx.exchange?.state == nil, "it is under way")
                if neglect == .leftInTheMiddle { for try await _ in response.body { break } }
            }
        }
        #expect(try tx.exchange?.state == .cancelled)
        #expect(try tx.exchange?.status == 200)
        #expect(try (tx.exchange?.receivedByteCount ?? 0 > 0) == (neglect == .leftInTheMiddle))
    }

    // MARK: Ends

    @Test func aDeadlineIsAFailureWithItsName() async throws {
        let server = try LoopbackServer { _ in .never }
        try await withClient { client in
            await #expect(throws: HTTPClientError.deadlineExceeded) {
                try await tx.perform(Login.self) { _ in
                    _ = try await client.execute(
                        HTTPClientRequest(server.url()), timeout: .milliseconds(50), in: tx)
                }
            }
        }
        let exchange = try #require(try tx.exchange)
        #expect(exchange.state == .failed && exchange.status == nil)
        #expect(exchange.error?.name == "deadlineExceeded")
        #expect(exchange.error?.domain == "AsyncHTTPClient.HTTPClientError")
    }

    @Test func aBrokenAnswerIsAFailureWithWhatHadCome() async throws {
        let server = try LoopbackServer { _ in .text("0123456789").cutShort }
        try await withClient { client in
            await #expect(throws: (any Error).self) {
                try await tx.perform(Login.self) { _ in
                    let response = try await client.execute(
                        HTTPClientRequest(server.url()), timeout: .seconds(60), in: tx)
                    for try await _ in response.body {}
                }
            }
        }
        let exchange = try #require(try tx.exchange)
        #expect((exchange.state, exchange.status, exchange.receivedByteCount) == (.failed, 200, 5))
        #expect(exchange.error != nil)
    }

    @Test func aRefusedConnectionIsAFailure() async throws {
        try await withClient { client in
            try await tx.perform(Login.self) { _ in
                let request = HTTPClientRequest(try refusedURL())
                await #expect(throws: (any Error).self) {
                    _ = try await client.execute(request, timeout: .milliseconds(500), in: tx)
                }
            }
        }
        #expect(try tx.exchange?.state == .failed)
        #expect(try tx.exchange?.error != nil)
    }

    @Test func aBodyThatFailsIsTheExchangesError() async throws {
        struct Unreadable: Error {}
        let server = try LoopbackServer { _ in .text("") }
        try await withClient { client in
            await tx.perform(Login.self) { _ in
                var request = HTTPClientRequest(server.url(), .POST)
                request.body = .stream(
                    Pieces(piece: ByteBuffer(string: "half"), count: 1, error: Unreadable()),
                    length: .known(Int64(8)))
                await #expect(throws: Unreadable.self) {
                    _ = try await client.execute(request, timeout: .seconds(60), in: tx)
                }
            }
        }
        #expect(try tx.exchange?.state == .failed)
        #expect(try tx.exchange?.sentByteCount == 4)
        #expect(try tx.exchange?.error?.domain.hasSuffix("Unreadable") == true)
    }

    @Test(arguments: [true, false]) func cancellingTheTaskCancelsTheExchange(isInTheBody: Bool) async throws {
        let (arrived, headIsThere) = (Gate(), Gate())
        let server = try LoopbackServer { _ in
            arrived.open()
            return isInTheBody ? .text("one half, the other half").secondHalf(after: Gate()) : .never
        }
        try await withClient { client in
            let task = Task {
                try await tx.perform(Login.self) { _ in
                    let response = try await client.execute(
                        HTTPClientRequest(server.url()), timeout: .seconds(60), in: tx)
                    headIsThere.open()
                    for try await _ in response.body {}
                }
            }
            await (isInTheBody ? headIsThere : arrived).opened()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(try tx.exchange?.state == .cancelled)
        #expect(try tx.exchange?.status == (isInTheBody ? 200 : nil))
    }

    @Test func whatIsNoURLIsTheClientsToRefuse() async throws {
        try await withClient { client in
            await #expect(throws: HTTPClientError.invalidURL) {
                _ = try await client.execute(HTTPClientRequest(url: ""), timeout: .seconds(60), in: tx)
            }
        }
    }

    @Test func aManagerThatRecordsNothingChangesNothing() async throws {
        let server = try LoopbackServer { .text("\($0.body.count)") }
        try await withClient { client in
            tx.recording = .off
            var request = HTTPClientRequest(server.url(), .POST)
            request.body = .bytes(ByteBuffer(string: "0123456"))
            let response = try await client.execute(request, timeout: .seconds(60), in: tx)
            #expect(try await response.body.collect(upTo: 10) == ByteBuffer(string: "7"))
        }
        #expect(server.requests.first?.told == nil)
        #expect(try tx.exchanges.isEmpty)
    }
}
#endif
