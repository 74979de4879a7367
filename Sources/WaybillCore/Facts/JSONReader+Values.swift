extension JSONReader {
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

    /// Returns a reader at the value of the object's next member of that name; `nil` if there is none.
    func ahead(at name: StaticString) throws(JSONFailure) -> JSONReader? {
        var ahead = self
        try ahead.beginObject()
        while let key = try ahead.nextKey() {
            if name ~= key { return ahead }
            try ahead.skipValue()
        }
        return nil
    }

    package mutating func valueText() throws(JSONFailure) -> String {
        skipWhitespace()
        let start = offset
        try skipValue()
        return String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
    }

    package mutating func numberText() throws(JSONFailure) -> String {
        guard next == UInt8(ascii: "-") || next.isDigit else { throw unexpected("a number") }
        return try valueText()
    }

    /// Reads an integer from 0 to 2^53 - 1, or to the maximum of its type on this platform.
    package mutating func count<Number: FixedWidthInteger>() throws(JSONFailure) -> Number {
        try integer(in: 0...Number(clamping: Limits.largestInteger))
    }

    package mutating func string(limit: Int, atLeast minimum: Int = 0) throws(JSONFailure) -> String {
        let text = try text()
        if text.bytes.count <= limit, !text.isEscaped, text.bytes.count >= minimum { return text.string }
        let string = text.string
        guard !string.isLonger(than: limit) else { throw invalid(text, "longer than \(limit) characters") }
        guard string.utf8.count >= minimum else { throw invalid(text, "empty") }
        return string
    }

    package mutating func guid() throws(JSONFailure) -> GUID {
        let text = try text()
        guard let guid = text.isEscaped ? GUID(text.string) : GUID(utf8: text.bytes) else {
            throw invalid(text, "a UUID of 36 characters was expected")
        }
        return guid
    }

    /// Reads a string, number or Boolean. A number with a fraction or an exponent is a double.
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

    /// A failure at the start of a text, whose bytes begin after the quotation mark.
    package func invalid(_ text: JSONText, _ message: String) -> JSONFailure {
        let start = text.bytes.baseAddress.flatMap { text in bytes.baseAddress.map { text - $0 - 1 } } ?? offset
        return JSONFailure(.invalid, at: start, message)
    }

    private func integer(from start: Int, to end: Int) -> Int64? {
        let isNegative = bytes[start] == UInt8(ascii: "-")
        let first = isNegative ? start + 1 : start
        // 18 digits always fit; 2^53 has 16.
        guard end - first <= 18 else { return nil }
        var value: Int64 = 0
        for index in first..<end { value = value &* 10 &+ Int64(bytes[index] &- UInt8(ascii: "0")) }
        return isNegative ? -value : value
    }
}

extension JSONReader {
    /// Reads a date and time of RFC 3339 with at most 9 decimals, as microseconds since 1970. A `Date` would round them.
    mutating func date() throws(JSONFailure) -> Int64 {
        let text = try text()
        guard let date = Self.date(text.string.utf8) else {
            throw invalid(text, "a time like \"2026-11-25T18:57:59.432Z\" was expected (RFC 3339)")
        }
        return date
    }

    private static func date(_ text: String.UTF8View) -> Int64? {
        let bytes = Array(text)
        guard (20...35).contains(bytes.count) else { return nil }
        func number(_ range: Range<Int>, in allowed: ClosedRange<Int>) -> Int? {
            guard range.upperBound <= bytes.count, bytes[range].allSatisfy(\.isDigit) else { return nil }
            let value = bytes[range].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            return allowed.contains(value) ? value : nil
        }
        guard let year = number(0..<4, in: 1970...2200), let month = number(5..<7, in: 1...12),
            let day = number(8..<10, in: 1...31), let hour = number(11..<13, in: 0...23),
            let minute = number(14..<16, in: 0...59), let second = number(17..<19, in: 0...60),
            bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[10] | 0x20 == UInt8(ascii: "t"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":")
        else { return nil }
        var (place, microseconds): (Int, Int64) = (19, 0)
        if bytes[place] == UInt8(ascii: ".") {
            let decimals = bytes[(place + 1)...].prefix { $0.isDigit }
            guard (1...9).contains(decimals.count) else { return nil }
            place += 1 + decimals.count
            let digits = decimals.prefix(6).map { Int64($0 - UInt8(ascii: "0")) }
            microseconds = (digits + Array(repeating: 0, count: 6 - digits.count)).reduce(0) { $0 * 10 + $1 }
        }
        guard place < bytes.count else { return nil }
        var offset = 0
        if bytes[place] | 0x20 == UInt8(ascii: "z") {
            guard place + 1 == bytes.count else { return nil }
        } else {
            guard [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(bytes[place]), place + 6 == bytes.count,
                let hours = number(place + 1..<place + 3, in: 0...23), bytes[place + 3] == UInt8(ascii: ":"),
                let minutes = number(place + 4..<place + 6, in: 0...59)
            else { return nil }
            offset = (hours * 60 + minutes) * (bytes[place] == UInt8(ascii: "-") ? -60 : 60)
        }
        guard let days = CalendarDay.number(year, month, day) else { return nil }
        let minutes = (Int64(days) * 24 + Int64(hour)) * 60 + Int64(minute)
        return (minutes * 60 + Int64(second - offset)) * 1_000_000 + microseconds
    }
}

package enum CalendarDay {
    /// The days since 1970 to a day of the Gregorian calendar, with months from 1; `nil` if the month is shorter.
    package static func number(_ year: Int, _ month: Int, _ day: Int) -> Int? {
        let length = [
            31, year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31,
        ]
        guard day <= length[month - 1] else { return nil }
        // By counting years from March: howardhinnant.github.io/date_algorithms.html.
        let (shifted, march) = (month <= 2 ? year - 1 : year, (month + 9) % 12)
        return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + (153 * march + 2) / 5 + day - 719_469
    }
}
