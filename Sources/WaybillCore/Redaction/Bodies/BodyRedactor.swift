/// Removes the secrets from a body piece by piece. Its output can be stored. The output does not depend on the pieces:
/// the redactor buffers each string, line, tag or form member. It hides those of ``unitLimit`` bytes or more. From the
/// first invalid byte on, it reads JSON as text. Redaction is idempotent.
///
/// ## Usage
///
/// ```swift
/// var body = BodyRedactor(contentType: "application/json", redactor: Redactor())
/// var kept = body.redact(first)
/// kept += body.redact(second)
/// kept += body.finish()
/// ```
package struct BodyRedactor: BodyReader {
    package static let unitLimit = 64 << 10
    private static let blankLimit = 256
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let format: BodyFormat
    private let redactor: Redactor
    private let keepsBinary: Bool
    private var start: [UInt8] = []
    private var reader: (any BodyReader)?

    /// `keepsBinary` keeps binary bodies, apart from recognized secrets, instead of hiding them as a whole.
    package init(contentType: String?, redactor: Redactor, keepsBinary: Bool = false) {
        self.init(BodyFormat(contentType: contentType), redactor: redactor, keepsBinary: keepsBinary)
    }

    init(_ format: BodyFormat, redactor: Redactor, keepsBinary: Bool, nesting: Int = 0) {
        (self.format, self.redactor, self.keepsBinary) = (format, redactor, keepsBinary)
        switch format {
        case .multipart(let boundary):
            reader = MultipartReader(boundary: boundary, redactor: redactor, keepsBinary: keepsBinary, nesting: nesting)
        case .binary: reader = binary
        case .json, .form, .markup, .text: break
        }
    }

    package mutating func redact(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        read(bytes[...], into: &output)
        return output
    }

    /// Returns the rest. If the end of the body is missing, removes the last bytes, as a possible partial secret.
    package mutating func finish(isWhole: Bool = true) -> [UInt8] {
        var output: [UInt8] = []
        finish(isWhole: isWhole, into: &output)
        return output
    }

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        var rest = bytes
        // Byte by byte, because the choice must not depend on the pieces.
        while reader == nil, let byte = rest.popFirst() {
            start.append(byte)
            if let choice { begin(choice, into: &output) }
        }
        if !rest.isEmpty { reader?.read(rest, into: &output) }
    }

    mutating func finish(isWhole: Bool, into output: inout [UInt8]) {
        if reader == nil { begin(text, into: &output) }
        reader?.finish(isWhole: isWhole, into: &output)
    }

    private mutating func begin(_ choice: any BodyReader, into output: inout [UInt8]) {
        reader = choice
        reader?.read(start[...], into: &output)
        start = []
    }

    // MARK: The choice of a reader

    /// The reader for a body that starts with these bytes, whatever its declared type; `nil` if more bytes are needed.
    private var choice: (any BodyReader)? {
        // UTF-16 and UTF-32 have a byte order mark, or zeros between ASCII characters.
        if start.count <= 4, start.last == 0 || start.first == 0xFE || start.first == 0xFF { return binary }
        let significant = start.filter { !$0.isBlank && !Self.byteOrderMark.contains($0) }
        let waits = start.count < Self.blankLimit
        guard let first = significant.first else { return waits ? nil : text }
        guard start.count >= 4 else { return nil }
        switch Unicode.Scalar(first) {
        case "<": return MarkupReader(redactor)
        case "{", "[", "\"":
            if format == .json { return JSONBodyReader(redactor) }
            if significant.count == 1 { return waits ? nil : text }
            return JSONBodyReader.looksLikeJSON(significant) ? JSONBodyReader(redactor) : text
        default: return text
        }
    }

    private var text: any BodyReader { format == .form ? FormReader(redactor) : TextReader(redactor) }

    private var binary: any BodyReader { keepsBinary ? TextReader(redactor) : HiddenReader() }
}

extension Redactor {
    package func body(
        _ bytes: [UInt8], contentType: String?, keepsBinary: Bool = false, isWhole: Bool = true
    ) -> [UInt8] {
        var body = BodyRedactor(contentType: contentType, redactor: self, keepsBinary: keepsBinary)
        return body.redact(bytes) + body.finish(isWhole: isWhole)
    }
}

package enum BodyFormat: Hashable, Sendable {
    /// RFC 8259, one value or several.
    case json
    case form
    /// RFC 2046, section 5.1. The boundary doesn't include the two hyphens.
    case multipart(boundary: [UInt8])
    case markup
    /// Lines of other text, in UTF-8 or in a superset of ASCII with one byte per character.
    case text
    /// A format that can't be searched, such as images, archives and UTF-16.
    case binary

    /// Parses a `Content-Type` field (RFC 9110, section 8.3). A missing or invalid type counts as text at first.
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

    /// Whether every byte below 128 is the ASCII character in this character set.
    private static func isReadable(charset: String) -> Bool {
        ["utf-8", "utf8", "us-ascii", "ascii"].contains(charset) || charset.hasPrefix("iso-8859-")
            || charset.hasPrefix("windows-125")
    }
}

extension Substring {
    fileprivate var unquoted: String {
        guard count > 1, first == "\"", last == "\"" else { return String(self) }
        return String(dropFirst().dropLast().filter { $0 != "\\" })
    }
}
