/// One unit for a column of times, so that they line up and can be compared at a glance.
package struct TimeScale {
    /// `ms`; nil where the times are too different for one unit, and each has its own.
    package let unit: String?
    private let divisor: Int64
    private let decimals: Int

    /// - Parameter longest: The longest of the times, in microseconds.
    package init(longest: Int64) {
        switch longest {
        case ..<10_000: (unit, divisor, decimals) = ("µs", 1, 0)
        case ..<100_000: (unit, divisor, decimals) = ("ms", 1000, 2)
        case ..<10_000_000: (unit, divisor, decimals) = ("ms", 1000, 1)
        case ..<600_000_000: (unit, divisor, decimals) = ("s", 1_000_000, 3)
        default: (unit, divisor, decimals) = (nil, 1, 0)
        }
    }

    /// One unit for all values, hours at most.
    ///
    /// - Parameter typical: One of the longer times, in microseconds.
    package init(column typical: Int64) {
        switch typical {
        case ..<600_000_000: self.init(longest: typical)
        case ..<36_000_000_000: self.init(unit: "min", divisor: 60_000_000, decimals: 1)
        default: self.init(unit: "h", divisor: 3_600_000_000, decimals: 1)
        }
    }

    private init(unit: String, divisor: Int64, decimals: Int) {
        (self.unit, self.divisor, self.decimals) = (unit, divisor, decimals)
    }

    /// `38.0`.
    package func text(_ microseconds: Int64) -> String {
        guard unit != nil else { return Words.duration(microseconds) }
        guard decimals > 0 else { return String(microseconds) }
        let power: UInt64 = [1, 10, 100, 1000][decimals]
        let magnitude = min(microseconds.magnitude, UInt64.max / 2000)
        let scaled = (magnitude * power + UInt64(divisor / 2)) / UInt64(divisor)
        let (whole, fraction) = scaled.quotientAndRemainder(dividingBy: power)
        return "\(microseconds < 0 ? "-" : "")\(whole).\(String(power + fraction).dropFirst())"
    }
}
