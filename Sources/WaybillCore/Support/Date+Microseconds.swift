package import Foundation

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
