import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillSpans
@testable import WaybillStore

/// Spans in a collector's store, which has limits and a host.
@Suite(.timeLimit(.minutes(5))) struct CollectedSpansTests {
    private let folder: TemporaryDirectory
    private let clock = ManualClock(wallMicroseconds: SpanStore.wall)

    init() throws { folder = try TemporaryDirectory() }

    private func request(_ spans: [ReceivedSpan]) -> TraceRequest {
        var request = TraceRequest()
        request.resources = [ReceivedResource(attributes: SpanStore.shop, spans: spans)]
        return request
    }

    /// Breaks when a sender avoids the limit of a transaction by never sending the parent of its spans.
    @Test func spansThatWaitedTakeNoMoreRoomThanTheirTransactionHas() async throws {
        let store = try SQLiteStore(in: folder.url, factsPerTransaction: 10, clock: clock)
        let trace = Trace()
        let orphans = (0..<20).map { trace.span("work \($0)", below: SpanID(rawValue: 7), isRemote: false) }
        #expect(try await store.add(request(orphans), sentBy: "t1").acceptedCount == 20)
        clock.advance(by: .seconds(61))
        #expect(try await store.settleWaitingSpans() == 10)
        #expect(try await store.sources(ListRequest()).rows.map(\.ledger.refused) == [12])
    }

    /// Breaks when the metrics of a collector miss the transactions that only services with OpenTelemetry record.
    @Test func aTransactionThatASpanBeganIsCountedWhenItIsFinished() async throws {
        let finished = Locked<[FinishedTransaction]>([])
        var hooks = IngestHooks()
        hooks.didFinish = { transactions in finished.withLock { $0 += transactions } }
        let store = try SQLiteStore(in: folder.url, clock: clock, hooks: hooks)
        let trace = Trace()
        let spans = request([trace.span("nightly sync", took: 70), trace.server("/a", below: SpanID(rawValue: 7))])
        for _ in 0..<2 { _ = try await store.add(spans, sentBy: "t1") }
        let sync = FinishedTransaction(useCase: "nightly sync", outcome: .succeeded, durationMicroseconds: 70)
        #expect(finished.withLock { $0 } == [sync])
    }
}
