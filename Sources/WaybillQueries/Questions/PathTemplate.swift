import WaybillCore

/// A path without IDs, to group requests: `/users/123/orders/9f3c21d7` is `/users/{id}/orders/{id}`.
///
/// A segment becomes `{date}` if it is an ISO 8601 calendar date, with or without a time. It becomes `{id}` if it is
/// - a number: decimal digits, perhaps after a minus;
/// - a UUID (RFC 9562);
/// - hexadecimal: at least 8 digits, and one of them decimal;
/// - a token, such as base64 (RFC 4648), ULID or nanoid: at least 8 characters with a mixed word. A mixed word changes
///   between letters and digits at least three times, or has at least 20 characters with a digit, a capital and a small
///   letter. Anything but letters, digits and percent-encoded bytes separates words.
///
/// Extensions stay: `/images/9f3c21d7.jpg` is `/images/{id}.jpg`. Other segments stay, such as `v1`, `1.1` and
/// `oauth2`.
package struct PathTemplate: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ path: some StringProtocol) {
        let path = path.prefix { $0 != "?" && $0 != "#" }
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

/// Templates that people write, before ``PathTemplate``: `/users/{name}` also folds names, which look like words.
struct PathTemplates {
    private let templates: [(text: String, segments: [Substring])]

    init(_ templates: [String]) {
        self.templates = templates.map { ($0, $0.split(separator: "/", omittingEmptySubsequences: false)) }
    }

    func template(of path: String) -> String {
        guard !templates.isEmpty else { return PathTemplate(path).description }
        let segments = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
        let found = templates.first { template in
            template.segments.count == segments.count
                && zip(template.segments, segments).allSatisfy { pattern, segment in
                    pattern == segment || pattern.hasPrefix("{") && pattern.hasSuffix("}") && !segment.isEmpty
                }
        }
        return found?.text ?? PathTemplate(path).description
    }
}

extension NetworkQuestion {
    package static let templateLimit = 100
    private static let templateByteLimit = 1_000

    /// Returns a sentence about templates that are invalid or too many; `nil` if all are valid.
    package static func mistake(in templates: [String]) -> String? {
        guard templates.count <= templateLimit else { return "Give at most \(templateLimit) path templates." }
        let isValid = templates.allSatisfy { $0.hasPrefix("/") && $0.utf8.count <= templateByteLimit }
        return isValid
            ? nil : "Begin a path template with a slash, e.g. /users/{name}; at most \(templateByteLimit) bytes."
    }
}

private struct PathSegment {
    let bytes: ArraySlice<UInt8>

    /// The index of the extension: a dot, a letter and up to four letters or digits; else the end.
    static func endOfStem(_ bytes: [UInt8]) -> Int {
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot > 0 else { return bytes.endIndex }
        let suffix = bytes[(dot + 1)...]
        guard let first = suffix.first, first.isLetter, suffix.count <= 5, suffix.allSatisfy(\.isLetterOrDigit) else {
            return bytes.endIndex
        }
        return dot
    }

    var isNumber: Bool { (bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes).allSatisfy(\.isDigit) }

    var isUUID: Bool { has(shape: "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh") && bytes.count == 36 }

    var isHexadecimal: Bool {
        bytes.count >= 8 && bytes.contains(where: \.isDigit) && bytes.allSatisfy { $0.hexadecimalValue != nil }
    }

    var isDate: Bool {
        let day = "dddd-dd-dd"
        return has(shape: "dddd-dd") && bytes.count == 7 || has(shape: day) && bytes.count == 10
            || has(shape: "\(day)Tdd") && bytes.count >= 13
    }

    /// Whether it begins with the shape: `d` is a decimal digit, `h` a hexadecimal one.
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
                // A percent-encoded byte of a letter. Its digits don't count as digits.
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
