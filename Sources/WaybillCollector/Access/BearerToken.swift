#if Collector
public import Foundation
public import WaybillCore

/// The secret that a client of a collector sends as `Authorization: Bearer ...` (RFC 6750); clients of version 0.0.1 as
/// `scheme name="..."`.
public struct BearerToken: Sendable {
    let bytes: [UInt8]

    /// Takes a token as it is sent.
    ///
    /// - Throws: `setting` unless it is at least 16 characters of those that RFC 6750, section 2.1, allows.
    public init(_ text: String) throws(WaybillError) {
        guard text.utf8.count >= 16, text.utf8.allSatisfy(Self.isAllowed) else {
            throw WaybillError(.setting, "A token has at least 16 characters, letters, digits and -._~+/= only.")
        }
        bytes = Array(text.utf8)
    }

    /// Reads a token from a file that holds nothing else; white space around it does not count.
    ///
    /// - Throws: `setting` where the file cannot be read or holds no token.
    public init(contentsOf file: URL) throws(WaybillError) {
        guard let text = try? String(contentsOf: file, encoding: .utf8) else {
            throw WaybillError(.setting, "The token file \(file.path) cannot be read.")
        }
        try self.init(text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// The token itself.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// What a client puts into its `Authorization` field.
    package var fieldValue: String { "Bearer \(text)" }

    /// What an `Authorization` field carries; nil where that is no token.
    init?(fieldValue: String) {
        let words = fieldValue.split(separator: " ", maxSplits: 1)
        guard words.count == 2 else { return nil }
        let text = words[0].lowercased() == "bearer" ? words[1] : Self.onlyParameter(words[1])
        guard let text, let token = try? BearerToken(String(text)) else { return nil }
        self = token
    }

    /// What stands between the quotation marks of `name="..."`, for any name: each installation of version 0.0.1 chose
    /// its own.
    private static func onlyParameter(_ text: Substring) -> Substring? {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { return nil }
        let value = text[text.index(after: equals)...]
        guard value.count > 2, value.hasPrefix("\""), value.hasSuffix("\"") else { return nil }
        return value.dropFirst().dropLast()
    }

    /// A new token of 256 random bits; its beginning tells those who look for lost secrets what it is.
    static func random() -> BearerToken {
        let random = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
        // RFC 4648, section 5: without the characters that have a meaning in URLs.
        let text = random.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
        return BearerToken(bytes: Array("waybill_\(text)".utf8))
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/=".utf8.contains(byte)
        }
    }
}

extension BearerToken: CustomStringConvertible {
    /// Never the token itself.
    public var description: String { "[redacted]" }
}

extension BearerToken: CustomReflectable {
    public var customMirror: Mirror { Mirror(self, children: []) }
}
#endif
