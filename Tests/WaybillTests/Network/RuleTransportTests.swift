import Foundation
import Testing

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The events of a rule's transport, their times, and the silence after its cancellation. No clock runs here: each test
/// takes the steps itself.
@Suite(.timeLimit(.minutes(5))) struct RuleTransportTests {
    private let url: URL
    private let schedule = ManualSchedule()
    private let events = ToldEvents()
    private let network = ScriptedTransport()
    private let rules: NetworkRules

    init() throws {
        url = try #require(URL(string: "https://example.com/a"))
        let schedule = schedule
        rules = NetworkRules(schedule: { schedule })
        rules.isEnabled = true
    }

    private func transport(
        _ action: NetworkRule.Action, _ method: String = "GET", body: OutgoingRequest.Body = .own
    ) -> any HTTPTransport {
        rules.add(NetworkRule("rule", action))
        return rules.transport(
            for: ExchangeRequest(method: method, url: url),
            sentAs: OutgoingRequest(request: URLRequest(url: url), body: body), record: ExchangeRecorder(),
            else: network)
    }

    private func head(_ status: Int = 200) throws -> HTTPURLResponse {
        try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: nil))
    }

    // MARK: Mock

    @Test func aMockComesAfterItsDelayAndSendsNothing() throws {
        transport(.mock(.text("hello", status: 418, delay: .seconds(3)))).start(telling: events)
        #expect(schedule.delays == [.seconds(3)])
        #expect(events.all.isEmpty)
        try schedule.runAll()
        #expect(events.all == ["responded 418", "received 5", "ended"])
        #expect(events.bytes == Data("hello".utf8))
        #expect(network.startCount == 0)
    }

    /// Breaks when no test can show a list whose answers arrive in a different order each time.
    @Test func aDelayIsDrawnBetweenItsBoundsForEachRequest() {
        let bounds = Duration.milliseconds(100)...Duration.milliseconds(900)
        for action in [
            .mock(NetworkRule.Response(delay: bounds.lowerBound, maximumDelay: bounds.upperBound)),
            .fail(.timedOut, after: bounds.lowerBound, upTo: bounds.upperBound),
            .throttle(NetworkRule.Throttle(latency: bounds.lowerBound, maximumLatency: bounds.upperBound)),
        ] as [NetworkRule.Action] {
            let first = schedule.delays.count
            for _ in 0..<50 { transport(action).start(telling: events) }
            let delays = schedule.delays.dropFirst(first)
            #expect(delays.count == 50 && delays.allSatisfy(bounds.contains))
            #expect(Set(delays).count > 1)
        }
    }

    @Test func aMockWithoutADelayIsNotToldInsideTheCallThatStartsIt() throws {
        transport(.mock(NetworkRule.Response())).start(telling: events)
        #expect(events.all.isEmpty)
        try schedule.runAll()
        #expect(events.all == ["responded 200", "ended"])
    }

    @Test func aLargeMockComesInPiecesAndWhole() throws {
        let body = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        transport(.mock(NetworkRule.Response(body: body))).start(telling: events)
        try schedule.runAll()
        #expect(events.all == ["responded 200", "received 65536", "received 65536", "received 18928", "ended"])
        #expect(events.bytes == body)
    }

    @Test func aMockTakesTheBodyOfTheRequestFirst() throws {
        transport(.mock(NetworkRule.Response()), "POST", body: .data(Data(count: 7))).start(telling: events)
        try schedule.runAll()
        #expect(events.all == ["sent 7 of 7", "responded 200", "ended"])
    }

    @Test(arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)]) func thereIsNoBodyWhereHTTPHasNone(
        method: String, status: Int
    ) throws {
        transport(.mock(.text("hello", status: status)), method).start(telling: events)
        try schedule.runAll()
        #expect(events.all == ["responded \(status)", "ended"])
    }

    @Test func aCancelledMockTellsNothing() throws {
        let mock = transport(.mock(.text("hello", delay: .seconds(3600))))
        mock.start(telling: events)
        mock.cancel()
        try schedule.runAll()
        #expect(events.all.isEmpty)
    }

    // MARK: Fail

    @Test func aFailureComesAfterItsDelayAndSendsNothing() throws {
        transport(.fail(.notConnectedToInternet, after: .milliseconds(5))).start(telling: events)
        #expect(schedule.delays == [.milliseconds(5)])
        try schedule.runAll()
        #expect(events.all == ["failed -1009"])
        #expect(network.startCount == 0)
    }

    // MARK: Cut

    @Test func theConnectionIsCutAfterSoManyBytes() throws {
        transport(.cut(afterByteCount: 10)).start(telling: events)
        network.events?.tell(.sent(byteCount: 3, expected: 3))
        network.events?.tell(.responded(try head()))
        network.events?.tell(.received(Data(count: 4)))
        #expect(network.cancelCount == 0)
        network.events?.tell(.received(Data(count: 100)))
        network.events?.tell(.received(Data(count: 100)))
        network.events?.tell(.ended(nil))
        #expect(events.all == ["sent 3 of 3", "responded 200", "received 4", "received 6", "failed -1005"])
        #expect(network.cancelCount == 1)
    }

    @Test func cutAfterNothingStillGivesTheHead() throws {
        transport(.cut(afterByteCount: 0)).start(telling: events)
        network.events?.tell(.responded(try head()))
        #expect(events.all == ["responded 200", "failed -1005"])
        #expect(network.cancelCount == 1)
    }

    @Test func aBodyThatIsShorterThanTheCutComesWhole() throws {
        transport(.cut(afterByteCount: 10)).start(telling: events)
        network.events?.tell(.responded(try head()))
        network.events?.tell(.received(Data(count: 9)))
        network.events?.tell(.ended(nil))
        #expect(events.all == ["responded 200", "received 9", "ended"])
        #expect(network.cancelCount == 0)
    }

    @Test func aCancelledCutTellsNothingAndCancelsTheRequest() throws {
        let cut = transport(.cut(afterByteCount: 10))
        cut.start(telling: events)
        cut.cancel()
        network.events?.tell(.responded(try head()))
        network.events?.tell(.received(Data(count: 100)))
        #expect(events.all.isEmpty)
        #expect(network.cancelCount == 1)
    }

    // MARK: NetworkRule.Throttle

    @Test func theRequestIsSentAfterTheLatency() throws {
        transport(.throttle(NetworkRule.Throttle(latency: .seconds(2)))).start(telling: events)
        #expect(schedule.delays == [.seconds(2)])
        #expect(network.startCount == 0)
        try schedule.runAll()
        #expect(network.startCount == 1)
        network.events?.tell(.responded(try head()))
        network.events?.tell(.received(Data(count: 1_000_000)))
        network.events?.tell(.ended(nil))
        #expect(events.all == ["responded 200", "received 1000000", "ended"])
    }

    @Test func bytesComeNoFasterThanTheThrottleSays() throws {
        transport(.throttle(NetworkRule.Throttle(bytesPerSecond: 1000))).start(telling: events)
        network.events?.tell(.responded(try head()))
        network.events?.tell(.received(Data(count: 250)))
        network.events?.tell(.received(Data(count: 30)))
        network.events?.tell(.ended(nil))
        #expect(events.all == ["responded 200"], "the head takes no time")
        schedule.step()
        #expect(events.all == ["responded 200", "received 100"])
        try schedule.runAll()
        #expect(events.all == ["responded 200", "received 100", "received 100", "received 50", "received 30", "ended"])
        #expect(schedule.delays == [.milliseconds(100), .milliseconds(100), .milliseconds(50), .milliseconds(30)])
    }

    @Test func theBodyOfTheRequestTakesItsTimeAndTheAnswerWaitsForIt() throws {
        transport(.throttle(NetworkRule.Throttle(bytesPerSecond: 1000)), "POST", body: .data(Data(count: 150))).start(
            telling: events)
        network.events?.tell(.sent(byteCount: 150, expected: 150))
        network.events?.tell(.responded(try head()))
        network.events?.tell(.ended(nil))
        #expect(events.all.isEmpty)
        try schedule.runAll()
        #expect(events.all == ["sent 100 of 150", "sent 50 of 150", "responded 200", "ended"])
        #expect(schedule.delays == [.milliseconds(100), .milliseconds(50)])
    }

    @Test func whatComesWhileOthersWaitWaitsBehindThem() throws {
        transport(.throttle(NetworkRule.Throttle(bytesPerSecond: 10))).start(telling: events)
        network.events?.tell(.responded(try head()))
        network.events?.tell(.received(Data([1, 2])))
        schedule.step()
        network.events?.tell(.received(Data([3])))
        network.events?.tell(.ended(URLError(.timedOut)))
        try schedule.runAll()
        #expect(events.all == ["responded 200", "received 1", "received 1", "received 1", "failed -1001"])
        #expect(events.bytes == Data([1, 2, 3]))
    }

    @Test func aRedirectIsAnsweredAtOnce() throws {
        transport(.throttle(NetworkRule.Throttle(bytesPerSecond: 1)), "POST").start(telling: events)
        network.events?.tell(.sent(byteCount: 10, expected: 10))
        #expect(network.events?.redirected(by: try head(307), to: URLRequest(url: url)) != nil)
    }

    @Test func aThrottleThatIsCancelledDuringItsLatencyNeverSends() throws {
        let throttle = transport(.throttle(NetworkRule.Throttle(latency: .seconds(2))))
        throttle.start(telling: events)
        throttle.cancel()
        try schedule.runAll()
        #expect(network.startCount == 0)
        #expect(network.cancelCount == 0)
    }

    @Test func aThrottleThatIsCancelledOnTheWayTellsNoMoreAndCancelsTheRequest() throws {
        let throttle = transport(.throttle(NetworkRule.Throttle(bytesPerSecond: 1)))
        throttle.start(telling: events)
        network.events?.tell(.responded(try head()))
        network.events?.tell(.received(Data(count: 10)))
        schedule.step()
        throttle.cancel()
        try schedule.runAll()
        #expect(events.all == ["responded 200", "received 1"])
        #expect(network.cancelCount == 1)
    }

    @Test func withoutARuleTheNetworkCarriesItself() {
        let plain = NetworkRules().transport(
            for: ExchangeRequest(url: url), sentAs: OutgoingRequest(request: URLRequest(url: url)),
            record: ExchangeRecorder(), else: network)
        #expect(plain === network)
    }
}
