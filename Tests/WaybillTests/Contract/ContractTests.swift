import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
import WaybillQueries
#endif

/// However a request is made, the caller gets the same as from bare `URLSession`, and the record says what happened.
@Suite(.timeLimit(.minutes(5)))
struct ContractTests {
    @Test(arguments: WayIn.all) func anAnswerIsWhole(way: WayIn) async throws {
        let server = try LoopbackServer { _ in .text("hello", status: 203, type: "text/teapot") }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url("/a?b=c"))), by: way)
        #expect(trial.outcome.status == 203)
        #expect(trial.outcome.body == Data("hello".utf8))
        #expect(trial.exchange.sentByteCount ?? 0 == 0)
    }

    @Test(arguments: WayIn.all.without(.field)) func theRequestCarriesTheTransaction(way: WayIn) async throws {
        let server = try LoopbackServer { _ in .text("") }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url())), by: way, isCompared: false)
        let told = server.requests.first?.header("Waybill-Transaction").flatMap { TransactionHeader(parsing: $0) }
        #expect(told?.transaction == trial.login)
        #expect(told?.exchange == trial.exchange.id.sequence)
        #expect(told?.source == trial.exchange.id.source)
    }

    @Test(arguments: WayIn.all, [0, 1, 70_000]) func aPostedBodyArrives(way: WayIn, byteCount: Int) async throws {
        let server = try LoopbackServer { .text("\($0.body.count)") }
        let body = WayIn.pattern(byteCount)
        let trial = try await Trial(
            WayIn.Call(request: WayIn.request(server.url(), "POST"), body: .data(body)), by: way)
        #expect(trial.outcome.body == Data("\(byteCount)".utf8))
        #expect(server.requests.map(\.body) == [body, body])
        if !way.limits.contains(.requestBody) { #expect(trial.exchange.sentByteCount == Int64(byteCount)) }
    }

    @Test(arguments: WayIn.all.without(.stream)) func aBodyOfUnknownLengthArrivesInChunks(way: WayIn) async throws {
        let server = try LoopbackServer { .text($0.header("Transfer-Encoding") ?? "at once") }
        let body = WayIn.pattern(70_000)
        let trial = try await Trial(
            WayIn.Call(request: WayIn.request(server.url(), "POST"), body: .stream(body)), by: way)
        #expect(trial.outcome.body == Data("chunked".utf8))
        #expect(server.requests.map(\.body) == [body, body])
        if !way.limits.contains(.requestBody) { #expect(trial.exchange.sentByteCount == Int64(body.count)) }
    }

    @Test(arguments: WayIn.all, [204, 304, 400, 404, 409, 500, 503]) func anAnswerOfAnyStatusIsAnAnswer(
        way: WayIn, status: Int
    )
        async throws
    {
        let body = [204, 304].contains(status) ? "" : "\(status), sorry"
        let server = try LoopbackServer { _ in .text(body, status: status) }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url())), by: way)
        #expect(trial.outcome.status == status)
        #expect(trial.outcome.body == Data(body.utf8))
    }

    /// Bare `URLSession` waits for a password for ever.
    @Test(arguments: WayIn.all.without(.challenge), ["Bearer", "Basic realm=\"place\""])
    func aChallengeIsAnAnswer(way: WayIn, field: String) async throws {
        let server = try LoopbackServer { _ in
            .init(status: 401, headers: [("WWW-Authenticate", field)], body: Data("who?".utf8))
        }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url())), by: way, isCompared: false)
        #expect(trial.outcome.status == 401)
        #expect(trial.outcome.body == Data("who?".utf8))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: WayIn.all, ["127.0.0.1", "localhost"]) func aRedirectIsFollowed(way: WayIn, host: String)
        async throws
    {
        let place = Locked<URL?>(nil)
        let server = try LoopbackServer { request in
            guard request.path == "/here", let url = place.withLock({ $0 }) else { return .text("there") }
            return .redirect(to: url)
        }
        let url = server.url("/there", host: host)
        place.withLock { $0 = url }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url("/here"))), by: way)
        #expect(trial.outcome.body == Data("there".utf8))
        if !way.limits.contains(.redirects) {
            #expect(trial.exchange.transfer.redirects.map(\.status) == [302])
            #expect(trial.exchange.transfer.redirects.map(\.url) == [url.absoluteString])
        }
        if way.limits.isDisjoint(with: [.field, .fieldOverRedirects]) {
            #expect(server.requests.first?.header("Waybill-Transaction") != nil)
            let second = server.requests.first { $0.path == "/there" }
            #expect((second?.header("Waybill-Transaction") != nil) == (host == "127.0.0.1"))
        }
    }

    @Test(arguments: WayIn.all.without(.compression)) func aCompressedAnswerIsDecodedAndBothLengthsAreKnown(way: WayIn)
        async throws
    {
        let compressed = "H4sIAAAAAAACAytPrEzKzMlRKB+lR+lRepQe5DQAGAwmrbAEAAA="
        let body = try #require(Data(base64Encoded: compressed))
        let server = try LoopbackServer { _ in .init(headers: [("Content-Encoding", "gzip")], body: body) }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url())), by: way)
        #expect(trial.outcome.body == Data(String(repeating: "waybill ", count: 150).utf8))
        #expect(trial.exchange.transfer.receivedWireByteCount == Int64(body.count))
    }

    @Test(arguments: WayIn.all) func anAnswerInChunksIsWhole(way: WayIn) async throws {
        let body = WayIn.pattern(300_000)
        let server = try LoopbackServer { _ in LoopbackServer.Response(body: body).chunked }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url())), by: way)
        #expect(trial.outcome.body == body)
    }

    @Test(arguments: WayIn.all) func aSlowAnswerIsWhole(way: WayIn) async throws {
        let server = try LoopbackServer { _ in
            let rest = Gate()
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(20)) { rest.open() }
            return .text("one half, the other half").secondHalf(after: rest)
        }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url())), by: way)
        #expect(trial.outcome.body == Data("one half, the other half".utf8))
    }

    enum Breakage: CaseIterable { case cutShort, reset, hungUp }

    @Test(arguments: WayIn.all, Breakage.allCases) func aBrokenConnectionIsAFailure(way: WayIn, breakage: Breakage)
        async throws
    {
        let server = try LoopbackServer { _ in
            switch breakage {
            case .cutShort: .text("0123456789").cutShort
            case .reset: .text("0123456789").reset
            case .hungUp: .closed
            }
        }
        // The error of a reset depends on whether it overtakes the bytes before it.
        let trial = try await Trial(
            WayIn.Call(request: WayIn.request(server.url())), by: way, isCompared: breakage != .reset)
        #expect(trial.outcome.status == nil)
        #expect(trial.exchange.state == .failed)
    }

    @Test(arguments: WayIn.all) func aRefusedConnectionIsAFailure(way: WayIn) async throws {
        let trial = try await Trial(WayIn.Call(request: WayIn.request(try refusedURL())), by: way)
        #expect(trial.exchange.state == .failed)
        #expect(trial.exchange.status == nil)
    }

    @Test(arguments: WayIn.all) func anAnswerThatDoesNotComeIsATimeOut(way: WayIn) async throws {
        let server = try LoopbackServer { _ in .never }
        var request = WayIn.request(server.url())
        request.timeoutInterval = 1
        let trial = try await Trial(WayIn.Call(request: request), by: way)
        #expect(trial.exchange.state == .failed)
    }

    @Test(arguments: WayIn.all.without(.unsent)) func aRequestThatIsCancelledBeforehandIsNotSent(way: WayIn)
        async throws
    {
        let server = try LoopbackServer { _ in .text("never asked") }
        let trial = try await Trial(
            WayIn.Call(request: WayIn.request(server.url())), by: way, isCompared: false, isCancelledBeforehand: true)
        #expect(trial.outcome == .failed(.cancelled))
        #expect(trial.exchange.state == .cancelled)
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: WayIn.all) func aRequestThatIsCancelledMeanwhileEndsAtOnce(way: WayIn) async throws {
        let arrived = Gate()
        let server = try LoopbackServer { _ in
            arrived.open()
            return .never
        }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url())), by: way, isCompared: false) {
            running in
            await arrived.opened()
            running.cancel()
        }
        #expect(trial.outcome == .failed(.cancelled))
        #expect(trial.exchange.state == .cancelled)
    }

    @Test(arguments: WayIn.all) func aRequestThatIsCancelledInTheMiddleOfTheAnswerEndsAtOnce(way: WayIn) async throws {
        let arrived = Gate()
        let server = try LoopbackServer { _ in
            arrived.open()
            return .text("one half, the other half").secondHalf(after: Gate())
        }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url())), by: way, isCompared: false) {
            running in
            await arrived.opened()
            running.cancel()
        }
        #expect(trial.outcome == .failed(.cancelled))
        #expect(trial.exchange.state == .cancelled)
    }

    @Test(arguments: WayIn.all) func cancellingAfterwardsChangesNothing(way: WayIn) async throws {
        let server = try LoopbackServer { _ in .text("done") }
        let trial = try await Trial(WayIn.Call(request: WayIn.request(server.url())), by: way, isCompared: false) {
            running in
            _ = await running.value
            running.cancel()
        }
        #expect(trial.outcome.body == Data("done".utf8))
        #expect(trial.exchange.state == .completed)
    }
}
