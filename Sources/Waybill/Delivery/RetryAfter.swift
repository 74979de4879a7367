package import Foundation

/// HTTP's `Retry-After`: in seconds, or as a date (RFC 9110, section 10.2.3).
package enum RetryAfter {
    /// Delivery pauses for no longer, even where an answer asks for more.
    static let longest = Duration.seconds(86_400)

    /// How long to wait; nil for what is neither a number nor a date. A date in the past is no wait.
    ///
    /// - Parameters:
    ///   - date: The answer's `Date`, by which a date is understood: the device's clock may be wrong.
    ///   - now: By the device's clock, for an answer without a `Date`.
    package static func duration(_ value: String?, answeredAt date: String?, now: Date) -> Duration? {
        guard let value = value?.trimmingCharacters(in: .whitespaces), !value.isEmpty else { return nil }
        if value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return min(Int64(value).map { .seconds($0) } ?? longest, longest)
        }
        guard let then = self.date(value) else { return nil }
        let seconds = then.timeIntervalSince(date.flatMap(self.date) ?? now)
        return min(max(.zero, .seconds(seconds)), longest)
    }

    /// A date in any of the three forms that RFC 9110, section 5.6.7, has a recipient take.
    private static func date(_ text: String) -> Date? {
        for format in ["EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy"] {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = .gmt
            formatter.dateFormat = format
            if let date = formatter.date(from: text) { return date }
        }
        return nil
    }
}
