import Foundation

/// A string as it stands in a document, checked and not copied: to be compared with what is expected.
///
/// Valid as long as the bytes that its reader reads.
package struct JSONText {
    /// What stands between the quotation marks.
    let bytes: UnsafeBufferPointer<UInt8>
    let isEscaped: Bool

    /// The string itself.
    package var string: String {
        isEscaped ? String(decoding: JSONText.unescaped(bytes), as: UTF8.self) : String(decoding: bytes, as: UTF8.self)
    }

    /// For `switch text { case "kind": ... }`.
    package static func ~= (expected: StaticString, text: JSONText) -> Bool {
        if text.isEscaped { return text.string == expected.description }
        guard let start = text.bytes.baseAddress else { return expected.utf8CodeUnitCount == 0 }
        return text.bytes.count == expected.utf8CodeUnitCount
            && memcmp(start, expected.utf8Start, text.bytes.count) == 0
    }

    /// Replaces the escapes; `bytes` have passed `JSONReader.scanString()`.
    private static func unescaped(_ bytes: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                index += 1
                continue
            }
            let escape = bytes[index + 1]
            index += 2
            switch escape {
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"):
                var value = codeUnit(bytes, at: index)
                index += 4
                if value & 0xFC00 == 0xD800, let low = lowSurrogate(bytes, at: index) {
                    value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
                    index += 6
                }
                // Half of a pair is no scalar.
                let scalar = Unicode.Scalar(value) ?? "\u{FFFD}"
                result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            default: result.append(escape)
            }
        }
        return result
    }

    /// The second half of a surrogate pair, if its escape is there.
    private static func lowSurrogate(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt32? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u") else {
            return nil
        }
        let value = codeUnit(bytes, at: index + 2)
        return value & 0xFC00 == 0xDC00 ? value : nil
    }

    private static func codeUnit(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 << 4 | UInt32(bytes[index + $1].hexadecimalValue ?? 0) }
    }
}
