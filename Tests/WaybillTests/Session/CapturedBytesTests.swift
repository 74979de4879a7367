import Foundation
import TestSupport
import Testing
import WaybillQueries
import WaybillTesting

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A body that is read as it arrives.
@Suite(.timeLimit(.minutes(5)))
struct CapturedBytesTests {
    let clock = ManualClock()
    let tx: TransactionManager

    init() { tx = TransactionManager.testing(clock: clock) }

    @Test func aPieceIsThereBeforeTheNextIsSent() async throws {
        let rest = Gate()
        let server = try LoopbackServer { _ in .text("firstthen").secondHalf(after: rest) }
        try await tx.perform(Login.self) { _ in
            let (bytes, response) = try await tx.session.bytes(from: server.url())
            #expect(response.status == 200)
            var pieces = bytes.makeAsyncIterator()
            #expect(try await pieces.next() == Data("firs".utf8))
            clock.advance(by: .seconds(2))
            rest.open()
            #expect(try await pieces.next() == Data("tthen".utf8))
            #expect(try await pieces.next() == nil)
        }
        let exchange = try #require(tx.exchanges.first)
        #expect(exchange.state == .completed)
        #expect(exchange.receivedByteCount == 9)
        #expect(exchange.firstByteMicroseconds == exchange.openedMicroseconds)
        #expect(exchange.closedMicroseconds == exchange.openedMicroseconds + 2_000_000)
    }

    @Test func lettingGoOfTheRestCancelsTheExchange() async throws {
        let server = try LoopbackServer { _ in .text("one half, the other half").secondHalf(after: Gate()) }
        try await tx.perform(Login.self) { _ in
            for try await piece in try await tx.session.bytes(from: server.url()).0 {
                #expect(piece == Data("one half, th".utf8))
                break
            }
        }
        #expect(try tx.exchanges.map(\.state) == [.cancelled])
        #expect(try tx.exchanges.map(\.status) == [200])
        #expect(try tx.exchanges.map(\.receivedByteCount) == [12])
    }

    /// A reader on another thread may let go once the sink has a piece. By then, the bytes it read must be counted.
    @Test func whatAReaderHasIsRecordedAlready() throws {
        let url = try refusedURL()
        let ok = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
        tx.perform(Login.self) { login in
            let exchange = tx.openExchange(ExchangeRequest(url: url), in: login)
            let call = HTTPCall(
                of: OutgoingRequest(request: URLRequest(url: url)), by: TwoHalves(ok), record: exchange)
            call.start(into: LettingGo { exchange.cancel() })
        }
        #expect(try tx.exchanges.map(\.status) == [200])
        #expect(try tx.exchanges.map(\.receivedByteCount) == [4])
    }

    @Test func lettingGoWithoutReadingCancelsTheExchange() async throws {
        let server = try LoopbackServer { _ in .text("one half, the other half").secondHalf(after: Gate()) }
        try await tx.perform(Login.self) { _ in _ = try await tx.session.bytes(from: server.url()) }
        #expect(try tx.exchanges.map(\.state) == [.cancelled])
    }

    @Test func cancellingTheReaderThrows() async throws {
        let server = try LoopbackServer { _ in .text("one half, the other half").secondHalf(after: Gate()) }
        let hasRead = Gate()
        let (tx, url) = (tx, server.url())
        let reader = Task {
            try await tx.perform(Login.self) { _ in
                for try await _ in try await tx.session.bytes(from: url).0 { hasRead.open() }
            }
        }
        await hasRead.opened()
        reader.cancel()
        let error = await #expect(throws: URLError.self) { try await reader.value }
        #expect(error?.code == .cancelled)
        #expect(try tx.exchanges.map(\.state) == [.cancelled])
        #expect(try tx.last(Login.self)?.outcome == .cancelled)
    }

    @Test func whatCameBeforeABreakIsReadAndThenItThrows() async throws {
        let server = try LoopbackServer { _ in .text("0123456789").cutShort }
        let (bytes, _) = try await tx.session.bytes(from: server.url())
        var read = Data()
        await #expect(throws: URLError.self) { for try await piece in bytes { read += piece } }
        #expect(read == Data("01234".utf8))
    }

    @Test func aRefusedConnectionThrowsBeforeThereIsABody() async throws {
        let url = try refusedURL()
        let error = await #expect(throws: URLError.self) { try await tx.session.bytes(from: url) }
        #expect(error?.code == .cannotConnectToHost)
    }
}

private final class TwoHalves: HTTPTransport {
    private let response: HTTPURLResponse

    init(_ response: HTTPURLResponse) { self.response = response }

    func start(telling events: any HTTPEvents) {
        events.tell(.responded(response))
        events.tell(.received(Data("half".utf8)))
        events.tell(.received(Data("half".utf8)))
        events.tell(.ended(nil))
    }

    func cancel() {}
}

private final class LettingGo: BodySink {
    private let letGo: () -> Void

    init(_ letGo: @escaping () -> Void) { self.letGo = letGo }

    func responded(_ response: URLResponse) {}
    func received(_ bytes: Data) { letGo() }
    func ended(_ answer: Result<URLResponse, URLError>) {}
}
