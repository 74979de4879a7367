import WaybillCore

/// A piece of HTML, or of SVG inside it. Literals are markup, and interpolated strings are text.
///
/// Text cannot become markup: interpolation escapes every `String` and leaves only other `HTML` as it is. Put text in
/// attributes between double quotation marks.
///
/// ## Usage
///
/// ```swift
/// let row: HTML = "<tr title=\"\(hint)\"><td>\(name)<td>\(HTML.raw(icon))</tr>"
/// ```
package struct HTML: Sendable, Hashable {
    /// UTF-8.
    package private(set) var bytes: [UInt8]

    /// Makes an empty piece.
    package init() { bytes = [] }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Takes our markup as it is. Never pass recorded text.
    package static func raw(_ markup: String) -> HTML { HTML(bytes: Array(markup.utf8)) }

    /// Takes our style sheets, scripts and drawings in UTF-8 as they are. Never pass recorded text.
    package static func raw(_ bytes: [UInt8]) -> HTML { HTML(bytes: bytes) }

    /// Adds a piece at the end.
    package static func += (left: inout HTML, right: HTML) { left.bytes += right.bytes }

    /// The markup as a string.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension HTML: ExpressibleByStringInterpolation {
    package init(stringLiteral markup: String) { self = .raw(markup) }

    package init(stringInterpolation: StringInterpolation) { bytes = stringInterpolation.bytes }

    /// Separates markup from text. Without another way to interpolate, no text gets in unescaped.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var bytes: [UInt8] = []

        package init(literalCapacity: Int, interpolationCount: Int) {
            bytes.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        package mutating func appendLiteral(_ markup: String) { bytes += markup.utf8 }

        /// Text, escaped.
        package mutating func appendInterpolation(_ text: String) { HTMLText.append(text, to: &bytes) }

        /// A number.
        package mutating func appendInterpolation(_ number: some FixedWidthInteger) { bytes += String(number).utf8 }

        /// Tenths of a percent, without the sign: `23.4`, `100`.
        package mutating func appendInterpolation(percent tenths: Int) {
            appendInterpolation(tenths / 10)
            if tenths % 10 != 0 { bytes += [UInt8(ascii: "."), UInt8(ascii: "0") + UInt8(abs(tenths % 10))] }
        }

        /// Markup.
        package mutating func appendInterpolation(_ piece: HTML) { bytes += piece.bytes }

        /// Markup under a condition: `"<b\(" class=bad", if: hasFailed)>"`.
        package mutating func appendInterpolation(_ piece: HTML, if condition: Bool) {
            if condition { bytes += piece.bytes }
        }

        /// Markup, one after the other.
        package mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { bytes += piece.bytes } }
    }
}

/// Escapes characters that are markup, and replaces characters that only deceive the reader.
enum HTMLText {
    /// Appends text that stays text, in an element as well as between the double quotation marks of an attribute.
    ///
    /// U+FFFD replaces control characters, bidirectional controls (U+202A to U+202E, U+2066 to U+2069; "Trojan Source",
    /// CVE-2021-42574) and characters without width, as in `String.printable`.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { text in
            var start = 0  // of what has not been copied yet
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

    /// The replacement and the number of bytes that it replaces; `nil` for a byte that stays.
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

    /// Whether these are the three bytes of a scalar that `Unicode.Scalar.isCommand` has. A `String` holds valid
    /// UTF-8: they are there.
    private static func isHidden(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Bool {
        let value = UInt32(first & 0xF) << 12 | UInt32(second & 0x3F) << 6 | UInt32(third & 0x3F)
        return Unicode.Scalar(value)?.isCommand ?? false
    }

    /// Whether this is a joiner between two scalars beyond ASCII, as in emoji of several people.
    private static func joins(_ text: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        let isJoiner = text[index + 1] == 0x80 && (0x8C...0x8D).contains(text[index + 2]) && text[index] == 0xE2
        return isJoiner && index > 0 && index + 3 < text.count && text[index - 1] >= 0x80 && text[index + 3] >= 0x80
    }
}

/// A document.
package struct HTMLPage: Sendable {
    private let title: String
    private let head: HTML
    private let body: HTML

    /// Makes a page.
    ///
    /// - Parameters:
    ///   - title: The title of the window.
    ///   - head: The rest of the head.
    ///   - body: The content of the body.
    package init(title: String, head: HTML, body: HTML) {
        (self.title, self.head, self.body) = (title, head, body)
    }

    /// Makes a page in one file, which loads nothing and runs only its own script.
    ///
    /// Its Content-Security-Policy (W3C, level 3) allows the style and the script by their hashes and rejects everything
    /// else, in case something gets past the escaping.
    ///
    /// - Parameters:
    ///   - style: CSS in UTF-8.
    ///   - script: JavaScript in UTF-8, which runs after the browser has read the body.
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

    /// The whole document in UTF-8.
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
