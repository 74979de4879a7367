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
    /// characters, as on a terminal.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text.printableLines
        text.withUTF8 { text in
            var start = 0  // the first byte that has not been copied
            for (index, byte) in text.enumerated() {
                guard let replacement = replacement(for: byte) else { continue }
                bytes += text[start..<index]
                replacement.withUTF8Buffer { bytes += $0 }
                start = index + 1
            }
            bytes += text[start...]
        }
    }

    private static func replacement(for byte: UInt8) -> StaticString? {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "\""): "&quot;"
        default: nil
        }
    }
}

extension HTML {
    package static func page(title: String, head: HTML, body: HTML) -> HTML {
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

    /// Returns a one-file page whose Content-Security-Policy (W3C, level 3) allows only its style and script, by hash.
    package static func page(title: String, style: [UInt8], script: [UInt8], body: HTML) -> HTML {
        let policy = """
            default-src 'none'; style-src 'sha256-\(SHA256.base64(style))'; script-src 'sha256-\(SHA256.base64(script))'; \
            base-uri 'none'; form-action 'none'
            """
        let head: HTML = """
            <meta http-equiv=Content-Security-Policy content="\(policy)">
            <meta name=referrer content=no-referrer>
            <style>\(raw(style))</style>
            """
        return page(title: title, head: head, body: "\(body)\n<script>\(raw(script))</script>")
    }

    package static func cells(_ cells: [(name: String, value: HTML)]) -> HTML {
        "\(cells.map { "<div><dt>\($0.name)<dd>\($0.value)</div>" as HTML })"
    }

    package static func options(_ values: [(value: String, text: String)], chosen: String?) -> HTML {
        let options = values.map { value, text in
            "<option value=\"\(value)\"\(" selected", if: value == chosen)>\(text)</option>" as HTML
        }
        return "\(options)"
    }

    /// Returns adjacent rectangles of an `svg`, at least `least` thousandths wide.
    package static func segments(
        _ parts: [(attributes: HTML, length: Int64)], of total: Int64, least: Int
    ) -> [HTML] {
        var before: Int64 = 0
        return parts.map { attributes, length in
            let start = min(before.thousandths(of: total), 1000 - least)
            before = before.adding(length)
            let width = max(least, min(before.thousandths(of: total), 1000) - start)
            return "<rect\(attributes) x=\(percent: start)% width=\(percent: width)% />"
        }
    }
}
