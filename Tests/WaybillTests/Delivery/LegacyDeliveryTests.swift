import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

@testable import Waybill
@testable import WaybillLegacy

/// Delivery to a server of the first framework: a 2xx settles, a 503 gives the time of the next attempt, and a 401
/// requires a new token. After all other answers the set is sent again.
@Suite(.timeLimit(.minutes(5)))
struct LegacyDeliveryTests {
    private static let format = SetFormat.v0_0_1(prefix: "vnd.fp.", scheme: "fp-auth", parameter: "fp-token")

    /// Closes the connection without an answer. The server does not count its status as an acceptance.
    private static let hangingUp = {
        var answer = LoopbackServer.Response.closed
        answer.status = 500
        return answer
    }()

    private let clock = ManualClock()

    private func manager(_ server: LegacyServer, token: String? = nil) -> TransactionManager {
        TransactionManager.testing(
            clock: clock, delivery: .collector(server.server.url("/store/uri"), token: token, format: Self.format))
    }

    private func ledger(_ tx: TransactionManager) async throws -> Ledger {
        let source = try #require(tx.sources.readableSource)
        return try await source.writer.run { _, store in try #require(try store.ledgers()[source.id]) }
    }

    /// Records three facts. The version can express two of them.
    private func record(_ tx: TransactionManager) { tx.perform(Login.self) { $0.log(.requestSent) } }

    // MARK: The request

    @Test func aSetGoesToTheServersOwnAddressAsItsClientsSentIt() async throws {
        let server = try LegacyServer()
        let tx = manager(server, token: "a\"b\\c")
        record(tx)
        #expect(await tx.flush() == FlushReport(delivered: 2, rejected: 1))
        let request = try #require(server.server.requests.first)
        #expect(server.server.requests.count == 1)
        #expect(request.method == "POST" && request.path == "/store/uri")
        #expect(request.header("Authorization") == #"fp-auth fp-token="a\"b\\c""#)
        #expect(request.header("Accept") != Receipt.mediaType, "or a strict server answers 406")
        let transaction = try #require(server.taken.first?.transactions.first)
        #expect(transaction.useCase == Login.code && transaction.logs.map(\.event) == [Login.requestSent.rawValue])
        #expect(
            transaction.logs.map { LegacyDate.microseconds($0.timestamp) } == [
                clock.wallMicroseconds() / 1_000_000 * 1_000_000
            ])
        #expect(
            String(decoding: request.body, as: UTF8.self).contains(
                "\"TXN0-\(transaction.id.description.uppercased())\""))
    }

    @Test(arguments: [
        SetFormat.v0_0_1(prefix: "a\r\nX: "), .v0_0_1(prefix: "a", scheme: ""), .v0_0_1(prefix: "a", parameter: "a b"),
        .v0_0_1(prefix: "vnd/fp"), .v0_0_1(prefix: "a", mediaTypeVersion: "1 0"),
    ])
    func whatCannotStandInAHeaderFieldIsNeverSent(format: SetFormat) async throws {
        let server = try LegacyServer()
        let tx = TransactionManager.testing(delivery: .collector(server.server.url(), token: "token", format: format))
        record(tx)
        let report = await tx.flush()
        #expect(report.error?.code == .setting && report.pending == 3)
        #expect(server.server.requests.isEmpty)
    }

    /// A server chose its reader by the media type. It would answer another version with 415.
    @Test func theVersionOfTheMediaTypeIsTheOneThatIsAskedFor() async throws {
        let server = try LegacyServer(version: "1.0.0")
        let tx = TransactionManager.testing(
            delivery: .collector(server.server.url(), format: .v0_0_1(prefix: "vnd.fp.", mediaTypeVersion: "1.0.0")))
        record(tx)
        #expect(await tx.flush() == FlushReport(delivered: 2, rejected: 1))
        #expect(server.events == [[1]])
    }

    /// The kit's sets hold only openings and events, and the version can express both.
    @Test func theTransportConformsInThatVersionToo() async throws {
        let server = try LegacyServer()
        let transport = URLSessionTransport(collector: server.server.url(), format: Self.format)
        let conformance = TransportConformance(transport, breakDown: { server.server.stop() })
        #expect(await conformance.findings() == [])
        #expect(server.events.contains { $0.count == 1_999 })
    }

    // MARK: The answer

    @Test(arguments: [
        LoopbackServer.Response(status: 200), .init(status: 201), .init(status: 202), .init(status: 204),
        .text("<p>Thanks!</p>", type: "text/html"),
        .text("{", status: 299, type: "application/json"),
    ])
    func anySuccessSettlesASet(answer: LoopbackServer.Response) async throws {
        let server = try LegacyServer([answer])
        let tx = manager(server)
        record(tx)
        #expect(await tx.flush() == FlushReport(delivered: 2, rejected: 1))
        #expect(tx.health.isGood)
        #expect(try await ledger(tx) == Ledger(recorded: 3, delivered: 2, quarantined: 1))
        await tx.flush()
        #expect(server.server.requests.count == 1)
    }

    /// Breaks when a server that answers with a page keeps its facts pending for good: the page is not read.
    @Test func howLongTheAnswerIsDoesNotMatter() async throws {
        let server = try LegacyServer([.text(String(repeating: "x", count: 1 << 20), status: 200)])
        let tx = manager(server)
        record(tx)
        #expect(await tx.flush() == FlushReport(delivered: 2, rejected: 1))
        #expect(server.taken.count == 1)
    }

    @Test func aBusyServerSaysWhenToComeAgain() async throws {
        let server = try LegacyServer([.init(status: 503, headers: [("Retry-After", "90")])])
        let tx = manager(server)
        record(tx)
        #expect(await tx.flush().pending == 3)
        clock.advance(by: .seconds(89))
        #expect(await tx.flush().error?.message.contains("left alone") == true)
        clock.advance(by: .seconds(1))
        #expect(await tx.flush() == FlushReport(delivered: 2, rejected: 1))
        #expect(server.server.requests.count == 2 && server.events == [[1]])
    }

    @Test func aTokenThatIsNotTakenStopsDeliveryUntilThereIsAnother() async throws {
        let server = try LegacyServer([.init(status: 401)])
        let tx = manager(server, token: "old")
        record(tx)
        for _ in 0..<2 { #expect(await tx.flush().error?.code == .refused) }
        #expect(server.server.requests.count == 1)
        tx.delivery = .collector(server.server.url("/store/uri"), token: "new", format: Self.format)
        #expect(await tx.flush() == FlushReport(delivered: 2, rejected: 1))
        #expect(server.server.requests.last?.header("Authorization") == #"fp-auth fp-token="new""#)
    }

    @Test(arguments: [
        LoopbackServer.Response(status: 301, headers: [("Location", "/elsewhere")]), .init(status: 400),
        .init(status: 415),
        .init(status: 500), hangingUp,
    ])
    func allElseSettlesNothingAndIsSentAgain(answer: LoopbackServer.Response) async throws {
        // After a connection breaks off, delivery retries once at once.
        let server = try LegacyServer([answer, answer])
        let tx = manager(server)
        record(tx)
        let report = await tx.flush()
        #expect(report.error != nil && report.delivered == 0 && report.pending == 3)
        #expect(try await ledger(tx) == Ledger(recorded: 3, pending: 3))
        await tx.flush()
        await tx.flush()
        #expect(server.events == [[1]])
        #expect(try await ledger(tx) == Ledger(recorded: 3, delivered: 2, quarantined: 1))
    }

    @Test func aSetThatIsTooLargeIsHalved() async throws {
        let server = try LegacyServer([.init(status: 413)])
        let tx = manager(server)
        tx.perform(Login.self) { login in for _ in 0..<8 { login.log(.requestSent) } }
        #expect(await tx.flush() == FlushReport(delivered: 9, rejected: 1))
        #expect(server.taken.map(\.factCount) == [5, 5], "the second half names the transaction again")
        #expect(Set(server.taken.flatMap { $0.transactions.map(\.id) }).count == 1)
    }

    // MARK: Facts without a place in that version

    /// Breaks when endings and exchanges vanish without a trace, or block the facts behind them.
    @Test func whatCannotBeSaidIsKeptInQuarantineAndTheLedgerBalances() async throws {
        let server = try LegacyServer()
        let tx = manager(server)
        let login = tx.begin(Login.self)
        login.log(.initiated)
        #expect(await tx.flush() == FlushReport(delivered: 2))
        login.finish()
        #expect(await tx.flush() == FlushReport(rejected: 1))
        #expect(server.server.requests.count == 1, "a set that says nothing is not sent")
        let ledger = try await ledger(tx)
        #expect(ledger == Ledger(recorded: 3, delivered: 2, quarantined: 1) && ledger.isBalanced)
        let kept = try await tx.quarantined()
        #expect(kept.map(\.id.sequence) == [3])
        #expect(kept.first?.reason.contains("0.0.1") == true)
        #expect(kept.first?.fact?.content == .closed(Fact.Closed(outcome: .succeeded)))
    }

    /// The day that a collector replaces the server.
    @Test func whatCouldNotBeSaidGoesToACollectorOnRequest() async throws {
        let server = try LegacyServer()
        let tx = manager(server)
        record(tx)
        await tx.flush()
        let collector = try ScriptedCollector()
        tx.delivery = .collector(collector.server.url())
        #expect(try await tx.resendQuarantined() == 1)
        #expect(await tx.flush() == FlushReport(delivered: 1))
        #expect(collector.sequences == [3])
        #expect(try await ledger(tx) == Ledger(recorded: 3, delivered: 3))
    }

    /// Breaks when an event that is logged after a flush, as in any long use case, belongs to no transaction.
    @Test func anEventFindsItsTransactionThoughAnEarlierSetOpenedIt() async throws {
        let server = try LegacyServer()
        let tx = manager(server)
        let login = tx.begin(Login.self)
        login.log(.initiated)
        await tx.flush()
        login.log(.requestSent)
        #expect(await tx.flush() == FlushReport(delivered: 1))
        #expect(server.taken.map { $0.transactions.map(\.id) } == [[login.id], [login.id]])
        #expect(server.events == [[0], [1]])
    }

    @Test func aCollectorAndAServerOfTheFirstFrameworkAreServedAtOnce() async throws {
        let (server, collector) = (try LegacyServer(), try ScriptedCollector())
        let both = TwoPlaces(
            main: URLSessionTransport(collector: collector.server.url()),
            copy: URLSessionTransport(collector: server.server.url(), format: Self.format))
        let tx = TransactionManager.testing(delivery: .transport(both))
        record(tx)
        #expect(await tx.flush() == FlushReport(delivered: 3))
        #expect(collector.sequences == [1, 2, 3] && server.events == [[1]])
    }
}
