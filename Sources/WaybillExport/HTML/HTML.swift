import WaybillCore

/// A piece of HTML, or of SVG inside it: what is written in a literal is markup, and what is interpolated is text.
///
/// Text cannot become markup: a `String` is escaped wherever it is interpolated, and only another `HTML` is taken as it
/// is. In attributes, text stands between double quotation marks.
///
/// ## Usage
///
/// ```swift
/// let row: HTML = "<tr title=\"\(hint)\"><td>\(name)<td>\(HTML.raw(icon))</tr>"
/// ```
package struct HTML: Sendable, Hashable {
    /// UTF-8.
    package private(set) var bytes: [UInt8]

    /// Nothing.
    package init() { bytes = [] }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Markup of our own, taken as it is. Never what was recorded.
    package static func raw(_ markup: String) -> HTML { HTML(bytes: Array(markup.utf8)) }

    /// A style sheet, a script, a drawing of our own, in UTF-8. Never what was recorded.
    package static func raw(_ bytes: [UInt8]) -> HTML { HTML(bytes: bytes) }

    /// Adds a piece at the end.
    package static func += (left: inout HTML, right: HTML) { left.bytes += right.bytes }

    /// What was written, as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension HTML: ExpressibleByStringInterpolation {
    package init(stringLiteral markup: String) { self = .raw(markup) }

    package init(stringInterpolation: StringInterpolation) { bytes = stringInterpolation.bytes }

    /// Tells markup from text; there is no other way to interpolate, so that nothing gets in unescaped.
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

/// Text as HTML shows it: what has a meaning in markup is escaped, and what would only deceive the reader is replaced.
enum HTMLText {
    /// Appends text that stays text, in an element as well as between the double quotation marks of an attribute.
    ///
    /// Control characters, the marks that turn the direction of what follows (U+202A to U+202E, U+2066 to U+2069;
    /// "Trojan Source", CVE-2021-42574) and what has no width become U+FFFD, as in `String.printable`.
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

    /// What stands in the place of how many bytes; nil for a byte that stays.
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

    /// Whether a joiner stands between two scalars beyond ASCII, as in pictures of several people.
    private static func joins(_ text: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        let isJoiner = text[index + 1] == 0x80 && (0x8C...0x8D).contains(text[index + 2]) && text[index] == 0xE2
        return isJoiner && index > 0 && index + 3 < text.count && text[index - 1] >= 0x80 && text[index + 3] >= 0x80
    }
}

/// A page of HTML in one piece: nothing is loaded from anywhere, and nothing runs but its own script.
package struct HTMLPage: Sendable {
    /// Of the window.
    package var title: String
    /// CSS, UTF-8.
    package var style: [UInt8]
    /// JavaScript, UTF-8, run when the body has been read.
    package var script: [UInt8]
    /// What stands between `<body>` and `</body>`.
    package var body: HTML

    /// Makes a page.
    package init(title: String, style: [UInt8], script: [UInt8], body: HTML) {
        self.title = title
        self.style = style
        self.script = script
        self.body = body
    }

    /// The whole document, UTF-8.
    ///
    /// Its Content-Security-Policy (W3C, level 3) refuses all that is not allowed by its hash, in case that something
    /// gets past the escaping.
    package var html: HTML {
        """
        <!DOCTYPE html>
        <html lang=en dir=ltr>
        <head>
        <meta charset=utf-8>
        <meta http-equiv=Content-Security-Policy content="\(policy)">
        <meta name=viewport content="width=device-width, initial-scale=1">
        <meta name=color-scheme content="light dark">
        <meta name=referrer content=no-referrer>
        <meta name=robots content=noindex>
        <title>\(title)</title>
        <style>\(HTML.raw(style))</style>
        </head>
        <body>
        \(body)
        <script>\(HTML.raw(script))</script>
        </body>
        </html>

        """
    }

    private var policy: HTML {
        let (style, script) = (SHA256.base64(style), SHA256.base64(script))
        return .raw(
            "default-src 'none'; style-src 'sha256-\(style)'; script-src 'sha256-\(script)'; base-uri 'none'; form-action 'none'"
        )
    }
}
