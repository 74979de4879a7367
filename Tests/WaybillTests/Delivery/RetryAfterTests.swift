import Foundation
import Testing

@testable import Waybill

@Suite(.timeLimit(.minutes(5))) struct RetryAfterTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(arguments: [
        ("0", 0), ("1", 1), (" 120 ", 120), ("86400", 86_400), ("86401", 86_400), ("99999999999999999999", 86_400),
    ])
    func secondsAreTakenUpToADay(value: String, seconds: Int) {
        #expect(RetryAfter.duration(value, answeredAt: nil, now: .now) == .seconds(seconds))
    }

    /// RFC 9110, section 5.6.7: a recipient accepts all three.
    @Test(arguments: ["Sun, 06 Nov 1994 08:50:37 GMT", "Sunday, 06-Nov-94 08:50:37 GMT", "Sun Nov  6 08:50:37 1994"])
    func datesAreTakenInAllTheirForms(value: String) {
        #expect(RetryAfter.duration(value, answeredAt: Self.date, now: .now) == .seconds(60))
    }

    @Test(arguments: ["", " ", "soon", "-5", "1.5", "0x10", "٣", "Sun, 06 Nov 1994", "1994-11-06T08:49:37Z"])
    func whatIsNeitherIsNothing(value: String) {
        #expect(RetryAfter.duration(value, answeredAt: Self.date, now: .now) == nil)
    }

    @Test func aDateThatHasPassedIsNoWait() {
        #expect(RetryAfter.duration("Sun, 06 Nov 1994 08:00:00 GMT", answeredAt: Self.date, now: .now) == .zero)
    }

    @Test func aDateFarAwayIsADay() {
        #expect(
            RetryAfter.duration("Sun, 06 Nov 2094 08:49:37 GMT", answeredAt: Self.date, now: .now) == .seconds(86_400))
    }

    /// Breaks when a device whose clock is set to another year waits a day, or not at all.
    @Test func aDateGoesByTheAnswersOwnClockAndElseByTheDevices() {
        let device = Date(timeIntervalSince1970: 784_111_777)  // 1994-11-06T08:49:37Z
        let value = "Sun, 06 Nov 1994 08:50:37 GMT"
        #expect(
            RetryAfter.duration(value, answeredAt: "Sun, 06 Nov 1994 08:50:00 GMT", now: device + 1e9) == .seconds(37))
        #expect(RetryAfter.duration(value, answeredAt: nil, now: device) == .seconds(60))
        #expect(RetryAfter.duration(value, answeredAt: "nonsense", now: device) == .seconds(60))
    }
}
