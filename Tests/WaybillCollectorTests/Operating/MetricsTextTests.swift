#if Collector
import Testing

@testable import WaybillCollector

/// What Prometheus reads.
@Suite(.timeLimit(.minutes(5))) struct MetricsTextTests {
    /// Broken, one name with a quotation mark would make the whole page unreadable.
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
}
#endif
