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
