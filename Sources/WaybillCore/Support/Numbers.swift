package import Foundation

/// How long the parts of a fact may be; what is longer is truncated when recorded, counted, and refused when received.
/// And how much may stand beside the facts of a set.
///
/// Lengths count Unicode scalars, as JSON Schema does. The same numbers stand in `Schemas/`.
package enum Limits {
    /// Attributes of one transaction, event, exchange or source.
    package static let attributes = 32
    /// The name of an attribute or of a header field.
    package static let nameLength = 128
    /// The value of an attribute.
    package static let valueLength = 1024
    /// A use case's or event's name, an error's domain, an app's or a device's name, a host, a method.
    package static let labelLength = 256
    /// The text of an error.
    package static let textLength = 2048
    /// Errors behind an error.
    package static let underlyingErrors = 4
    /// The path or the query of a URL, or the value of a header field.
    package static let fieldLength = 4096
    /// Header fields of a request or of a response.
    package static let headerFields = 64
    /// Redirects that are kept of an exchange.
    package static let redirects = 20
    /// Messages of a WebSocket that are kept: one half of them from its beginning, the other from its end.
    package static let webSocketMessages = 500
    /// Facts that a source is believed to have recorded: 2^40, a million each second for twelve days. A receiver adds
    /// up what many sources tell.
    package static let recordedFacts: Int64 = 1 << 40
    /// Sampling rates of one receipt.
    package static let samplingRates = 256
    /// Sources of one set.
    package static let sources = 1_000
    /// Clock anchors of one set, names, and ranges of dropped facts: so many of each, in all its sources together. A
    /// store keeps no more anchors of a source than this.
    package static let envelopeItems = 20_000
    /// Names that a store takes from others, of all apps and versions together: a hundred versions with 2,000 each.
    package static let names = 10 * envelopeItems
    /// The largest integer that a reader of doubles gets right: 2^53 - 1.
    package static let largestInteger: Int64 = (1 << 53) - 1
    /// The largest code of a use case or of an event: those are cases of an enum of the app's, and so an `Int`.
    package static let largestCode = Int(clamping: largestInteger)
}

extension FixedWidthInteger {
    /// The quotient rounded down, also below zero, and a remainder that is never negative.
    package func quotientAndRemainder(flooringBy divisor: Self) -> (quotient: Self, remainder: Self) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension FixedWidthInteger {
    /// How many thousandths of a whole it is, rounded towards 0. What is so large that a thousand times as much is no
    /// number any more is told less exactly.
    package func thousandths(of whole: Self) -> Int {
        let (product, isTooLarge) = multipliedReportingOverflow(by: 1000)
        return Int(clamping: isTooLarge ? self / Swift.max(1, whole / 1000) : product / whole)
    }
}

extension Int64 {
    /// Microseconds as people read them: `850 µs`, `12.3 ms`, `1.25 s`, `3 min 20 s`, `5 h 10 min`, `2 d 4 h`.
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

    /// In another unit, rounded: 12345 per 1000 with one digit is `12.3`.
    ///
    /// - Parameter digits: After the point: 1 or 2.
    package func decimalText(per unit: Int64, digits: Int) -> String {
        let scale: Int64 = digits == 1 ? 10 : 100
        let scaled = (self * scale + unit / 2) / unit
        return "\(scaled / scale).\(String(scale + scaled % scale).dropFirst())"
    }
}

/// Arithmetic on numbers from outside.
///
/// One number of a set, a store or a file is within ±(2^53 - 1), because its reader sees to that. A sum of many such
/// numbers need not be, and an overflow would end the process.
extension Int64 {
    /// The nearest number that every format of Waybill holds: ±(2^53 - 1).
    package var bounded: Int64 { Swift.min(Swift.max(self, -Limits.largestInteger), Limits.largestInteger) }

    /// Returns the sum, or the nearest number that every format holds.
    package func adding(_ other: Int64) -> Int64 {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        // Only two numbers of the same sign overflow.
        return isTooLarge ? (self < 0 ? -Limits.largestInteger : Limits.largestInteger) : sum.bounded
    }

    /// Returns the difference, or the nearest number that every format holds.
    package func subtracting(_ other: Int64) -> Int64 {
        let (difference, isTooLarge) = subtractingReportingOverflow(other)
        return isTooLarge ? (self < 0 ? -Limits.largestInteger : Limits.largestInteger) : difference.bounded
    }
}

extension Duration {
    /// Whole microseconds, no further from 0 than what a fact can hold.
    package var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let largestSeconds = Limits.largestInteger / 1_000_000 - 1
        return max(-largestSeconds, min(seconds, largestSeconds)) * 1_000_000
            + attoseconds / 1_000_000_000_000
    }
}

extension Date {
    /// - Parameter microseconds: Since 1970.
    package init(microseconds: Int64) { self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    /// Microseconds since 1970; of dates beyond all recording the furthest that a fact can hold.
    package var microseconds: Int64 {
        let largest = Double(Limits.largestInteger)
        return Int64(min(max(timeIntervalSince1970 * 1_000_000, -largest), largest).rounded())
    }
}

extension Range<Date> {
    /// - Parameter microseconds: Since 1970.
    package init(microseconds: Range<Int64>) {
        self = Date(microseconds: microseconds.lowerBound)..<Date(microseconds: microseconds.upperBound)
    }

    /// Microseconds since 1970.
    package var microseconds: Range<Int64> { lowerBound.microseconds..<upperBound.microseconds }
}
