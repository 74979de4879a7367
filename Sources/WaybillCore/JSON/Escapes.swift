import Foundation

/// The loop that all escape notations share. It is lenient, because redaction reads texts that nobody has validated.
private enum Escapes {
    /// `decode` appends the meaning of the escape after the mark, and returns its length there.
    static func decoded(
        _ bytes: [UInt8], after mark: UInt8, _ decode: (_ rest: ArraySlice<UInt8>, _ result: inout [UInt8]) -> Int?
    ) -> [UInt8] {
        guard bytes.contains(mark) else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let place = rest.firstIndex(of: mark) {
            result += rest[..<place]
            rest = rest[(place + 1)...]
            if let count = decode(rest, &result) { rest = rest.dropFirst(count) } else { result.append(mark) }
        }
        result += rest
        return result
    }

    static func number(_ bytes: ArraySlice<UInt8>, digits count: Int) -> UInt32? {
        guard bytes.count >= count else { return nil }
        var value: UInt32 = 0
        for byte in bytes.prefix(count) {
            guard let digit = byte.hexadecimalValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}

/// Percent-encoding (RFC 3986, section 2.1).
package enum PercentEncoding {
    package static func decoded(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = false) -> [UInt8] {
        var bytes = Array(bytes)
        if plusIsSpace {
            for index in bytes.indices where bytes[index] == UInt8(ascii: "+") { bytes[index] = UInt8(ascii: " ") }
        }
        return Escapes.decoded(bytes, after: UInt8(ascii: "%")) { rest, result in
            guard let byte = Escapes.number(rest, digits: 2) else { return nil }
            result.append(UInt8(byte))
            return 2
        }
    }

    /// The fields of a query or a form (url.spec.whatwg.org, section 5.1).
    package static func fields(of text: some StringProtocol) -> [(name: String, value: String)] {
        text.utf8.split(separator: UInt8(ascii: "&")).map { field in
            let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(decoding: decoded($0, plusIsSpace: true), as: UTF8.self) }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }

    /// Encodes all but unreserved characters (RFC 3986, section 2.3).
    package static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? text
    }

    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}

/// The escapes of a JSON string (RFC 8259, section 7).
enum JSONEscapes {
    static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        Escapes.decoded(bytes, after: UInt8(ascii: "\\")) { rest, result in
            guard let letter = rest.first else { return nil }
            guard letter == UInt8(ascii: "u"), let unit = Escapes.number(rest.dropFirst(), digits: 4) else {
                result.append(meaning(of: letter))
                return 1
            }
            let next = rest.dropFirst(5)
            if unit & 0xFC00 == 0xD800, next.starts(with: #"\u"#.utf8),
                let second = Escapes.number(next.dropFirst(2), digits: 4), second & 0xFC00 == 0xDC00
            {
                result += scalar(0x10000 + (unit & 0x3FF) << 10 + second & 0x3FF)
                return 11
            }
            result += scalar(unit)
            return 5
        }
    }

    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 2)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 0x0A: result += #"\n"#.utf8
            case 0..<0x20: result += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: result.append(byte)
            }
        }
        return result
    }

    private static func scalar(_ number: UInt32) -> Unicode.Scalar.UTF8View {
        (Unicode.Scalar(number) ?? "\u{FFFD}").utf8
    }

    private static func meaning(of letter: UInt8) -> UInt8 {
        switch Unicode.Scalar(letter) {
        case "b": 0x08
        case "f": 0x0C
        case "n": 0x0A
        case "r": 0x0D
        case "t": 0x09
        default: letter
        }
    }
}

/// Character references of XML and HTML (XML 1.0, section 4.1).
enum CharacterReferences {
    private static let named: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "equals": "=", "colon": ":", "nbsp": " ",
    ]

    static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        Escapes.decoded(bytes, after: UInt8(ascii: "&")) { rest, result in
            let name = rest.prefix(10).prefix { $0 != UInt8(ascii: ";") }
            guard name.endIndex < rest.endIndex, rest[name.endIndex] == UInt8(ascii: ";"),
                let meaning = meaning(of: String(decoding: name, as: UTF8.self))
            else { return nil }
            result += meaning.utf8
            return name.count + 1
        }
    }

    private static func meaning(of name: String) -> Unicode.Scalar? {
        guard name.hasPrefix("#") else { return named[name] }
        let digits = name.dropFirst()
        let number = digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init)
    }
}
