extension [UInt8] {
    /// Adds a number in decimal digits, with a minus sign where it is negative.
    package mutating func append(decimal value: Int64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: DecimalDigits.mostByteCount) { digits in
            let end = DecimalDigits.write(value, to: digits, at: 0)
            append(contentsOf: UnsafeBufferPointer(rebasing: digits[..<end]))
        }
    }
}

/// Numbers in decimal digits.
package enum DecimalDigits {
    /// The most bytes that a number takes, its sign among them.
    package static var mostByteCount: Int { 20 }

    /// Writes a number, with a minus sign where it is negative.
    ///
    /// - Parameters:
    ///   - bytes: With room for ``mostByteCount`` from there on.
    ///   - start: Where it begins.
    /// - Returns: The place behind it.
    package static func write(_ value: Int64, to bytes: UnsafeMutableBufferPointer<UInt8>, at start: Int) -> Int {
        var rest = value.magnitude
        var place = start + digitCount(rest)
        if value < 0 {
            bytes[start] = UInt8(ascii: "-")
            place += 1
        }
        let end = place
        while rest >= 100 {
            let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
            rest = quotient
            place -= 2
            write(pair: pair, to: bytes, at: place)
        }
        if rest >= 10 {
            write(pair: rest, to: bytes, at: place - 2)
        } else {
            bytes[place - 1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest)
        }
        return end
    }

    private static func digitCount(_ magnitude: UInt64) -> Int {
        // No `Int64` has more than 19 digits, and ten to the 19th fits.
        var (count, power): (Int, UInt64) = (1, 10)
        while magnitude >= power, count < 19 { (count, power) = (count + 1, power * 10) }
        return count
    }

    private static func write(pair: UInt64, to bytes: UnsafeMutableBufferPointer<UInt8>, at place: Int) {
        let (tens, units) = UInt8(truncatingIfNeeded: pair).quotientAndRemainder(dividingBy: 10)
        bytes[place] = UInt8(ascii: "0") + tens
        bytes[place + 1] = UInt8(ascii: "0") + units
    }
}
