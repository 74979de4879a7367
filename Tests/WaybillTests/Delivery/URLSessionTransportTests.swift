import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The answers that settle a set, and those that don't.
@Suite(.timeLimit(.minutes(5)))
struct URLSessionTransportTests {
    private let set = OutgoingSet(id: GUID(), body: Array("{\"facts\":[1,2,3]}".utf8), factCount: 3)

    // MARK: The request

    @Test func aSetIsPostedAsItIs() async throws {
        let server = try collector()
        _ = try await transport(to: server, token: "abc.DEF-123~+/=").send(set)
        let request = try #require(server.requests.first)
        #expect(server.requests.count == 1)
        #expect(request.method == "POST")
        #expect(request.path == "/v1/sets")
        #expect(request.body == Data(set.body))
        #expect(request.header("Content-Type") == "application/vnd.waybill.transaction-set.v1+json")
        #expect(request.header("Accept") == "application/vnd.waybill.receipt.v1+json")
        #expect(request.header("Authorization") == "Bearer abc.DEF-123~+/=")
        #expect(request.header("Waybill-Transaction") == nil)
    }

    @Test(arguments: [("/", "/v1/sets"), ("/waybill", "/waybill/v1/sets"), ("/waybill/", "/waybill/v1/sets")])
    func setsGoToTheirPlaceBelowTheCollectorsAddress(base: String, expected: String) async throws {
        let server = try collector()
        _ = try await URLSessionTransport(collector: server.url(base)).send(set)
        #expect(server.requests.map(\.path) == [expected])
        #expect(server.requests.first?.header("Authorization") == nil)
    }

    @Test(arguments: ["secret\n", "two words", "", "schlüssel", "a\r\nX-Other: b"])
    func aTokenThatCannotStandInAFieldIsNeverSent(token: String) async throws {
        let server = try collector()
        let transport = transport(to: server, token: token)
        let error = await #expect(throws: Delivery.Failure.self) { try await transport.send(set) }?.error
        #expect(error?.code == .setting)
        #expect(token.isEmpty || error?.description.contains(token) == false)
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: ["ftp://example.com", "example.com", "file:///tmp", "http:///v1"])
    func anAddressThatIsNoHTTPURLIsAnErrorOfTheSetting(address: String) async throws {
        let transport = URLSessionTransport(collector: try #require(URL(string: address)))
        let error = await #expect(throws: Delivery.Failure.self) { try await transport.send(set) }?.error
        #expect(error?.code == .setting)
    }

    // MARK: Receipts

    @Test func theReceiptOfTheSetSettlesIt() async throws {
        let rejection = Receipt.Rejection(source: GUID(), sequence: 5, index: 2, reason: "Unknown part.")
        let receipt = Receipt(set: set.id, acceptedCount: 1, knownCount: 1, rejections: [rejection])
        let server = try collector(receipt)
        #expect(try await transport(to: server).send(set) == receipt)
    }

    @Test func theMediaTypeMayHaveParametersAndAnyCase() async throws {
        let server = try collector(type: "Application/VND.waybill.receipt.v1+JSON; charset=utf-8")
        #expect(try await transport(to: server).send(set).acceptedCount == 3)
    }

    @Test func aReceiptForAnotherSetSettlesNothing() async throws {
        try await expectFailure(
            .transport, saying: "another set", from: collector(Receipt(set: GUID(), acceptedCount: 3)))
    }

    @Test(arguments: [(2, 0), (4, 0), (0, 2), (3, 1), (0, 0)])
    func countsThatDoNotAddUpSettleNothing(accepted: Int, known: Int) async throws {
        let receipt = Receipt(set: set.id, acceptedCount: accepted, knownCount: known)
        try await expectFailure(.transport, saying: "\(accepted + known) facts", from: collector(receipt))
    }

    @Test func aSignInPageSettlesNothing() async throws {
        try await expectFailure(
            .transport, saying: "sign-in page",
            from: LoopbackServer { _ in .text("<html>Welcome to the hotel!</html>", type: "text/html") }
        )
    }

    @Test func aReceiptOfAnotherTypeSettlesNothing() async throws {
        try await expectFailure(.transport, saying: "sign-in page", from: collector(type: "application/json"))
    }

    @Test(arguments: ["", "{}", "[]", "null", "<html>", "{\"set\":\"\", \"accepted\":3, \"known\":0, \"rejected\":[]}"])
    func whatIsNoReceiptSettlesNothing(body: String) async throws {
        try await expectFailure(
            .transport, saying: "cannot be read", from: LoopbackServer { _ in .text(body, type: Receipt.mediaType) })
    }

    /// Breaks when a collector, or a server in its place, can fill the memory of its clients or keep them reading.
    @Test(arguments: [(200, "longer than any receipt"), (202, "202"), (422, "422"), (503, "503")])
    func anAnswerWithoutAnEndIsReadUpToALimit(status: Int, saying text: String) async throws {
        let piece = Data(repeating: UInt8(ascii: " "), count: 1 << 20)
        let server = try LoopbackServer { _ in
            // A terabyte.
            .init(status: status, headers: [("Content-Type", Receipt.mediaType)], body: piece).repeated(1 << 20)
        }
        let transport = URLSessionTransport(collector: server.url(), timeout: .seconds(600))
        let failure = await #expect(throws: Delivery.Failure.self) { try await transport.send(set) }
        #expect(failure?.error.message.contains(text) == true, "\(failure?.error.message ?? "")")
        #expect(status != 200 || failure?.remedy == .retry())
    }

    /// Breaks when the limit cuts off a receipt that has a verdict on each fact.
    @Test func aReceiptIsReadUpToItsLimitAndNoFurther() async throws {
        let limit = (64 << 10) + 2_500 * set.factCount
        let receipt = Receipt(set: set.id, acceptedCount: set.factCount).encoded()
        let padding = { (count: Int) in
            String(decoding: receipt, as: UTF8.self) + String(repeating: " ", count: count - receipt.count)
        }
        let (whole, long) = (padding(limit), padding(limit + 1))
        let good = try LoopbackServer { _ in .text(whole, type: Receipt.mediaType).chunked }
        #expect(try await transport(to: good).send(set).acceptedCount == 3)
        try await expectFailure(
            .transport, saying: "longer than any receipt",
            from: LoopbackServer { _ in .text(long, type: Receipt.mediaType).chunked })
    }

    /// Breaks when such an answer settles a fact, ends delivery for good, or is not reported.
    @Test func factsOfAnAnswerThatIsTooLongStayPendingAndHealthSaysSo() async throws {
        let collector = try ScriptedCollector([
            { _ in .text(String(repeating: " ", count: 1 << 20), type: Receipt.mediaType) }
        ])
        let transactions = TransactionManager.testing(delivery: .collector(collector.server.url()))
        transactions.perform(Login.self) { login in login.log(.requestSent) }
        let report = await transactions.flush()
        #expect(report.delivered == 0 && report.pending == 3)
        let problems = transactions.health.problems
        #expect(problems.count == 1 && problems[0].message.contains("longer than any receipt"), "\(problems)")
        #expect(await transactions.flush().delivered == 3)
        #expect(transactions.health.problems.isEmpty)
    }

    @Test(arguments: [201, 202, 204, 206]) func noOtherSuccessThan200SettlesAnything(status: Int) async throws {
        let receipt = Receipt(set: set.id, acceptedCount: 3)
        try await expectFailure(.transport, saying: "\(status)", from: collector(receipt, status: status))
    }

    // MARK: Refusals

    @Test(arguments: [301, 302, 303, 307, 308]) func redirectsAreNotFollowed(status: Int) async throws {
        let elsewhere = try collector()
        let url = elsewhere.url("/v1/sets")
        try await expectFailure(
            .transport, saying: "not followed", from: LoopbackServer { _ in .redirect(to: url, status: status) })
        #expect(elsewhere.requests.isEmpty)
    }

    @Test(arguments: [400, 404, 413, 415, 422]) func aRefusalCarriesTheProblemsOwnWords(status: Int) async throws {
        let problem = """
            {"type":"about:blank","title":"Content Too Large","status":\(status),"detail":"At most 1 MB.","secret":"hidden"}
            """
        let error = try await expectFailure(
            .refused, saying: "(\(status))",
            from: LoopbackServer { _ in .text(problem, status: status, type: "application/problem+json") })
        #expect(error?.cause == "Content Too Large: At most 1 MB.")
        #expect(error?.description.contains("hidden") == false)
    }

    @Test(arguments: ["Bearer", "Basic realm=\"proxy\""]) func aRefusedTokenIsARefusal(challenge: String) async throws {
        let error = try await expectFailure(
            .refused, saying: "there is a new one (401)", token: "s3cr3t",
            from: LoopbackServer { _ in
                .init(status: 401, headers: [("WWW-Authenticate", challenge), ("X-Any", "private")])
            })
        #expect(error?.description.contains("s3cr3t") == false)
        #expect(error?.description.contains("private") == false)
    }

    @Test(arguments: [400, 500, 503]) func aBodyThatIsNoProblemDocumentIsNotRepeated(status: Int) async throws {
        let error = try await expectFailure(
            status == 400 ? .refused : .transport, saying: "\(status)",
            from: LoopbackServer { request in .text("you sent \(request.body.count): private", status: status) })
        #expect(error?.cause == nil)
        #expect(error?.description.contains("private") == false)
    }

    @Test func aProblemThatRepeatsTheTokenIsRedacted() async throws {
        let error = try await expectFailure(
            .refused, saying: "there is a new one (403)", token: "s3cr3t-0123456789",
            from: LoopbackServer { request in
                .text(
                    "{\"title\":\"Not with \(request.header("Authorization") ?? "nothing")\"}", status: 403,
                    type: "application/problem+json")
            })
        #expect(error?.cause == "Not with Bearer [redacted]")
    }

    @Test func aLongProblemIsShortened() async throws {
        let problem = "{\"title\":\"\(String(repeating: "x", count: 5000))\"}"
        let error = try await expectFailure(
            .refused, saying: "422",
            from: LoopbackServer { _ in .text(problem, status: 422, type: "application/problem+json; charset=utf-8") })
        #expect(error?.cause?.count == 300)
    }

    // MARK: No answer

    @Test func aRefusedConnectionIsAnErrorOfTransport() async throws {
        let transport = URLSessionTransport(collector: try refusedURL())
        let error = await #expect(throws: Delivery.Failure.self) { try await transport.send(set) }?.error
        #expect(error?.code == .transport)
        #expect(error?.message.contains("could not be reached") == true)
    }

    @Test func hangingUpIsAnErrorOfTransport() async throws {
        try await expectFailure(.transport, saying: "could not be reached", from: LoopbackServer { _ in .closed })
    }

    @Test func aReceiptThatBreaksOffSettlesNothing() async throws {
        let receipt = Receipt(set: set.id, acceptedCount: 3)
        try await expectFailure(
            .transport, saying: "could not be reached",
            from: LoopbackServer { _ in
                .text(String(decoding: receipt.encoded(), as: UTF8.self), type: Receipt.mediaType).cutShort
            })
    }

    @Test func nobodyIsWaitedForLongerThanTheTimeout() async throws {
        let server = try LoopbackServer { _ in .never }
        let transport = URLSessionTransport(collector: server.url(), timeout: .milliseconds(30))
        let error = await #expect(throws: Delivery.Failure.self) { try await transport.send(set) }?.error
        #expect(error?.code == .transport)
        #expect(error?.message.contains("did not answer") == true)
    }

    @Test func cancellingTheTaskEndsTheWait() async throws {
        let arrived = Gate()
        let server = try LoopbackServer { _ in
            arrived.open()
            return .never
        }
        let transport = transport(to: server)
        let task = Task { try await transport.send(set) }
        await arrived.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aTransportMayBeLetGoWhileItsLastSetIsCancelled() async throws {
        let server = try LoopbackServer { _ in .never }
        let url = server.url()
        for _ in 0..<50 {
            let task = Task { try await URLSessionTransport(collector: url).send(set) }
            for _ in 0..<Int.random(in: 0..<20) { await Task.yield() }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    // MARK: -

    private func transport(to server: LoopbackServer, token: String? = nil) -> URLSessionTransport {
        URLSessionTransport(collector: server.url(), token: token)
    }

    /// A collector that always gives the same answer; by default it accepts everything.
    private func collector(
        _ receipt: Receipt? = nil, status: Int = 200, type: String = Receipt.mediaType
    ) throws -> LoopbackServer {
        let body = Data((receipt ?? Receipt(set: set.id, acceptedCount: set.factCount)).encoded())
        return try LoopbackServer { _ in .init(status: status, headers: [("Content-Type", type)], body: body) }
    }

    @discardableResult
    private func expectFailure(
        _ code: WaybillError.Code, saying words: String, token: String? = nil, from server: LoopbackServer,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> WaybillError? {
        let transport = transport(to: server, token: token)
        let error = await #expect(throws: Delivery.Failure.self, sourceLocation: sourceLocation) {
            try await transport.send(set)
        }?.error
        #expect(error?.code == code, sourceLocation: sourceLocation)
        #expect(error?.message.contains(words) == true, "\(String(describing: error))", sourceLocation: sourceLocation)
        #expect(server.requests.count == 1, sourceLocation: sourceLocation)
        return error
    }
}
