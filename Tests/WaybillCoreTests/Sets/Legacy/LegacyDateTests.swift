import Foundation
import Testing
import WaybillCore
import WaybillLegacy

@Suite(.timeLimit(.minutes(5))) struct LegacyDateTests {
    /// 2015-02-06T05:59:27Z
    private static let time: Int64 = 1_423_202_367_000_000

    @Test(arguments: [
        "Fri, 06 Feb 2015 00:59:27 EST", "Fri, 06 Feb 2015 05:59:27 GMT", "Fri, 6 Feb 2015 06:59:27 CET",
        "Fri, 06 Feb 2015 06:59:27 GMT+1",
        "Fri, 06 Feb 2015 11:29:27 GMT+05:30", "Fri, 06 Feb 2015 11:29:27 +0530", "Thu, 05 Feb 2015 21:59:27 PST",
        "vendredi, 06 feb 2015 05:59:27 utc", "06 Feb 2015 05:59:27 Z", "Fri, 06 Feb 2015 06:59:27 GMT + 1",
    ])
    func aDateIsReadInTheZoneThatItNames(text: String) {
        #expect(LegacyDate.microseconds(text) == Self.time)
    }

    @Test(arguments: [
        "", "yesterday", "Fri, 06 févr. 2015 05:59:27 GMT", "Sun, 29 Feb 2015 00:59:27 GMT",
        "Fri, 06 Feb 2015 24:00:00 GMT",
        "Fri, 06 Feb 2015 00:59:27", "Fri, 06 Feb 2015 00:59:27 IST", "Fri, 06 Feb 2015 00:59:27 GMT+99",
        "Fri, 06 Feb 2015 00:59 GMT",
        "Fri, 06 Feb 1815 00:59:27 GMT", "Fri, 06 Feb 2015 00:59:27 AM EST", "Fri, 00 Feb 2015 00:59:27 GMT",
        "2015-02-06T05:59:27Z",
        "Fri, 06 Feb 2015 ٠٠:59:27 GMT", ", 0 0 0 0:0:0 +",
    ])
    func whatCannotBeToldIsNoDate(text: String) {
        #expect(LegacyDate.microseconds(text) == nil)
    }

    @Test func everyDateThatFoundationWritesIsReadAsFoundationMeansIt() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss z"
        // Steps of some 11 days and a few hours, across a century year without a leap day (2100) and one with it
        // (2400).
        for seconds in stride(from: Int64(0), to: 13_700_000_000, by: 987_654) {
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(LegacyDate.microseconds(text) == seconds * 1_000_000)
            #expect(LegacyDate.text(seconds * 1_000_000 + 999_999) == text, "to the second below")
        }
    }

    @Test func aTimeThatNoDateCanHaveIsWrittenAsTheNearest() {
        #expect(LegacyDate.text(-1) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(LegacyDate.text(.min) == LegacyDate.text(0))
        #expect(LegacyDate.text(.max) == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(LegacyDate.microseconds(LegacyDate.text(.max)) != nil)
    }
}
