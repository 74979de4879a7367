/// One unit for a column of times, so that they line up and can be compared at a glance.
struct TimeScale {
    /// `ms`; nil where the times are too different for one unit, and each has its own.
    let unit: String?
    private let divisor: Int
    private let decimals: Int

    /// - Parameter longest: The longest of the times, in microseconds.
    init(longest: Int) {
        switch longest {
        case ..<10_000: (unit, divisor, decimals) = ("µs", 1, 0)
        case ..<100_000: (unit, divisor, decimals) = ("ms", 1000, 2)
        case ..<10_000_000: (unit, divisor, decimals) = ("ms", 1000, 1)
        case ..<600_000_000: (unit, divisor, decimals) = ("s", 1_000_000, 3)
        default: (unit, divisor, decimals) = (nil, 1, 0)
        }
    }

    /// `38.0`.
    func text(_ microseconds: Int) -> String {
        guard unit != nil else { return Words.duration(microseconds) }
        guard decimals > 0 else { return String(microseconds) }
        let power = [1, 10, 100, 1000][decimals]
        let scaled = (microseconds.magnitude * UInt(power) + UInt(divisor / 2)) / UInt(divisor)
        let (whole, fraction) = scaled.quotientAndRemainder(dividingBy: UInt(power))
        return "\(microseconds < 0 ? "-" : "")\(whole).\(String(UInt(power) + fraction).dropFirst())"
    }
}
