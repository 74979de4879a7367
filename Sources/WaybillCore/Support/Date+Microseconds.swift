package import Foundation

extension Date {
    /// - Parameter microseconds: Since 1970.
    package init(microseconds: Int) { self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000) }

    /// Microseconds since 1970; of dates beyond all recording the furthest that a fact can hold.
    package var microseconds: Int {
        let largest = Double(Limits.largestInteger)
        return Int(min(max(timeIntervalSince1970 * 1_000_000, -largest), largest).rounded())
    }
}

extension Range<Date> {
    /// - Parameter microseconds: Since 1970.
    package init(microseconds: Range<Int>) {
        self = Date(microseconds: microseconds.lowerBound)..<Date(microseconds: microseconds.upperBound)
    }

    /// Microseconds since 1970.
    package var microseconds: Range<Int> { lowerBound.microseconds..<upperBound.microseconds }
}
