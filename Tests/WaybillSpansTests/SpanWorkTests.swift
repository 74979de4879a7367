import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillSpans
@testable import WaybillStore

/// The work of a store for one request, counted in SQLite steps. A busy machine makes no difference.
@Suite(.timeLimit(.minutes(5))) struct SpanWorkTests {
    /// A clock that counts its reads.
    private final class CountingClock: TransactionClock {
        let count = Locked(0)

        func wallMicroseconds() -> Int64 { SpanStore.wall }
        func uptimeMicroseconds() -> Int64 {
            count.withLock { $0 += 1 }
            return 0
        }
    }

    /// Returns the thousands of SQLite steps that `body` takes.
    private func steps(of store: SpanStore, _ body: () throws -> Void) rethrows -> Int {
        let clock = CountingClock()
        // The interruption reads the clock every thousand steps.
        store.store.connection.interruption = Interruption(after: .seconds(1_000_000), by: clock)
        defer { store.store.connection.interruption = nil }
        try body()
        return clock.count.withLock { $0 }
    }

    /// Returns a chain of services that ask each other, each with a server span below the one before.
    private func chain(_ count: Int) -> TraceRequest {
        let trace = Trace()
        var request = TraceRequest()
        var parent: SpanID?
        for number in 0..<count {
            let span = trace.server("/\(number)", below: parent, at: Int64(number))
            parent = span.id
            request.resources.append(
                ReceivedResource(
                    attributes: ["service.name": .string("s\(number)"), "service.instance.id": "1"], spans: [span]))
        }
        return request
    }

    private func steps(forChainOf count: Int) throws -> Int {
        let store = try SpanStore()
        store.store.factsPerTransaction = 100_000
        let request = chain(count)
        return try steps(of: store) {
            let verdict = try store.store.ingest(request, sentBy: "t1", receivedAt: SpanStore.wall)
            #expect(verdict.acceptedCount == min(count, TransactionQuota.partLimit))
        }
    }

    /// Breaks when one request of 14 kB blocks the writes of a project for a minute. The search for causes once ran for
    /// each service, over every pair of them.
    @Test func aChainOfServicesTakesWorkInProportionToItsLength() throws {
        let (short, long) = (try steps(forChainOf: 100), try steps(forChainOf: 400))
        #expect(long < 6 * short, "\(short) and \(long) thousand steps")
        // Spans beyond the limit of parts are refused, and cost less than accepted ones.
        let most = try steps(forChainOf: 2_000)
        #expect(most < 30 * short, "\(short) and \(most) thousand steps")
    }

    /// Breaks when the next request or set of the same transaction pays for all spans that wait in vain.
    @Test func whatWaitsInVainCostsTheNextLittle() throws {
        let store = try SpanStore()
        store.store.factsPerTransaction = 100_000
        let request = chain(900)
        let all = try steps(of: store) {
            _ = try store.store.ingest(request, sentBy: "t1", receivedAt: SpanStore.wall)
        }
        var app = App(try #require(request.resources.first?.spans.first?.transaction))
        _ = app.ask("/cart")
        let one = try steps(of: store) { try store.add(app.set()) }
        #expect(one < all / 4, "\(one) of \(all) thousand steps")
    }

    /// Sets take the same path: each source of a set has a part of the same transaction.
    private func steps(forSetOf count: Int) throws -> Int {
        let store = try SpanStore()
        let transaction = GUIDs.next()
        // One part waits for its cause, to make the store search for causes at all.
        let trace = Trace(transaction)
        try store.add([trace.server("/", below: trace.span("x").id)])
        let shares = (0..<count).map { _ in App(transaction, askedBy: trace.span("y").id).set().sources[0] }
        let set = TransactionSet(id: GUID(), sources: shares)
        return try steps(of: store) { try store.add(set) }
    }

    /// Breaks when one set of many sources blocks the writes of a project in the same way.
    @Test func aSetOfManySourcesTakesWorkInProportionToThem() throws {
        let (short, long) = (try steps(forSetOf: 100), try steps(forSetOf: 400))
        #expect(long < 6 * short, "\(short) and \(long) thousand steps")
    }
}
