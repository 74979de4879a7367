/// How the bytes of a body are read when secrets are looked for in it.
package enum BodyFormat: Hashable, Sendable {
    /// RFC 8259, one value or several.
    case json
    /// `application/x-www-form-urlencoded`.
    case form
    /// RFC 2046, section 5.1; without the two hyphens.
    case multipart(boundary: [UInt8])
    /// XML and HTML.
    case markup
    /// Lines of anything else that is text in UTF-8 or a superset of ASCII with one byte a character.
    case text
    /// What cannot be read: images, archives, UTF-16.
    case binary

    /// By the value of a `Content-Type` field (RFC 9110, section 8.3); nil, and a type that is none, count as text
    /// until a byte says otherwise.
    package init(contentType: String?) {
        let parts = (contentType ?? "text/plain").split(separator: ";", omittingEmptySubsequences: false)
        let type = parts.first?.trimmed.lowercased() ?? ""
        let parameters = Dictionary(
            parts.dropFirst().map { part in
                let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (pair[0].trimmed.lowercased(), pair.count > 1 ? pair[1].trimmed.unquoted : "")
            }, uniquingKeysWith: { first, _ in first })
        guard Self.isReadable(charset: parameters["charset"]?.lowercased() ?? "utf-8") else {
            self = .binary
            return
        }
        if type.hasPrefix("multipart/"), let boundary = parameters["boundary"], (1...70).contains(boundary.utf8.count) {
            self = .multipart(boundary: Array(boundary.utf8))
        } else {
            self = Self.format(ofType: type)
        }
    }

    private static func format(ofType type: String) -> BodyFormat {
        let (main, sub) = type.firstIndex(of: "/").map { (type[..<$0], type[type.index(after: $0)...]) } ?? ("", "")
        if main.isEmpty { return .text }
        if sub.hasSuffix("json") || sub.hasSuffix("json-seq") { return .json }
        if sub == "x-www-form-urlencoded" { return .form }
        if sub.hasSuffix("xml") || sub == "html" { return .markup }
        return main == "text" || textTypes.contains(sub) ? .text : .binary
    }

    private static let textTypes: Set<Substring> = [
        "javascript", "x-javascript", "ecmascript", "graphql", "yaml", "x-yaml", "toml", "jsonl", "x-sh", "sql", "jwt",
        "x-pem-file",
    ]

    /// Character sets in which a byte below 128 is always the ASCII character.
    private static func isReadable(charset: String) -> Bool {
        ["utf-8", "utf8", "us-ascii", "ascii"].contains(charset) || charset.hasPrefix("iso-8859-")
            || charset.hasPrefix("windows-125")
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }

    /// Without the quotation marks of RFC 9110, section 5.6.4.
    fileprivate var unquoted: String {
        guard count > 1, first == "\"", last == "\"" else { return String(self) }
        return String(dropFirst().dropLast().filter { $0 != "\\" })
    }
}
