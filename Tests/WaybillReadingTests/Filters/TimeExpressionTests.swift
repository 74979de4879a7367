import Testing
import WaybillCore
import WaybillReading

@Suite(.timeLimit(.minutes(5))) struct TimeExpressionTests {
    private let now: Int64 = 1_772_366_400_000_000  // 2026-03-01T12:00:00Z

    @Test(arguments: [("90s", 90), ("30m", 1800), ("24h", 86_400), ("7d", 604_800), ("2w", 1_209_600), ("0h", 0)])
    func agesCountBackFromNow(text: String, seconds: Int64) {
        #expect(TimeExpression.microseconds(text, now: now) == now - seconds * 1_000_000)
    }

    @Test(arguments: [
        ("2026-03-01T12:00:00Z", 1_772_366_400_000_000), ("2026-03-01T13:00:00+01:00", 1_772_366_400_000_000),
        ("2026-03-01T12:00:00.250Z", 1_772_366_400_250_000), ("2026-03-01", 1_772_323_200_000_000),
    ])
    func isoTimesAreReadWithTheirZone(text: String, microseconds: Int64) {
        #expect(TimeExpression.microseconds(text, now: now) == microseconds)
    }

    @Test func plainDigitsAreMicroseconds() {
        #expect(TimeExpression.microseconds("1772366400000001", now: 0) == 1_772_366_400_000_001)
    }

    @Test(arguments: [
        "", "h", "-3h", "3 h", "24H", "+5", "yesterday", "2026-13-01", "1e9", "99999999999999999999",
        "9223372036854775807w", "²",
    ])
    func anythingElseIsNoTime(text: String) {
        #expect(TimeExpression.microseconds(text, now: now) == nil)
    }
}
