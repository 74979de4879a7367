package import Foundation

/// Recorders truncate longer values; readers reject them. Lengths are in Unicode scalars, as in `Schemas/`.
package enum Limits {
    package static let attributes = 32
    package static let nameLength = 128
    package static let valueLength = 1024
    /// The length of a use case's or event's name, an error's domain, an app or device name, a host, or a method.
    package static let labelLength = 256
    package static let textLength = 2048
    package static let underlyingErrors = 4
    /// The length of a URL's path or query, or of a header field's value.
    package static let fieldLength = 4096
    package static let headerFields = 64
    package static let redirects = 20
    /// The kept messages of a WebSocket, half from the beginning and half from the end.
    package static let webSocketMessages = 500
    /// The largest believable count of a source's facts: 2^40, a million per second for twelve days.
    package static let recordedFacts: Int64 = 1 << 40
    package static let samplingRates = 256
    package static let sources = 1_000
    /// Clock anchors, names and dropped ranges of one set, each. A store keeps as many anchors per source.
    package static let envelopeItems = 20_000
    /// Names of received codes in a store: a hundred versions with 2,000 each.
    package static let names = 10 * envelopeItems
    /// The largest integer that a `Double` represents exactly with all smaller ones: 2^53 - 1.
    package static let largestInteger: Int64 = (1 << 53) - 1
    /// Codes are an enum's raw values, so they must also fit in an `Int`.
    package static let largestCode = Int(clamping: largestInteger)
}

extension FixedWidthInteger {
    /// Divides, rounding toward negative infinity; the remainder is never negative.
    package func quotientAndRemainder(flooringBy divisor: Self) -> (quotient: Self, remainder: Self) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// The share of a whole in thousandths, rounded toward 0. It is less exact if the product overflows.
    package func thousandths(of whole: Self) -> Int {
        let (product, isTooLarge) = multipliedReportingOverflow(by: 1000)
        return Int(clamping: isTooLarge ? self / Swift.max(1, whole / 1000) : product / whole)
    }
}

extension Int64 {
    /// The microseconds as readable text: `850 µs`, `12.3 ms`, `1.25 s`, `3 min 20 s`, `5 h 10 min`, `2 d 4 h`.
    package var durationText: String {
        let sign = self < 0 ? "-" : ""
        let magnitude = Int64(clamping: magnitude)
        let seconds = magnitude / 1_000_000
        switch magnitude {
        case ..<1000: return "\(sign)\(magnitude) µs"
        case ..<10_000: return "\(sign)\(magnitude.decimalText(per: 1000, digits: 2)) ms"
        case ..<1_000_000: return "\(sign)\(magnitude.decimalText(per: 1000, digits: 1)) ms"
        case ..<60_000_000: return "\(sign)\(magnitude.decimalText(per: 1_000_000, digits: 2)) s"
        case ..<3_600_000_000: return "\(sign)\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400_000_000: return "\(sign)\(seconds / 3600) h \(seconds % 3600 / 60) min"
        default: return "\(sign)\(seconds / 86_400) d \(seconds % 86_400 / 3600) h"
        }
    }

    /// The value in another unit, rounded to one or two digits: 12345 per 1000 with one digit is `12.3`.
    package func decimalText(per unit: Int64, digits: Int) -> String {
        let scale: Int64 = digits == 1 ? 10 : 100
        let scaled = (self * scale + unit / 2) / unit
        return "\(scaled / scale).\(String(scale + scaled % scale).dropFirst())"
    }
}

extension Sequence {
    /// Returns the elements in a stable order, as `sorted(by:)` does.
    ///
    /// It sorts positions, because each specialization of `sorted(by:)` adds 3 KB to an app.
    @inlinable
    package func ordered(by isBefore: (Element, Element) -> Bool) -> [Element] {
        let elements = Array(self)
        return positions(0..<elements.count) { isBefore(elements[$0], elements[$1]) }.map { elements[$0] }
    }
}

@usableFromInline
@inline(never)
package func positions(_ range: Range<Int>, by isBefore: (Int, Int) -> Bool) -> [Int] { range.sorted(by: isBefore) }

/// Saturating arithmetic. Readers bound each number to ±(2^53 - 1), but a sum could overflow and trap.
extension Int64 {
    package var bounded: Int64 { Swift.min(Swift.max(self, -Limits.largestInteger), Limits.largestInteger) }

    package func adding(_ other: Int64) -> Int64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? (self < 0 ? -Limits.largestInteger : Limits.largestInteger) : sum.bounded
    }

    package func subtracting(_ other: Int64) -> Int64 {
        let (difference, isTooLarge) = subtractingReportingOverflow(other)
        return isTooLarge ? (self < 0 ? -Limits.largestInteger : Limits.largestInteger) : difference.bounded
    }
}

extension Duration {
    /// At most 285 years: `components` and `Task.sleep` trap for much longer durations.
    package var bounded: Duration {
        let longest = Limits.largestInteger / 1_000_000 - 1
        return min(max(self, .seconds(-longest)), .seconds(longest))
    }

    package var microseconds: Int64 {
        let (seconds, attoseconds) = bounded.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}

extension Date {
    package init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    package var microseconds: Int64 {
        let largest = Double(Limits.largestInteger)
        return Int64(min(max(timeIntervalSince1970 * 1_000_000, -largest), largest).rounded())
    }
}

extension Range<Date> {
    package init(microseconds: Range<Int64>) {
        self = Date(microseconds: microseconds.lowerBound)..<Date(microseconds: microseconds.upperBound)
    }

    package var microseconds: Range<Int64> { lowerBound.microseconds..<upperBound.microseconds }
}
