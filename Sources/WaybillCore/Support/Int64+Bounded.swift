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
