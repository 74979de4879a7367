#if Collector
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillStore

/// The metrics page that Prometheus reads.
@Suite(.timeLimit(.minutes(5))) struct MetricsTextTests {
    /// Breaks when one name with a quotation mark makes the whole page unreadable.
    @Test func whatStandsInALabelIsEscaped() {
        var metrics = MetricsText()
        metrics.add("m", .counter, "Help.", [MetricsText.Sample(["a": "x\"y\\z\nw", "b": "1"], 7)])
        metrics.add("n", .gauge, "More.", 8)
        #expect(
            metrics.text == """
                # HELP m Help.
                # TYPE m counter
                m{a="x\\"y\\\\z\\nw",b="1"} 7
                # HELP n More.
                # TYPE n gauge
                n 8

                """)
    }

    /// Breaks when an alert on failures counts a login for each server that took part, or again for each retry of a
    /// set, or misses one whose end arrived before its beginning.
    @Test func aTransactionCountsOnceWhateverTheOrderOfItsFacts() async throws {
        let folder = try TemporaryDirectory()
        let collector = try Collector(folder: folder.url, access: .open)
        let login = LoginHistory()
        try await CollectorServer.run(collector) { server async throws in
            for set in [login.serverSet(), login.clientSet(4...6), login.clientSet(1...3), login.clientSet()] {
                #expect(try await server.post(set).rejections.isEmpty)
            }
            let text = try await server.get("/metrics").text
            let lines = text.split(separator: "\n").filter { $0.hasPrefix("waybill_transaction") }
            let labels = #"project="waybill",use_case="login""#
            #expect(
                lines.prefix(4) == [
                    #"waybill_transactions_total{\#(labels),outcome="succeeded"} 0"#,
                    #"waybill_transactions_total{\#(labels),outcome="failed"} 1"#,
                    #"waybill_transactions_total{\#(labels),outcome="cancelled"} 0"#,
                    #"waybill_transactions_total{\#(labels),outcome="abandoned"} 0"#,
                ])
            let histogram = "waybill_transaction_duration_seconds"
            #expect(lines.contains(#"\#(histogram)_bucket{\#(labels),le="0.01"} 0"#[...]))
            #expect(lines.contains(#"\#(histogram)_bucket{\#(labels),le="0.05"} 1"#[...]))
            #expect(lines.contains(#"\#(histogram)_bucket{\#(labels),le="+Inf"} 1"#[...]))
            #expect(lines.contains(#"\#(histogram)_sum{\#(labels)} 0.015"#[...]))
            #expect(lines.contains(#"\#(histogram)_count{\#(labels)} 1"#[...]))
        }
    }

    /// Breaks when a client with made-up names fills the memory of the collector and of Prometheus, or stops the
    /// process with an extreme time.
    @Test func useCasesBeyondTheLimitShareOneName() {
        let counters = Counters()
        counters.count(
            (0..<1_000).map { number in
                FinishedTransaction(useCase: "case \(number)", outcome: .succeeded, durationMicroseconds: .max)
            })
        let useCases = counters.values.useCases
        #expect(useCases.count == FinishedTransactions.useCaseLimit + 1)
        #expect(useCases[FinishedTransactions.otherUseCases]?.counts[.succeeded] == 900)
        #expect(useCases["case 0"]?.buckets.last == 1)
    }
}
#endif
