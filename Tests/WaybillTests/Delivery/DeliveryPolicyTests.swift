import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

@testable import Waybill

/// The table of the guide `Deliver.md`, row by row, against real sockets.
@Suite(.timeLimit(.minutes(5)))
struct DeliveryPolicyTests {
    /// The effect of an answer on delivery.
    enum Consequence: Equatable {
        /// Tries again on its own after a pause, and at once on request.
        case backsOff
        /// Sends nothing before the time, not even on request.
        case waits(Int)
        /// Sends nothing until a new delivery is set, not even on request.
        case stops
    }

    struct Row: CustomTestStringConvertible {
        let name: String
        let answer: ScriptedCollector.Answer
        var code = WaybillError.Code.transport
        let words: String
        let then: Consequence

        init(
            _ name: String, _ code: WaybillError.Code = .transport, saying words: String, then: Consequence = .backsOff,
            _ answer: @escaping ScriptedCollector.Answer
        ) {
            (self.name, self.code, self.words, self.then, self.answer) = (name, code, words, then, answer)
        }

        /// An answer with only a status and headers.
        init(
            _ status: Int, _ code: WaybillError.Code = .transport, saying words: String, then: Consequence = .backsOff,
            headers: [(name: String, value: String)] = []
        ) {
            let name = (["\(status)"] + headers.map { "\($0.name): \($0.value)" }).joined(separator: ", ")
            self.init(name, code, saying: "\(words)", then: then) { _ in .init(status: status, headers: headers) }
        }

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row("200 of somebody else", saying: "sign-in page") { _ in .text("<html>", type: "text/html") },
        Row("200 without a receipt", saying: "cannot be read") { _ in .text("{}", type: Receipt.mediaType) },
        Row("200 for another set", saying: "another set") { set in
            .verdicts(on: TransactionSet(id: GUID(), sources: set.sources))
        },
        Row("200 that counts wrong", saying: "4 facts") { set in
            .text(
                String(decoding: Receipt(set: set.id, acceptedCount: 4).encoded(), as: UTF8.self),
                type: Receipt.mediaType)
        },
        Row("200 of somebody else with Retry-After", saying: "sign-in page") { _ in
            .init(headers: [("Content-Type", "text/html"), ("Retry-After", "3600")])
        },
        Row("201 with a receipt", saying: "no receipt") { set in
            var response = LoopbackServer.Response.verdicts(on: set)
            response.status = 201
            return response
        },
        Row(202, saying: "no receipt"), Row(204, saying: "no receipt"),
        Row(204, saying: "no receipt", headers: [("Retry-After", "3600")]),
        Row(301, saying: "not followed", headers: [("Location", "http://127.0.0.1:9/v1/sets")]),
        Row(307, saying: "not followed", headers: [("Location", "/v1/sets")]), Row(304, saying: "not followed"),
        Row(
            302, saying: "not followed", headers: [("Location", "http://127.0.0.1:9/sign-in"), ("Retry-After", "3600")]),
        Row(400, .refused, saying: "refused the set"),
        Row(401, .refused, saying: "token", then: .stops),
        Row(403, .refused, saying: "create one with `--role ingest`", then: .stops),
        Row(404, .refused, saying: "address"), Row(405, .refused, saying: "refused the set"),
        Row(408, saying: "waited"),
        Row(409, .refused, saying: "refused the set"), Row(415, .refused, saying: "refused the set"),
        Row(422, .refused, saying: "refused the set"), Row(429, saying: "too often"),
        Row(429, saying: "too often", then: .waits(90), headers: [("Retry-After", "90")]),
        Row(
            429, saying: "too often", then: .waits(90),
            headers: [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sun, 06 Nov 1994 08:51:07 GMT")]),
        Row(500, saying: "trouble"), Row(502, saying: "trouble"), Row(503, saying: "trouble"),
        Row(503, saying: "trouble", then: .waits(7), headers: [("Retry-After", "7")]),
        Row(503, saying: "trouble", then: .waits(86_400), headers: [("Retry-After", "99999999999999999999")]),
        Row(
            503, saying: "trouble", then: .waits(60),
            headers: [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", "Sunday, 06-Nov-94 08:50:37 GMT")]),
        Row(503, saying: "trouble", headers: [("Retry-After", "0")]),
        Row(503, saying: "trouble", headers: [("Retry-After", "soon")]),
        Row(504, saying: "trouble"), Row(599, saying: "trouble"),
        Row("the connection is reset", saying: "could not be reached") { _ in .closed },
        Row("the receipt breaks off", saying: "could not be reached") { set in .verdicts(on: set).cutShort },
    ]

    /// Breaks when an answer settles facts that nobody has, loses facts, or makes a device retry for ever.
    @Test(arguments: rows) func whatAnAnswerMeansIsWhatTheTableSays(row: Row) async throws {
        let asked = row.name.hasPrefix("415") ? 2 : 1  // without compression, too
        let collector = try ScriptedCollector(Array(repeating: row.answer, count: asked))
        let place = Place(URLSessionTransport(collector: collector.server.url()))
        try await place.expectNothingIsSettled(by: row.code, saying: row.words)
        #expect(collector.requestCount == asked)

        await place.tx.flushIfDue()
        #expect(collector.requestCount == asked, "by itself it waits")
        switch row.then {
        case .backsOff:
            #expect(await place.tx.flush() == FlushReport(delivered: 3), "who asks need not wait")
        case .waits(let seconds):
            place.clock.advance(by: .seconds(seconds) - .milliseconds(1))
            #expect(await place.tx.flush().error?.message.contains("left alone") == true)
            #expect(collector.requestCount == asked, "nobody is too important to wait")
            place.clock.advance(by: .milliseconds(1))
            await place.tx.flushIfDue()
        case .stops:
            place.clock.advance(by: .seconds(1_000_000))
            #expect(await place.tx.flush().error?.code == .refused)
            #expect(collector.requestCount == asked)
            place.tx.delivery = .collector(collector.server.url(), token: "a-new-one")
            await place.tx.flushIfDue()
            #expect(collector.server.requests.last?.header("Authorization") == "Bearer a-new-one")
        }
        #expect(collector.sequences == [1, 2, 3])
        try await place.expectEverythingIsSettled()
    }

    // MARK: No answer

    @Test func aRefusedConnectionSettlesNothing() async throws {
        try await Place(URLSessionTransport(collector: try refusedURL())).expectNothingIsSettled(
            saying: "could not be reached")
    }

    @Test func aNameThatNobodyKnowsSettlesNothing() async throws {
        let url = try #require(URL(string: "http://collector.invalid"))
        try await Place(URLSessionTransport(collector: url)).expectNothingIsSettled(
            saying: "nobody knows a host of that name")
    }

    @Test func aConnectionThatIsNotSecureSettlesNothing() async throws {
        let listener = try RawListener(greeting: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let url = try #require(URL(string: "https://127.0.0.1:\(listener.port)"))
        try await Place(URLSessionTransport(collector: url)).expectNothingIsSettled(saying: "could not be reached")
    }

    @Test func aBodyThatNobodyAnswersSettlesNothing() async throws {
        let server = try LoopbackServer { _ in .never }
        try await Place(URLSessionTransport(collector: server.url(), timeout: .milliseconds(30)))
            .expectNothingIsSettled(saying: "in time")
    }

    @Test func aBodyThatNobodyReadsSettlesNothing() async throws {
        let listener = try RawListener()
        let url = try #require(URL(string: "http://127.0.0.1:\(listener.port)"))
        let place = Place(URLSessionTransport(collector: url, timeout: .milliseconds(200)))
        // Half a megabyte that does not become smaller.
        let noise = (0..<120).map { _ in (0..<40).map { _ in GUID().description }.joined() }
        place.tx.perform(Login.self) { login in
            for text in noise { login.log(.requestSent, attributes: ["noise": .string(text)]) }
        }
        try await place.expectNothingIsSettled(saying: "in time")
    }

    // MARK: Verdicts

    @Test func verdictsSettleAndWhatIsRejectedGoesIntoQuarantine() async throws {
        let collector = try ScriptedCollector([{ .verdicts(on: $0, rejecting: [1]) }])
        let place = Place(URLSessionTransport(collector: collector.server.url()))
        place.record()
        #expect(await place.tx.flush() == FlushReport(delivered: 2, rejected: 1))
        try await place.expectEverythingIsSettled(quarantined: 1)
    }

    @Test(arguments: ["120", "Sun, 06 Nov 1994 08:51:37 GMT"]) func aCollectorThatTakesASetCanQuietenItsClients(
        time: String
    ) async throws {
        let date = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
        let collector = try ScriptedCollector([{ .verdicts(on: $0, headers: [date, ("Retry-After", time)]) }])
        let place = Place(URLSessionTransport(collector: collector.server.url()))
        place.record()
        #expect(await place.tx.flush() == FlushReport(delivered: 3))
        #expect(place.tx.health.isGood)
        place.record()
        place.clock.advance(by: .seconds(119))
        #expect(await place.tx.flush().pending == 3)
        place.clock.advance(by: .seconds(1))
        #expect(await place.tx.flush() == FlushReport(delivered: 3))
    }

    /// Breaks when the pause uses another clock than the one that was given: a device whose clock is wrong would wait
    /// for a day, or not at all.
    @Test func aDateWithoutTheAnswersOwnGoesByTheClock() async throws {
        let collector = try ScriptedCollector([
            { _ in .init(status: 503, headers: [("Retry-After", "Thu, 01 Jan 2026 00:01:30 GMT")]) }
        ])
        let clock = ManualClock()  // 2026-01-01T00:00:00Z
        let place = Place(URLSessionTransport(collector: collector.server.url(), clock: clock), clock: clock)
        try await place.expectNothingIsSettled(saying: "trouble")
        clock.advance(by: .seconds(89))
        #expect(await place.tx.flush().delivered == 0)
        clock.advance(by: .seconds(1))
        #expect(await place.tx.flush() == FlushReport(delivered: 3))
    }

    // MARK: Too large

    @Test func aSetThatIsTooLargeIsHalvedUntilItFits() async throws {
        let collector = try ScriptedCollector(Array(repeating: { _ in .init(status: 413) }, count: 3))
        let place = Place(URLSessionTransport(collector: collector.server.url()))
        place.tx.perform(Login.self) { login in for _ in 0..<78 { login.log(.requestSent) } }
        #expect(await place.tx.flush() == FlushReport(delivered: 80))
        #expect(collector.taken.map(\.factCount) == Array(repeating: 10, count: 8))
        #expect(collector.sequences == Array(1...80))
        try await place.expectEverythingIsSettled()
    }

    // MARK: Refused

    private static func problem(_ status: Int) -> LoopbackServer.Response {
        .text(
            #"{"title": "Invalid", "detail": "no app has that name"}"#, status: status, type: "application/problem+json"
        )
    }

    /// Breaks when a set that was damaged in transit puts a valid fact into quarantine.
    @Test func aSetThatArrivesDamagedIsSentAgain() async throws {
        let collector = try ScriptedCollector([{ _ in Self.problem(400) }, { .verdicts(on: $0) }])
        let place = Place(URLSessionTransport(collector: collector.server.url()))
        let login = place.tx.begin(Login.self)
        let report = await place.tx.flush()
        #expect(report.error?.code == .refused)
        #expect(report.rejected == 0 && report.pending == 1)
        #expect(await place.tx.flush() == FlushReport(delivered: 1))
        login.finish()
    }

    /// Breaks when one fact that the collector refuses holds up delivery for good.
    @Test func aFactThatIsRefusedWithItsSetGoesIntoQuarantineAndHoldsUpNoOther() async throws {
        let answer: ScriptedCollector.Answer = { set in
            let isBad = set.sources.contains { $0.facts.contains { [1, 23, 24].contains($0.sequence) } }
            return isBad ? Self.problem(422) : .verdicts(on: set)
        }
        let collector = try ScriptedCollector(Array(repeating: answer, count: 100))
        let place = Place(URLSessionTransport(collector: collector.server.url()))
        place.tx.perform(Login.self) { login in for _ in 0..<38 { login.log(.requestSent) } }
        #expect(await place.tx.flush() == FlushReport(delivered: 37, rejected: 3))
        let refused = try await place.tx.quarantined()
        #expect(refused.map(\.id.sequence).sorted() == [1, 23, 24])
        #expect(refused.allSatisfy { $0.reason.contains("no app has that name") }, "\(refused.map(\.reason))")
        #expect(collector.requestCount < 40)
        try await place.expectEverythingIsSettled(quarantined: 3)
    }

    /// Breaks when a collector that refuses everything makes a device quarantine all its facts at once.
    @Test func whereEverythingIsRefusedMostOfItWaits() async throws {
        let collector = try ScriptedCollector(Array(repeating: { _ in Self.problem(422) }, count: 200))
        let place = Place(URLSessionTransport(collector: collector.server.url()))
        place.tx.perform(Login.self) { login in for _ in 0..<98 { login.log(.requestSent) } }
        let report = await place.tx.flush()
        #expect(report.rejected == 20 && report.pending == 80)
        #expect(report.error?.code == .refused)
        let asked = collector.requestCount
        await place.tx.flushIfDue()
        #expect(collector.requestCount == asked, "by itself it waits")
    }

    /// Breaks when a source whose description is refused holds up the others, or quarantines their facts.
    @Test func aSourceThatIsRefusedHoldsUpNoOther() async throws {
        let folder = try TemporaryDirectory()
        func launch(_ app: String, _ transport: InMemoryTransport) -> TransactionManager {
            TransactionManager(
                store: .directory(folder.url), delivery: .transport(transport)
            ) { options in
                (options.app, options.diagnostics) = (app, { _ in })
            }
        }
        // It has delivered its facts. Only its end is new.
        do {
            let earlier = launch("bad", InMemoryTransport())
            earlier.perform(Login.self) { _ in }
            #expect(await earlier.flush().delivered == 2)
            try await earlier.sync()
        }
        let transport = InMemoryTransport()
        for _ in 0..<100 {
            transport.answerNext { set in
                if set.decoded.sources.contains(where: { $0.source.app == "bad" }) {
                    throw Delivery.Failure.sendLess(WaybillError(.refused, "No such app."))
                }
                return Receipt(set: set.id, acceptedCount: set.factCount)
            }
        }
        let next = launch("good", transport)
        next.perform(Login.self) { $0.log(.requestSent) }
        #expect(await next.flush() == FlushReport(delivered: 3))
        #expect(try await next.quarantined().isEmpty)
    }

    @Test func aFactThatIsTooLargeByItselfGoesIntoQuarantineAndHoldsUpNoOther() async throws {
        let transport = InMemoryTransport()
        for _ in 0..<40 {
            transport.answerNext { set in
                let isLarge = set.decoded.sources.contains { $0.facts.contains { $0.sequence == 23 } }
                if isLarge { throw Delivery.Failure.sendLess(WaybillError(.refused, "Too large.")) }
                return Receipt(set: set.id, acceptedCount: set.factCount)
            }
        }
        let place = Place(transport)
        place.tx.perform(Login.self) { login in for _ in 0..<38 { login.log(.requestSent) } }
        #expect(await place.tx.flush() == FlushReport(delivered: 39, rejected: 1))
        #expect(try await place.tx.quarantined().map(\.id.sequence) == [23])
        #expect(try await place.tx.quarantined().map(\.reason) == ["Too large."])
        #expect(transport.transactionSets.last?.factCount == 17, "sets are of full size again")
        try await place.expectEverythingIsSettled(quarantined: 1)
    }
}

/// A manager with facts to deliver, and its clock.
private struct Place {
    let clock: ManualClock
    let tx: TransactionManager

    init(_ transport: any FlushTransport, clock: ManualClock = ManualClock()) {
        self.clock = clock
        tx = TransactionManager.testing(clock: clock, delivery: .transport(transport))
    }

    func record() { tx.perform(Login.self) { $0.log(.requestSent) } }

    func expectNothingIsSettled(
        by code: WaybillError.Code = .transport, saying words: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        record()
        let report = await tx.flush()
        #expect(report.error?.code == code, sourceLocation: sourceLocation)
        #expect(
            report.error?.message.contains(words) == true, "\(String(describing: report.error))",
            sourceLocation: sourceLocation)
        #expect(report.delivered == 0 && report.rejected == 0 && report.pending >= 3, sourceLocation: sourceLocation)
        #expect(tx.health.problems == [report.error], sourceLocation: sourceLocation)
        let ledger = try await ledger()
        #expect(ledger.pending == ledger.recorded && ledger.isBalanced, sourceLocation: sourceLocation)
    }

    func expectEverythingIsSettled(quarantined: Int = 0, sourceLocation: SourceLocation = #_sourceLocation) async throws
    {
        let ledger = try await ledger()
        #expect(
            ledger.pending == 0 && ledger.quarantined == quarantined && ledger.isBalanced,
            sourceLocation: sourceLocation)
        #expect(tx.health.isGood, sourceLocation: sourceLocation)
    }

    private func ledger() async throws -> Ledger {
        let source = try #require(tx.sources.readableSource)
        return try await source.writer.run { _, store in try #require(try store.ledgers()[source.id]) }
    }
}
