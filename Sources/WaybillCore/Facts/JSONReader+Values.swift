/// The values that the formats are made of, with their limits.
extension JSONReader {
    /// A whole number, written without fraction or exponent.
    package mutating func integer<Number: FixedWidthInteger>(
        in range: ClosedRange<Number>
    ) throws(JSONFailure) -> Number {
        let first = next
        guard first == UInt8(ascii: "-") || first.isDigit else { throw unexpected("an integer") }
        let start = offset
        guard try scanNumber() else { throw JSONFailure(.invalid, at: start, "an integer was expected") }
        guard let value = integer(from: start, to: offset).flatMap(Number.init(exactly:)), range.contains(value) else {
            throw JSONFailure(
                .invalid, at: start, "an integer from \(range.lowerBound) to \(range.upperBound) was expected")
        }
        return value
    }

    /// The text of a number of any size.
    package mutating func numberText() throws(JSONFailure) -> String {
        let first = next
        guard first == UInt8(ascii: "-") || first.isDigit else { throw unexpected("a number") }
        let start = offset
        _ = try scanNumber()
        return String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
    }

    /// A whole number from 0 to 2^53 - 1, or to the largest that its type holds here.
    package mutating func count<Number: FixedWidthInteger>() throws(JSONFailure) -> Number {
        try integer(in: 0...Number(clamping: Limits.largestInteger))
    }

    /// A string of at most `limit` Unicode scalars.
    package mutating func string(limit: Int, atLeast minimum: Int = 0) throws(JSONFailure) -> String {
        let text = try text()
        // No scalar takes less than a byte.
        if text.bytes.count <= limit, !text.isEscaped, text.bytes.count >= minimum { return text.string }
        let string = text.string
        guard !string.isLonger(than: limit) else { throw invalid(text, "longer than \(limit) characters") }
        guard string.utf8.count >= minimum else { throw invalid(text, "empty") }
        return string
    }

    /// A UUID in its canonical form, in either case.
    package mutating func guid() throws(JSONFailure) -> GUID {
        let text = try text()
        guard let guid = text.isEscaped ? GUID(text.string) : GUID(utf8: text.bytes) else {
            throw invalid(text, "a UUID of 36 characters was expected")
        }
        return guid
    }

    /// A string, integer, double or bool. What has a fraction or an exponent is a double.
    package mutating func attributeValue() throws(JSONFailure) -> AttributeValue {
        switch next {
        case UInt8(ascii: "\""): return .string(try string(limit: Limits.valueLength))
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool(try bool())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let start = offset
            if try scanNumber() {
                guard let value = integer(from: start, to: offset), value.magnitude <= Limits.largestInteger
                else {
                    throw JSONFailure(.invalid, at: start, "an integer beyond 2^53")
                }
                return .integer(value)
            }
            let digits = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
            guard let value = Double(digits), value.isFinite else {
                throw JSONFailure(.invalid, at: start, "a number too large for a double")
            }
            return .double(value)
        default: throw unexpected("a string, a number, true or false")
        }
    }

    /// A value that was read and is not right; its text starts after the quotation mark.
    package func invalid(_ text: JSONText, _ message: String) -> JSONFailure {
        let start = text.bytes.baseAddress.flatMap { text in bytes.baseAddress.map { text - $0 - 1 } } ?? offset
        return JSONFailure(.invalid, at: start, message)
    }

    /// The value of digits that `scanNumber()` has passed; nil when it does not fit.
    private func integer(from start: Int, to end: Int) -> Int64? {
        let isNegative = bytes[start] == UInt8(ascii: "-")
        let first = isNegative ? start + 1 : start
        // 18 digits always fit, and 2^53 has 16.
        guard end - first <= 18 else { return nil }
        var value: Int64 = 0
        for index in first..<end { value = value &* 10 &+ Int64(bytes[index] &- UInt8(ascii: "0")) }
        return isNegative ? -value : value
    }
}
