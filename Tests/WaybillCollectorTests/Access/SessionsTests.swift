#if Collector
import Testing
@testable import WaybillCollector

@Suite(.timeLimit(.minutes(5))) struct SessionsTests {
    private let sessions = Sessions(lasting: .seconds(60))

    @Test func aSessionIsItsTokensUntilItsTimeIsOver() {
        let id = sessions.begin(for: "a", now: 0)
        #expect(sessions.token(of: id, now: 59_999_999) == "a")
        #expect(sessions.token(of: "another", now: 0) == nil)
        #expect(sessions.token(of: id, now: 60_000_000) == nil)
        #expect(sessions.token(of: id, now: 0) == nil, "What has ended does not begin again.")
    }

    @Test func whoLogsOutEndsOneSession() {
        let (one, other) = (sessions.begin(for: "a", now: 0), sessions.begin(for: "a", now: 0))
        sessions.end(one)
        sessions.end("no session")
        #expect(sessions.token(of: one, now: 0) == nil)
        #expect(sessions.token(of: other, now: 0) == "a")
    }

    /// Breaks when repeated logins use unbounded memory, or end the sessions of others.
    @Test func aTokenHasABoundedNumberAndTheOldestGoes() {
        let other = sessions.begin(for: "b", now: 0)
        let first = sessions.begin(for: "a", now: 0)
        let later = (1...1000).map { sessions.begin(for: "a", now: $0) }
        #expect(sessions.count == 33)
        #expect(sessions.token(of: first, now: 1000) == nil)
        #expect(sessions.token(of: later[999], now: 1000) == "a")
        #expect(sessions.token(of: other, now: 1000) == "b")
    }

    @Test func whatHasEndedIsForgotten() {
        for token in 0..<100 { _ = sessions.begin(for: "\(token)", now: 0) }
        #expect(sessions.count == 100)
        _ = sessions.begin(for: "a", now: 60_000_000)
        #expect(sessions.count == 1)
    }
}
#endif
