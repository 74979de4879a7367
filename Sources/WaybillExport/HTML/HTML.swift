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
