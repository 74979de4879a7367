import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The network log has everything that the public recorder received, in whatever order, without any secrets.
@Suite(.timeLimit(.minutes(5))) struct ExchangeRecorderTests {
    let clock = ManualClock()
    let tx: TransactionManager
    let url: URL

    init() throws {
        url = try #require(URL(string: "https://ada:s3cret@api.example.com/items?page=2&token=s3cret"))
        tx = .testing(clock: clock, correlatedHosts: ["api.example.com"])
    }

    /// Breaks when the response to a handler has no length and no first byte because its stack reports them at the end,
    /// or when such a report replaces values that were recorded on arrival.
    @Test(arguments: [true, false]) func whatAStackReportsAtTheEndFillsInWhatWasNotRecorded(isRecorded: Bool) throws {
        let exchange = tx.openExchange(ExchangeRequest(url: url), in: tx.begin(Login.self))
        clock.advance(by: .milliseconds(5))
        if isRecorded {
            exchange.responded(ExchangeResponse(status: 200))
            exchange.received(Data("four".utf8))
        }
        clock.advance(by: .milliseconds(5))
        exchange.measured(receivedByteCount: 41, firstByteAgeMicroseconds: 2_000)
        exchange.responded(ExchangeResponse(status: 200), isTimed: false)
        exchange.received(byteCount: 0)
        exchange.finish()
        let record = try #require(tx.exchanges.first)
        #expect(record.receivedByteCount == (isRecorded ? 4 : 41))
        let firstByte = try #require(record.firstByteMicroseconds)
        let closed = try #require(record.closedMicroseconds)
        #expect(closed - firstByte >= 2_000)
        #expect(firstByte > record.openedMicroseconds)
    }

    @Test func anAgeBeyondTheStartIsTheStart() throws {
        let exchange = tx.openExchange(ExchangeRequest(url: url), in: tx.begin(Login.self))
        exchange.measured(receivedByteCount: -1, firstByteAgeMicroseconds: .max)
        exchange.finish()
        #expect(try tx.exchanges.first?.receivedByteCount == 0)
        #expect(try tx.exchanges.first?.firstByteMicroseconds != nil)
    }

    @Test func theWholeStoryIsRecorded() throws {
        let login = tx.begin(Login.self)
        let exchange = tx.openExchange(
            ExchangeRequest(
                method: "PUT", url: url,
                headerFields: [
                    .init(name: "Accept", value: "*/*"), .init(name: "Cookie", value: "s3cret"),
                    .init(name: "B", value: "1"),
                ]),
            in: login)
        clock.advance(by: .milliseconds(1))
        exchange.sent(Data("four".utf8))
        clock.advance(by: .milliseconds(1))
        exchange.sent([1, 2, 3])
        clock.advance(by: .milliseconds(1))
        exchange.redirected(
            ExchangeResponse(status: 307), to: URL(string: "https://www.example.com/items?token=s3cret")!)
        clock.advance(by: .milliseconds(1))
        exchange.responded(
            ExchangeResponse(
                status: 200,
                headerFields: [
                    .init(name: "Set-Cookie", value: "s3cret"), .init(name: "content-encoding", value: "gzip"),
                    .init(name: "content-length", value: "41"),
                ], httpVersion: "2"))
        clock.advance(by: .milliseconds(1))
        exchange.received(Data(count: 1000))
        exchange.received([0, 0])
        exchange.finish()

        let record = try #require(tx.exchanges.first)
        let start = record.openedMicroseconds
        #expect(record.url == "https://api.example.com/items?page=2&token=[redacted]")
        #expect(
            record.requestHeaderFields.map(\.name) == ["Accept", "Cookie", "B"], "in the order in which they were told")
        #expect(record.requestHeaderFields.map(\.value) == ["*/*", "[redacted]", "1"])
        #expect(record.responseHeaderFields.first?.value == "[redacted]")
        #expect((record.method, record.status, record.state) == ("PUT", 200, .completed))
        #expect((record.sentByteCount, record.receivedByteCount) == (7, 1002))
        #expect(record.firstByteMicroseconds == start + 4000)
        #expect(record.closedMicroseconds == start + 5000)
        #expect(
            record.transfer
                == Fact.Transfer(
                    httpVersion: "2", receivedWireByteCount: 41, sentAtMicroseconds: start + 2000,
                    redirects: [
                        Fact.Redirect(
                            status: 307, url: "https://www.example.com/items?token=[redacted]",
                            atMicroseconds: start + 3000)
                    ]))
    }

    /// Breaks when a collector refuses the closing, or the app ends: stacks report -1 for unknown counts, and some
    /// count wrongly.
    @Test func aNumberOfBytesThatCannotBeIsNotTaken() throws {
        let exchange = tx.openExchange(ExchangeRequest(url: url), in: tx.begin(Login.self))
        exchange.expectToSend(byteCount: -1 as Int)
        exchange.received(byteCount: -1)
        exchange.received(byteCount: UInt64.max)
        exchange.received(byteCount: 1)
        exchange.responded(
            ExchangeResponse(
                status: 200,
                headerFields: [
                    .init(name: "content-encoding", value: "gzip"),
                    .init(name: "content-length", value: "9223372036854775807"),
                ]))
        exchange.finish()
        let record = try #require(tx.exchanges.first)
        #expect((record.sentByteCount, record.receivedByteCount) == (nil, Limits.largestInteger))
        #expect(record.transfer.receivedWireByteCount == nil)
        let other = tx.openExchange(ExchangeRequest(url: url), in: tx.begin(Login.self))
        other.sent(byteCount: UInt64.max)
        other.sent(byteCount: -5)
        other.finish()
        #expect(try tx.exchanges.contains { $0.sentByteCount == Limits.largestInteger })
    }

    @Test func onlyTheFirstEndCounts() throws {
        let exchange = tx.openExchange(ExchangeRequest(url: url), in: tx.begin(Login.self))
        exchange.cancel()
        exchange.finish()
        exchange.fail(URLError(.timedOut))
        exchange.received(Data(count: 5))
        let record = try tx.exchanges.first
        #expect(record?.state == .cancelled)
        #expect(record?.receivedByteCount == nil, "what comes after the end is not the exchange's")
        #expect(try tx.transactions(Login.self).first?.timeline.count { $0.kind == .exchangeFinished } == 1)
    }

    @Test(arguments: [URLError(.cancelled), CancellationError()] as [any Error]) func anErrorOfCancellationIsNoFailure(
        error: any Error
    ) throws {
        let exchange = tx.openExchange(ExchangeRequest(url: url), in: tx.begin(Login.self))
        exchange.fail(error)
        #expect(try tx.exchanges.first?.state == .cancelled)
    }

    /// Breaks when an abandoned exchange looks as if it were under way, and keeps room for its end for ever.
    @Test func whatIsReleasedWithoutAnEndIsAbandoned() throws {
        let login = tx.begin(Login.self)
        var exchange: ExchangeRecorder? = tx.openExchange(ExchangeRequest(url: url), in: login)
        exchange?.responded(ExchangeResponse(status: 200))
        #expect(try tx.exchanges.map(\.state) == [nil])
        exchange = nil
        #expect(try tx.exchanges.map(\.state) == [.cancelled])
        #expect(try tx.exchanges.first?.error?.name == "abandoned")
        #expect(try tx.exchanges.first?.status == 200)
        #expect(exchange == nil)
    }

    @Test func theHeaderFieldNamesTheExchange() throws {
        let login = tx.begin(Login.self)
        let exchange = tx.openExchange(ExchangeRequest(url: url), in: login)
        let field = try #require(exchange.headers["Waybill-Transaction"].flatMap { TransactionHeader(parsing: $0) })
        #expect(field.transaction == login.id)
        #expect(
            FactID(source: try #require(field.source), sequence: try #require(field.exchange))
                == (try tx.exchanges.first?.id))
    }

    @Test func theCallersOwnFieldStaysAndAForeignHostGetsNone() throws {
        let login = tx.begin(Login.self)
        let own = [HeaderField(name: "waybill-transaction", value: "mine")]
        #expect(tx.openExchange(ExchangeRequest(url: url, headerFields: own), in: login).headers.isEmpty)
        let foreign = try #require(URL(string: "https://www.example.com/"))
        #expect(tx.openExchange(ExchangeRequest(url: foreign), in: login).headers.isEmpty)
        #expect(tx.openExchange(ExchangeRequest(url: url)).headers.isEmpty, "outside any transaction")
    }

    /// Breaks when a client that reports its requests, inside code that opens exchanges, records each request twice,
    /// with two header fields.
    @Test func whatIsSentForAnExchangeIsNotRecordedAgain() async throws {
        let login = tx.begin(Login.self)
        let exchange = tx.openExchange(ExchangeRequest(url: url), in: login)
        await exchange.sending {
            let again = tx.openExchange(ExchangeRequest(url: url), in: login)
            #expect(again.headers.isEmpty && !again.isRecorded)
            again.finish()
        }
        exchange.finish()
        #expect(try tx.exchanges.count == 1)
        #expect(tx.openExchange(ExchangeRequest(url: url), in: login).isRecorded, "the next one is another one")
    }

    @Test func aRequestInsideATransactionIsOneOfTheCurrentOne() async throws {
        await tx.perform(Login.self) { _ in
            let exchange = tx.openExchange(ExchangeRequest(url: url))
            await Task { exchange.finish() }.value
        }
        #expect(try tx.transactions(Login.self).first?.exchanges.count == 1)
    }

    @Test func nothingIsRecordedWhileRecordingIsOff() throws {
        let login = tx.begin(Login.self)
        tx.recording = .off
        let exchange = tx.openExchange(ExchangeRequest(url: url), in: login)
        #expect(exchange.headers.isEmpty)
        exchange.finish()
        tx.recording = .on
        #expect(try tx.exchanges.isEmpty)
    }

    /// Numbers and texts that a collector would refuse are made to fit. Otherwise a whole fact would end in quarantine.
    @Test func whatCannotBeRightIsMadeToFit() async throws {
        let transport = InMemoryTransport()
        let tx = TransactionManager.testing(delivery: .transport(transport))
        let exchange = tx.openExchange(ExchangeRequest(method: "", url: url))
        for _ in 0..<30 {
            exchange.redirected(
                ExchangeResponse(status: 302), to: URL(string: "https://a/" + String(repeating: "x", count: 9000))!)
        }
        exchange.responded(ExchangeResponse(status: 70_000, httpVersion: String(repeating: "9", count: 500)))
        exchange.finish()
        await tx.flush()
        let set = try #require(transport.transactionSets.first)
        let decoded = try TransactionSet.decode(set.encoded())
        #expect(decoded.rejections.isEmpty)
        let closings = decoded.sources.flatMap(\.facts).compactMap { fact -> Fact.ExchangeClosed? in
            guard case .exchangeClosed(let closed) = fact.content else { return nil }
            return closed
        }
        #expect(closings.map(\.status) == [nil])
        #expect(closings.map(\.transfer.redirects.count) == [Limits.redirects])
    }
}
