import WaybillCore

/// A piece of HTML or SVG. Literals are markup, and interpolation escapes every `String`. Put text in attributes
/// between double quotation marks.
///
/// ## Usage
///
/// ```swift
/// let row: HTML = "<tr title=\"\(hint)\"><td>\(name)<td>\(HTML.raw(icon))</tr>"
/// ```
package struct HTML: Sendable, Hashable {
    package private(set) var bytes: [UInt8]

    package init() { bytes = [] }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Wraps our own markup. Never pass recorded text.
    package static func raw(_ markup: String) -> HTML { HTML(bytes: Array(markup.utf8)) }

    /// Wraps our own assets in UTF-8. Never pass recorded text.
    package static func raw(_ bytes: [UInt8]) -> HTML { HTML(bytes: bytes) }

    package static func += (left: inout HTML, right: HTML) { left.bytes += right.bytes }

    package var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension HTML: ExpressibleByStringInterpolation {
    package init(stringLiteral markup: String) { self = .raw(markup) }

    package init(stringInterpolation: StringInterpolation) { bytes = stringInterpolation.bytes }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var bytes: [UInt8] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        package mutating func appendLiteral(_ markup: String) { bytes += markup.utf8 }

        package mutating func appendInterpolation(_ text: String) { HTMLText.append(text, to: &bytes) }

        package mutating func appendInterpolation(_ number: some FixedWidthInteger) { bytes += String(number).utf8 }

        /// Appends a percentage without its sign, for example `23.4`.
        package mutating func appendInterpolation(percent tenths: Int) {
            appendInterpolation(tenths / 10)
            if tenths % 10 != 0 { bytes += [UInt8(ascii: "."), UInt8(ascii: "0") + UInt8(abs(tenths % 10))] }
        }

        package mutating func appendInterpolation(_ piece: HTML) { bytes += piece.bytes }

        /// Appends markup under a condition: `"<b\(" class=bad", if: hasFailed)>"`.
        package mutating func appendInterpolation(_ piece: HTML, if condition: Bool) {
            if condition { bytes += piece.bytes }
        }

        package mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { bytes += piece.bytes } }
    }
}

enum HTMLText {
    /// U+FFFD replaces control characters, bidirectional controls ("Trojan Source", CVE-2021-42574) and zero-width
    /// characters, as in `String.printable`.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { text in
            var start = 0  // the first byte that has not been copied
            var index = 0
            while index < text.count {
                guard let (length, replacement) = replacement(for: text, at: index) else {
                    index += 1
                    continue
                }
                bytes += text[start..<index]
                replacement.withUTF8Buffer { bytes += $0 }
                index += length
                start = index
            }
            bytes += text[start...]
        }
    }

    /// Returns the replacement and the number of replaced bytes; `nil` for an unchanged byte.
    private static func replacement(for text: UnsafeBufferPointer<UInt8>, at index: Int) -> (length: Int, StaticString)?
    {
        switch text[index] {
        case UInt8(ascii: "&"): (1, "&amp;")
        case UInt8(ascii: "<"): (1, "&lt;")
        case UInt8(ascii: ">"): (1, "&gt;")
        case UInt8(ascii: "\""): (1, "&quot;")
        case UInt8(ascii: "\t"), UInt8(ascii: "\n"): nil
        case ..<0x20, 0x7F: (1, "\u{FFFD}")
        case 0xC2 where text[index + 1] < 0xA0: (2, "\u{FFFD}")  // U+0080 to U+009F
        case 0xC2 where text[index + 1] == 0xAD, 0xD8 where text[index + 1] == 0x9C: (2, "\u{FFFD}")
        case 0xE1, 0xE2, 0xE3, 0xEF:
            isHidden(text[index], text[index + 1], text[index + 2]) && !joins(text, at: index) ? (3, "\u{FFFD}") : nil
        case 0xF3 where text[index + 1] == 0xA0 && text[index + 2] < 0x82: (4, "\u{FFFD}")  // U+E0000 to U+E007F
        default: nil
        }
    }

    /// Strings are valid UTF-8, which guarantees three bytes.
    private static func isHidden(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
        let value = UInt32(first & 0xF) << 12 | UInt32(second & 0x3F) << 6 | UInt32(third & 0x3F)
        return Unicode.Scalar(value)?.isCommand ?? false
    }

    /// Whether this is a joiner between two non-ASCII scalars, as in emoji of several people.
    private static func joins(_ text: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        let isJoiner = text[index + 1] == 0x80 && (0x8C...0x8D).contains(text[index + 2]) && text[index] == 0xE2
        return isJoiner && index > 0 && index + 3 < text.count && text[index - 1] >= 0x80 && text[index + 3] >= 0x80
    }
}

package struct HTMLPage: Sendable {
    private let title: String
    private let head: HTML
    private let body: HTML

    package init(title: String, head: HTML, body: HTML) {
        (self.title, self.head, self.body) = (title, head, body)
    }

    /// Creates a one-file page whose Content-Security-Policy (W3C, level 3) allows only its style and script, by hash.
    package init(title: String, style: [UInt8], script: [UInt8], body: HTML) {
        let policy = """
            default-src 'none'; style-src 'sha256-\(SHA256.base64(style))'; script-src 'sha256-\(SHA256.base64(script))'; \
            base-uri 'none'; form-action 'none'
            """
        let head: HTML = """
            <meta http-equiv=Content-Security-Policy content="\(policy)">
            <meta name=referrer content=no-referrer>
            <style>\(HTML.raw(style))</style>
            """
        self.init(title: title, head: head, body: "\(body)\n<script>\(HTML.raw(script))</script>")
    }

    package var html: HTML {
        """
        <!DOCTYPE html>
        <html lang=en dir=ltr>
        <head>
        <meta charset=utf-8>
        <meta name=viewport content="width=device-width, initial-scale=1">
        <meta name=color-scheme content="light dark">
        <meta name=robots content=noindex>
        <title>\(title)</title>
        \(head)
        </head>
        <body>
        \(body)
        </body>
        </html>

        """
    }
}
