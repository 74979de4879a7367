import Foundation

/// How values are encoded in their places, and decoded again.
extension RedactionCorpus {
    static func percent(_ text: String) -> String {
        text.utf8.map { byte in
            byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
                ? String(Character(Unicode.Scalar(byte))) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// Escapes only the characters that would end a value.
    static func escapingMarks(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("&", with: "%26").replacing("#", with: "%23").replacing(
            "\n", with: "%0A")
    }

    package static func json(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    static func escaped(_ text: String) -> String {
        text.utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }

    static func markup(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;").replacing("<", with: "&lt;")
    }

    /// Quotes a text that would end at its first space.
    static func quoted(_ text: String) -> String { text.contains(" ") ? "\"\(json(text))\"" : text }

    /// The decodings of a text by its readers: as a form, as JSON once and twice, as markup.
    static func decodings(of text: String) -> [String] {
        let json = unescaped(text)
        let spaced = text.replacing("+", with: " ")
        return [
            text.removingPercentEncoding ?? "", spaced.removingPercentEncoding ?? "", spaced, json, unescaped(json),
            text.replacing("&quot;", with: "\"").replacing("&lt;", with: "<").replacing("&amp;", with: "&"),
        ]
    }

    /// Resolves the escapes of a JSON string.
    private static func unescaped(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let mark = rest.firstIndex(of: "\\") {
            result += rest[..<mark]
            rest = rest[rest.index(after: mark)...]
            guard let letter = rest.popFirst() else { break }
            switch letter {
            case "n": result += "\n"
            case "u":
                result += UInt32(rest.prefix(4), radix: 16).flatMap(Unicode.Scalar.init).map { String($0) } ?? ""
                rest = rest.dropFirst(4)
            default: result.append(letter)
            }
        }
        return result + rest
    }
}
