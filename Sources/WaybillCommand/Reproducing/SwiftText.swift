#if Collector
import WaybillCore

extension String {
    /// Recorded text can't end the literal, and can't become code.
    var swiftLiteral: String { "\"\(swiftEscaped)\"" }

    /// The text for a literal or a comment. Only printable ASCII stays as it is: line ends would end a comment, and
    /// right-to-left marks would show the line in another order than the compiler reads it.
    var swiftEscaped: String {
        unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case " "..."~": text.unicodeScalars.append(scalar)
            default: text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        }
    }

    /// JSON for a raw string literal with one number sign: without another sign, no text can end it or interpolate.
    var swiftRawJSON: String {
        unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\n", " "..."\"", "$"..."~": text.unicodeScalars.append(scalar)
            default:
                for unit in UTF16.encode(scalar) ?? .init() {
                    text += "\\u" + String(String(0x10000 | UInt32(unit), radix: 16).suffix(4))
                }
            }
        }
    }

    /// The ASCII letters and digits as a type's name, at most 40; empty without any.
    var swiftTypeName: String {
        let words = utf8.split { !$0.isLetterOrDigit }.map { String(Substring($0)) }
        let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined().drop { $0.isNumber }
        return String(name.prefix(40))
    }
}
#endif
