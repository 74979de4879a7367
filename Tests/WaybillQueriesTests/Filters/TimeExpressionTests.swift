import Testing
import WaybillCore
import WaybillQueries

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

    /// Breaks when “since yesterday” is an error, or begins at another midnight than lists show.
    @Test(arguments: [
        ("today", "2026-03-01"), ("yesterday", "2026-02-28"), ("Yesterday", "2026-02-28"),
        // 2026-03-01 was a Sunday, and its week began on 2026-02-23.
        ("last week", "2026-02-16"),
    ])
    func wordsMeanTheFirstMidnightInUTC(text: String, day: String) throws {
        let midnight = try #require(TimeExpression.instant(day))
        for hour in [0, 12, 23] {
            let now = now + Int64(hour - 12) * 3_600_000_000
            #expect(TimeExpression.microseconds(text, now: now) == midnight)
        }
        #expect(TimeExpression.microseconds(text, now: -1) ?? 0 < -1, "The arithmetic holds before 1970, too.")
        #expect(throws: FilterMistake.self) { try FilterCondition("since:\"\(text)\"") }
    }

    @Test func plainDigitsAreMicroseconds() {
        #expect(TimeExpression.microseconds("1772366400000001", now: 0) == 1_772_366_400_000_001)
    }

    /// Breaks when a filter refuses a date that people write for “never”, or such a date is changed where no filter
    /// needs that.
    @Test(arguments: [
        ("2999-12-31T12:00:00Z", 32_503_636_800_000_000), ("9999-12-31", 253_402_214_400_000_000),
        ("32503636800000001", 32_503_636_800_000_001),
    ])
    func beyondTheFormatAFilterHasTheLastTimeOfTheFormat(text: String, instant: Int64) {
        #expect(TimeExpression.instant(text) == instant)
        #expect(TimeExpression.microseconds(text, now: now) == Limits.largestInteger)
    }

    /// Breaks when the date that programs write for “always” is refused.
    @Test func theFirstDayOfAllIsTheFirstTimeOfTheFormat() {
        #expect(TimeExpression.microseconds("0001-01-01", now: now) == -Limits.largestInteger)
    }

    @Test(arguments: ["32000-01-01", "300000000000000000", "9223372036854775807", "24h"])
    func noInstantIsBeyondTheYear9999(text: String) {
        #expect(TimeExpression.instant(text) == nil)
    }

    @Test(arguments: [
        "32000-01-01", "300000000000000000", "9223372036854775807", "", "h", "-3h", "3 h", "24H", "+5", "tomorrow",
        "last month",
        "2026-13-01", "1e9", "99999999999999999999", "9223372036854775807w", "²",
    ])
    func anythingElseIsNoTime(text: String) {
        #expect(TimeExpression.microseconds(text, now: now) == nil)
    }
}
