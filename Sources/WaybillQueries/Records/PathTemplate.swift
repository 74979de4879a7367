import WaybillCore

/// A path in which IDs are folded, so that requests for different things of one kind count together:
/// `/users/123/orders/9f3c21d7` is `/users/{id}/orders/{id}`.
///
/// Segments are judged one by one, and a query is no part of it. A segment becomes `{date}` when it is a calendar date
/// of ISO 8601, with or without a time: `2026-03-01`, `2026-03`, `2026-03-01T12:00:00Z`. It becomes `{id}` when it is
/// - a number: decimal digits only, perhaps behind a minus;
/// - a UUID (RFC 9562), in either case;
/// - hexadecimal: at least 8 such digits, of which one is decimal;
/// - a token, as base64 (RFC 4648), ULID, nanoid and the like write them: at least 8 characters, with a word that
///   changes between letters and digits at least three times, or a word of at least 20 with a digit, a capital and a
///   small letter. Words are divided by anything but letters, digits and percent-encoded bytes.
///
/// An extension stays: `/images/9f3c21d7.jpg` is `/images/{id}.jpg`. Where these rules say nothing a segment stays as
/// it is, e.g. `v1`, `1.1`, `oauth2` and the titles of articles.
package struct PathTemplate: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Folds the IDs of a path as it was recorded.
    package init(_ path: some StringProtocol) {
        let path = path.prefix { $0 != "?" && $0 != "#" }
        // Without a digit there is nothing to fold.
        guard path.utf8.contains(where: \.isDigit) else {
            description = String(path)
            return
        }
        description = path.split(separator: "/", omittingEmptySubsequences: false).map { Self.folding($0) }.joined(
            separator: "/")
    }

    private static func folding(_ segment: some StringProtocol) -> String {
        let bytes = Array(segment.utf8)
        guard bytes.contains(where: \.isDigit) else { return String(segment) }
        let end = PathSegment.endOfStem(bytes)
        let stem = PathSegment(bytes: bytes[..<end])
        let suffix = String(decoding: bytes[end...], as: UTF8.self)
        if stem.isDate { return "{date}" + suffix }
        return stem.isNumber || stem.isUUID || stem.isHexadecimal || stem.isToken ? "{id}" + suffix : String(segment)
    }
}

/// What stands between two slashes, without an extension; it has a digit somewhere.
private struct PathSegment {
    let bytes: ArraySlice<UInt8>

    /// Where an extension begins: a dot, a letter and up to four more letters or digits; else the end.
    static func endOfStem(_ bytes: [UInt8]) -> Int {
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return bytes.endIndex }
        let suffix = bytes[(dot + 1)...]
        guard let first = suffix.first, first.isLetter, suffix.count <= 5, suffix.allSatisfy(\.isLetterOrDigit) else {
            return bytes.endIndex
        }
        return dot
    }

    var isNumber: Bool { (bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes).allSatisfy(\.isDigit) }

    /// `8-4-4-4-12` hexadecimal digits.
    var isUUID: Bool { has(shape: "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh") && bytes.count == 36 }

    var isHexadecimal: Bool {
        bytes.count >= 8 && bytes.contains(where: \.isDigit) && bytes.allSatisfy { $0.hexadecimalValue != nil }
    }

    var isDate: Bool {
        let day = "dddd-dd-dd"
        return has(shape: "dddd-dd") && bytes.count == 7 || has(shape: day) && bytes.count == 10
            || has(shape: "\(day)Tdd") && bytes.count >= 13
    }

    /// Whether it begins like this: `d` a decimal digit, `h` a hexadecimal one, anything else itself.
    private func has(shape: String) -> Bool {
        bytes.count >= shape.utf8.count
            && zip(bytes, shape.utf8).allSatisfy { byte, shape in
                switch shape {
                case UInt8(ascii: "d"): byte.isDigit
                case UInt8(ascii: "h"): byte.hexadecimalValue != nil
                default: byte == shape
                }
            }
    }

    var isToken: Bool { bytes.count >= 8 && words.contains { $0.changes >= 3 || ($0.length >= 20 && $0.isMixed) } }

    private struct Word {
        var length = 0
        /// Between letters and digits.
        var changes = 0
        var hasDigit = false
        var hasCapital = false
        var hasSmall = false
        private var lastIsDigit: Bool?

        var isMixed: Bool { hasDigit && hasCapital && hasSmall }

        mutating func append(_ byte: UInt8) {
            length += 1
            if let lastIsDigit, lastIsDigit != byte.isDigit { changes += 1 }
            lastIsDigit = byte.isDigit
            if byte.isDigit {
                hasDigit = true
            } else if byte.isSmallLetter {
                hasSmall = true
            } else {
                hasCapital = true
            }
        }
    }

    private var words: [Word] {
        var words = [Word()]
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                // A byte of a letter that a URL cannot hold: its digits do not count as digits.
                words[words.count - 1].append(UInt8(ascii: "a"))
                index += 3
                continue
            }
            if byte.isLetterOrDigit { words[words.count - 1].append(byte) } else { words.append(Word()) }
            index += 1
        }
        return words
    }
}
