import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillSpans
@testable import WaybillStore

/// Exporters resend unanswered spans in other batches, and services send spans as they end. The stored rows do not
/// depend on this order.
@Suite(.timeLimit(.minutes(5))) struct SpanOrderTests {
    /// Data that arrives at once.
    private enum Delivery {
        case spans([ReceivedSpan], of: Attributes)
        case set(TransactionSet)
    }

    /// An app that asks the shop a few times. The shop asks the stock.
    private struct History {
        var spans: [(span: ReceivedSpan, service: Attributes)] = []
        var app: App

        init(_ random: inout RandomNumbers) {
            let trace = Trace()
            app = App(trace.transaction)
            for request in 0..<Int.random(in: 1...4, using: &random) {
                let begun = Int64(request) * 100_000
                let asked = app.ask("/cart/\(request)").span
                let server = trace.server("/cart/\(request)", below: asked, at: begun, took: 90_000)
                spans.append((server, SpanStore.shop))
                var inside = [server]
                for step in 0..<Int.random(in: 0...5, using: &random) {
                    let parent = inside.randomElement(using: &random)?.id ?? server.id
                    let at = begun + 1000 * Int64(step + 1)
                    if Bool.random(using: &random) {
                        var work = trace.span("work \(step)", below: parent, isRemote: false, at: at, took: 700)
                        work.addEvent("step", at: SpanStore.wall + at + 1, ["n": 1])
                        inside.append(work)
                        spans.append((work, SpanStore.shop))
                    } else {
                        let client = trace.client("https://stock.example/\(step)", below: parent, at: at)
                        spans.append((client, SpanStore.shop))
                        spans.append(
                            (trace.server("/\(step)", below: client.id, at: at + 9, took: 90), SpanStore.stock))
                    }
                }
            }
            app.finish()
        }
    }

    private func deliver(_ deliveries: [Delivery]) throws -> SpanStore {
        let store = try SpanStore()
        for delivery in deliveries {
            switch delivery {
            case .spans(let spans, let service): try store.add(spans, of: service)
            case .set(let set): try store.add(set)
            }
        }
        return store
    }

    /// Returns the spans in batches by service, some of them twice, with the app's sets mixed in.
    private func shuffled(_ histories: [History], _ random: inout RandomNumbers) -> [Delivery] {
        var deliveries: [Delivery] = []
        var spans = histories.flatMap(\.spans).shuffled(using: &random)
        spans += spans.filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        while !spans.isEmpty {
            let batch = spans.prefix(Int.random(in: 1...12, using: &random))
            spans.removeFirst(batch.count)
            for service in [SpanStore.shop, SpanStore.stock] {
                let its = batch.filter { $0.service == service }.map(\.span)
                if !its.isEmpty { deliveries.append(.spans(its, of: service)) }
            }
        }
        for history in histories {
            let middle = Int64.random(in: 1...Int64(history.app.facts.count), using: &random)
            deliveries.append(.set(history.app.set(1...middle)))
            deliveries.append(.set(history.app.set(middle...Int64(history.app.facts.count))))
        }
        return deliveries.shuffled(using: &random)
    }

    @Test(arguments: 0..<12) func theSameSpansInAnyOrderAndGroupingAndTwiceMakeTheSameRows(seed: Int) throws {
        var random = RandomNumbers(seed: seed)
        let histories = (0..<5).map { _ in History(&random) }
        let all = histories.flatMap(\.spans)
        let inOrder = try deliver(
            histories.map { .set($0.app.set()) }
                + [SpanStore.shop, SpanStore.stock].map { service in
                    .spans(all.filter { $0.service == service }.map(\.span), of: service)
                })
        let expected = try inOrder.dump()
        #expect(expected.count { $0.hasPrefix("spans ") } == all.count)
        for _ in 0..<4 {
            let store = try deliver(shuffled(histories, &random))
            #expect(try store.dump() == expected)
            let verification = try store.reader.verify()
            #expect(verification.problems == [] && verification.remarks == [])
        }
        // An exchange caused every part of a service, and nothing waits.
        let connection = inOrder.store.connection
        #expect(try connection.integer("SELECT count(*) FROM parts WHERE joined = 1 AND cause IS NULL") == 0)
        #expect(try connection.integer("SELECT count(*) FROM spans WHERE waiting IS NOT NULL") == 0)
    }
}
