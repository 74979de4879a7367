package import Foundation

/// How answers are written: by a collector to a GET, by the command line to `--json`.
///
/// Names in snake case with their units: `begunMicroseconds` is `begun_us`. (A whole double comes back as an integer:
/// `JSONEncoder` writes it without a point. Sets have their own writer, which keeps the type.)
extension JSONEncoder {
    /// An encoder of records.
    package static func waybill() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .custom { path in RecordKey(RecordKey.snakeCase(path.last?.stringValue ?? "")) }
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }
}

extension JSONDecoder {
    /// A decoder of what ``Foundation/JSONEncoder/waybill()`` writes.
    package static func waybill() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { path in RecordKey(RecordKey.camelCase(path.last?.stringValue ?? "")) }
        return decoder
    }
}

/// A member's name in an answer.
package struct RecordKey: CodingKey {
    package var stringValue: String
    package var intValue: Int? { nil }

    package init(_ stringValue: String) { self.stringValue = stringValue }
    package init?(stringValue: String) { self.init(stringValue) }
    package init?(intValue: Int) { nil }

    /// `begun_us` for `begunMicroseconds`, `is_joined` for `isJoined`.
    package static func snakeCase(_ name: String) -> String {
        let name = name.hasSuffix("Microseconds") ? name.dropLast(12) + "Us" : name[...]
        var result = ""
        for character in name {
            if character.isUppercase { result += "_" }
            result += character.lowercased()
        }
        return result
    }

    /// `begunMicroseconds` for `begun_us`, `isJoined` for `is_joined`.
    package static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_", omittingEmptySubsequences: false)
        guard let first = words.first else { return name }
        return words.dropFirst().enumerated().reduce(into: String(first)) { result, word in
            let isUnit = word.offset == words.count - 2 && word.element == "us"
            result += isUnit ? "Microseconds" : word.element.prefix(1).uppercased() + word.element.dropFirst()
        }
    }
}
