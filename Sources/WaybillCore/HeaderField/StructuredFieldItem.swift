/// An Item of structured fields, parsed strictly as RFC 9651, section 4.2, requires.
struct StructuredFieldItem {
    /// Waybill does not use the types in `other`; the parser only checks their syntax.
    enum BareItem: Equatable {
        case string(String)
        case integer(Int64)
        case boolean(Bool)
        case other
    }

    var value: BareItem
    var parameters: [String: BareItem]

    init?(parsing bytes: [UInt8]) {
        var parser = Parser(bytes: bytes)
        parser.skipSpaces()
        guard let value = parser.bareItem(), let parameters = parser.parameters() else { return nil }
        parser.skipSpaces()
        guard parser.isAtEnd else { return nil }
        self.value = value
        self.parameters = parameters
    }
}

private struct Parser {
    let bytes: [UInt8]
    var index = 0

    var isAtEnd: Bool { index == bytes.count }
    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func skipSpaces() {
        while take(" ") {}
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard current == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func take(while isAllowed: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let start = index
        while let byte = current, isAllowed(byte) { index += 1 }
        return bytes[start..<index]
    }

    /// Section 4.2.3.2.
    mutating func parameters() -> [String: StructuredFieldItem.BareItem]? {
        var parameters: [String: StructuredFieldItem.BareItem] = [:]
        while take(";") {
            skipSpaces()
            guard let key = key() else { return nil }
            var value = StructuredFieldItem.BareItem.boolean(true)
            if take("=") {
                guard let item = bareItem() else { return nil }
                value = item
            }
            parameters[key] = value
        }
        return parameters
    }

    /// Section 4.2.3.3.
    private mutating func key() -> String? {
        guard let first = current, first.isSmallLetter || first == UInt8(ascii: "*") else { return nil }
        let key = take { $0.isSmallLetter || $0.isDigit || "_-.*".utf8.contains($0) }
        return String(decoding: key, as: UTF8.self)
    }

    /// Section 4.2.3.1.
    mutating func bareItem() -> StructuredFieldItem.BareItem? {
        guard let first = current else { return nil }
        switch first {
        case _ where first.isDigit || first == UInt8(ascii: "-"): return number()
        case UInt8(ascii: "\""): return string()
        case _ where first.isLetter || first == UInt8(ascii: "*"): return token()
        case UInt8(ascii: ":"): return byteSequence()
        case UInt8(ascii: "?"): return boolean()
        case UInt8(ascii: "@"): return date()
        case UInt8(ascii: "%"): return displayString()
        default: return nil
        }
    }

    private mutating func number() -> StructuredFieldItem.BareItem? {
        let isNegative = take("-")
        let digits = take { $0.isDigit }
        guard (1...15).contains(digits.count) else { return nil }
        if take(".") {
            let fraction = take { $0.isDigit }
            return digits.count <= 12 && (1...3).contains(fraction.count) ? .other : nil
        }
        let magnitude = digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        return .integer(isNegative ? -magnitude : magnitude)
    }

    /// Section 4.2.5.
    private mutating func string() -> StructuredFieldItem.BareItem? {
        index += 1
        var result: [UInt8] = []
        while let byte = current {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return .string(String(decoding: result, as: UTF8.self))
            case UInt8(ascii: "\\"):
                guard let escaped = current, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    return nil
                }
                index += 1
                result.append(escaped)
            case 0x20...0x7E: result.append(byte)
            default: return nil
            }
        }
        return nil
    }

    private mutating func token() -> StructuredFieldItem.BareItem? {
        _ = take { $0.isLetter || $0.isDigit || "!#$%&'*+-.^_`|~:/".utf8.contains($0) }
        return .other
    }

    private mutating func byteSequence() -> StructuredFieldItem.BareItem? {
        index += 1
        let digits = take { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
        let padding = take { $0 == UInt8(ascii: "=") }
        let isWhole =
            padding.isEmpty ? digits.count % 4 != 1 : padding.count <= 2 && (digits.count + padding.count) % 4 == 0
        return isWhole && take(":") ? .other : nil
    }

    /// Section 4.2.8.
    private mutating func boolean() -> StructuredFieldItem.BareItem? {
        index += 1
        if take("1") { return .boolean(true) }
        return take("0") ? .boolean(false) : nil
    }

    private mutating func date() -> StructuredFieldItem.BareItem? {
        index += 1
        guard let first = current, first.isDigit || first == UInt8(ascii: "-"), case .integer? = number() else {
            return nil
        }
        return .other
    }

    /// Section 4.2.10: UTF-8, percent-encoded in lowercase.
    private mutating func displayString() -> StructuredFieldItem.BareItem? {
        index += 1
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = current {
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(utf8: text) == nil ? nil : .other
            case UInt8(ascii: "%"):
                let digits = bytes[index...].prefix(2)
                guard digits.count == 2,
                    !digits.contains(where: { !$0.isDigit && !(UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }),
                    let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
                else { return nil }
                index += 2
                text.append(value)
            case 0x20...0x7E: text.append(byte)
            default: return nil
            }
        }
        return nil
    }
}
