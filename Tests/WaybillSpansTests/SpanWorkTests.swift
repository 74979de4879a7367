import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillSpans
@testable import WaybillStore

/// How much work a store has with what one request brings, counted in steps of SQLite, so that a busy machine makes no
/// difference.
@Suite(.timeLimit(.minutes(5))) struct SpanWorkTests {
    /// Says how often it was asked.
    private final class CountingClock: TransactionClock {
        let count = Locked(0)

        func wallMicroseconds() -> Int64 { SpanStore.wall }
        func uptimeMicroseconds() -> Int64 {
            count.withLock { $0 += 1 }
            return 0
        }
    }

    /// Thousands of steps that SQLite takes for it.
    private func steps(of store: SpanStore, _ body: () throws -> Void) rethrows -> Int {
        let clock = CountingClock()
        // It asks the clock every thousand steps.
        store.store.connection.interruption = Interruption(after: .seconds(1_000_000), by: clock)
        defer { store.store.connection.interruption = nil }
        try body()
        return clock.count.withLock { $0 }
    }

    /// Services that ask each other in a chain, each with a server's span below the one before.
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
        let request = chain(count)
        return try steps(of: store) {
            let verdict = try store.store.ingest(
                request, sentBy: "t1", receivedAt: SpanStore.wall, factsPerTransaction: 100_000)
            #expect(verdict.acceptedCount == min(count, TransactionQuota.partLimit))
        }
    }

    /// Broken, one request of 14 kB would block the writes of a project for a minute: the search for causes ran for each
    /// service, and looked at every pair of them.
    @Test func aChainOfServicesTakesWorkInProportionToItsLength() throws {
        let (short, long) = (try steps(forChainOf: 100), try steps(forChainOf: 400))
        #expect(long < 6 * short, "\(short) and \(long) thousand steps")
        // What is beyond the limit of parts is refused, and costs less than what is taken.
        let most = try steps(forChainOf: 2_000)
        #expect(most < 30 * short, "\(short) and \(most) thousand steps")
    }

    /// Broken, the next request or set of the same transaction would pay for all that wait in vain.
    @Test func whatWaitsInVainCostsTheNextLittle() throws {
        let store = try SpanStore()
        let request = chain(900)
        let all = try steps(of: store) {
            _ = try store.store.ingest(request, sentBy: "t1", receivedAt: SpanStore.wall, factsPerTransaction: 100_000)
        }
        var app = App(try #require(request.resources.first?.spans.first?.transaction))
        _ = app.ask("/cart")
        let one = try steps(of: store) { try store.add(app.set()) }
        #expect(one < all / 4, "\(one) of \(all) thousand steps")
    }

    /// Sets have the same way: each source of one has a part of the same transaction.
    private func steps(forSetOf count: Int) throws -> Int {
        let store = try SpanStore()
        let transaction = GUIDs.next()
        // One part that waits for its cause, so that causes are looked for at all.
        let trace = Trace(transaction)
        try store.add([trace.server("/", below: trace.span("x").id)])
        let shares = (0..<count).map { _ in App(transaction, askedBy: trace.span("y").id).set().sources[0] }
        let set = TransactionSet(id: GUID(), sources: shares)
        return try steps(of: store) { try store.add(set) }
    }

    /// Broken, one set of many sources would block the writes of a project in the same way.
    @Test func aSetOfManySourcesTakesWorkInProportionToThem() throws {
        let (short, long) = (try steps(forSetOf: 100), try steps(forSetOf: 400))
        #expect(long < 6 * short, "\(short) and \(long) thousand steps")
    }
}
