extension [UInt8] {
    /// Adds a number in decimal digits, with a minus sign where it is negative.
    package mutating func append(decimal value: Int64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = digits.count
            var rest = value.magnitude
            while rest >= 100 {
                let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
                rest = quotient
                start -= 2
                Self.write(pair: pair, to: digits, at: start)
            }
            if rest >= 10 {
                start -= 2
                Self.write(pair: rest, to: digits, at: start)
            } else {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest)
            }
            if value < 0 {
                start -= 1
                digits[start] = UInt8(ascii: "-")
            }
            append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
        }
    }

    private static func write(pair: UInt64, to digits: UnsafeMutableBufferPointer<UInt8>, at place: Int) {
        let (tens, units) = UInt8(truncatingIfNeeded: pair).quotientAndRemainder(dividingBy: 10)
        digits[place] = UInt8(ascii: "0") + tens
        digits[place + 1] = UInt8(ascii: "0") + units
    }
}
