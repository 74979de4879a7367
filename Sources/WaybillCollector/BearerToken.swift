#if Collector
public import Foundation
public import WaybillCore

/// The secret that a client of a collector sends as `Authorization: Bearer ...` (RFC 6750).
public struct BearerToken: Sendable {
    private let bytes: [UInt8]

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

    /// Whether an `Authorization` field carries this token; takes as long for a near miss as for a far one.
    package func matches(fieldValue: String) -> Bool {
        let words = fieldValue.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return false }
        let offered = Array(words[1].utf8)
        var difference = offered.count ^ bytes.count
        for index in offered.indices { difference |= Int(offered[index] ^ bytes[index % bytes.count]) }
        return difference == 0
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
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
