import TestSupport
import WaybillCore
import WaybillTesting

/// Replaces some numbers in a JSON text by extreme ones, as an attacker might to crash its reader.
struct ExtremeNumbers {
    /// Numbers that a set may contain by its schema, including the limits.
    static let ofSets: [Int64] = [
        0, 1, 2, 1_000_000, 1 << 31, 1 << 40, Limits.largestInteger - 1, Limits.largestInteger,
        -Limits.largestInteger, -1, 1_700_000_000_000_000,
    ]
    /// Numbers that spans and files may contain.
    static let ofAnyInteger: [Int64] =
        ofSets + [.max, .min, .max - 1, .min + 1, 1 << 62, -(1 << 62), 10_000_000_000_000_000]

    var random: RandomNumbers
    var numbers: [Int64]
    /// Replaces one number in `rarity`.
    var rarity: Int

    /// Replaces integers, including those written as strings.
    mutating func spread(in json: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(json.count)
        var (index, isInString) = (0, false)
        while index < json.count {
            let byte = json[index]
            if byte == UInt8(ascii: "\""), json[..<index].last != UInt8(ascii: "\\") { isInString.toggle() }
            // A string of only digits is a 64-bit integer.
            let isStart = !isInString || json[..<index].last == UInt8(ascii: "\"")
            let end = json[index...].dropFirst(byte == UInt8(ascii: "-") ? 1 : 0).prefix { $0.isDigit }.endIndex
            let isNumber = isStart && (byte.isDigit || byte == UInt8(ascii: "-")) && end > index
            guard isNumber, end < json.count,
                isInString ? json[end] == UInt8(ascii: "\"") : !".eE".utf8.contains(json[end])
            else {
                result.append(byte)
                index += 1
                continue
            }
            if random.oneIn(rarity), let number = numbers.randomElement(using: &random) {
                result += "\(number)".utf8
            } else {
                result += json[index..<end]
            }
            index = end
        }
        return result
    }
}
