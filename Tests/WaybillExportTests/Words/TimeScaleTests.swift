import Testing

@testable import WaybillExport

@Suite(.timeLimit(.minutes(5))) struct TimeScaleTests {
    @Test(arguments: [
        (9999, "µs", "9999"), (15_000, "ms", "15.00"), (1_250_000, "ms", "1250.0"), (59_000_000, "s", "59.000"),
        (1_800_000_000, "min", "30.0"),
        (90_000_000_000, "h", "25.0"),
    ])
    func aColumnHasOneUnit(typical: Int64, unit: String, text: String) {
        let scale = TimeScale(column: typical)
        #expect(scale.unit == unit)
        #expect(scale.text(typical) == text)
    }

    @Test func noTimeIsTooLong() {
        #expect(TimeScale(column: 5000).text(Int64.max) == "\(Int64.max)")
        #expect(!TimeScale(column: Int64.max).text(Int64.min).isEmpty)
        #expect(TimeScale(column: 20_000_000).text(Int64.max).hasSuffix("s") == false)
    }
}
