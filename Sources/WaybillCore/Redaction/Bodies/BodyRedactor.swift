/// Takes the secrets out of a body while it comes, piece by piece; what it gives can be kept.
///
/// Where a body was cut into pieces does not matter. What is under way, a string, a line, a member of a form, waits in
/// memory until its end is known; one of more than ``unitLimit`` bytes is hidden whole, because it cannot be known what
/// is in it without gathering it. What is no valid JSON or XML is read on as text. What has been redacted already stays
/// as it is.
///
/// ## Usage
///
/// ```swift
/// var body = BodyRedactor(contentType: "application/json", redactor: Redactor())
/// var kept = body.redact(first)
/// kept += body.redact(second)
/// kept += body.finish()
/// ```
package struct BodyRedactor: Sendable {
    /// Bytes of a string, a line, a tag or a member of a form that are looked at together.
    package static let unitLimit = 64 << 10

    private var reader: any BodyReader

    /// Begins a body.
    ///
    /// - Parameters:
    ///   - contentType: The value of its `Content-Type` field; nil where it has none.
    ///   - keepsBinary: Whether a body that is no text is kept, without what has the shape of a secret; else it is
    ///     hidden whole.
    package init(contentType: String?, redactor: Redactor, keepsBinary: Bool = false) {
        self.init(BodyFormat(contentType: contentType), redactor: redactor, keepsBinary: keepsBinary)
    }

    init(_ format: BodyFormat, redactor: Redactor, keepsBinary: Bool) {
        reader = Self.reader(of: format, redactor: redactor, keepsBinary: keepsBinary)
    }

    /// - Parameter nesting: How many bodies this one is a part of.
    static func reader(of format: BodyFormat, redactor: Redactor, keepsBinary: Bool, nesting: Int = 0) -> any BodyReader
    {
        switch format {
        case .multipart(let boundary):
            MultipartReader(boundary: boundary, redactor: redactor, keepsBinary: keepsBinary, nesting: nesting)
        case .binary: keepsBinary ? TextReader(redactor) : HiddenReader()
        case .json, .form, .markup, .text: ChoosingReader(format, redactor: redactor, keepsBinary: keepsBinary)
        }
    }

    /// What can be kept after these bytes; the rest comes later.
    package mutating func redact(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count)
        reader.read(bytes[...], into: &output)
        return output
    }

    /// What is left; nothing may follow.
    ///
    /// - Parameter isWhole: false where more came that is not kept: then what was cut off at the end, and might be the
    ///   beginning of a secret, goes.
    package mutating func finish(isWhole: Bool = true) -> [UInt8] {
        var output: [UInt8] = []
        reader.finish(isWhole: isWhole, into: &output)
        return output
    }
}

extension Redactor {
    /// A body that is there whole, as it is kept or shown.
    package func body(_ bytes: [UInt8], contentType: String?, keepsBinary: Bool = false) -> [UInt8] {
        var body = BodyRedactor(contentType: contentType, redactor: self, keepsBinary: keepsBinary)
        return body.redact(bytes) + body.finish()
    }
}

/// One way of reading a body.
protocol BodyReader: Sendable {
    /// Takes bytes in, and appends what can be kept.
    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8])

    /// Appends what is left.
    ///
    /// - Parameter isWhole: false: the last unit was cut off.
    mutating func finish(isWhole: Bool, into output: inout [UInt8])
}

/// Keeps nothing, and says once that there was something.
struct HiddenReader: BodyReader {
    private var isSaid = false

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        guard !isSaid, !bytes.isEmpty else { return }
        output += Redactor.placeholder.utf8
        isSaid = true
    }

    func finish(isWhole: Bool, into output: inout [UInt8]) {}
}

/// Waits for the first bytes, and then chooses: what they are counts for more than what they are called.
struct ChoosingReader: BodyReader {
    private let format: BodyFormat
    private let redactor: Redactor
    private let keepsBinary: Bool
    private var start: [UInt8] = []
    private var chosen: (any BodyReader)?

    /// White space in front of a body that is waited for.
    private static let budget = 256
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    init(_ format: BodyFormat, redactor: Redactor, keepsBinary: Bool) {
        self.format = format
        self.redactor = redactor
        self.keepsBinary = keepsBinary
    }

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        var rest = bytes
        while chosen == nil, let byte = rest.popFirst() {
            start.append(byte)
            // Byte by byte, so that it does not matter where the body was cut.
            if let reader = choice() { choose(reader, into: &output) }
        }
        if !rest.isEmpty { chosen?.read(rest, into: &output) }
    }

    mutating func finish(isWhole: Bool, into output: inout [UInt8]) {
        if chosen == nil { choose(other, into: &output) }
        chosen?.finish(isWhole: isWhole, into: &output)
    }

    private mutating func choose(_ reader: any BodyReader, into output: inout [UInt8]) {
        var reader = reader
        reader.read(start[...], into: &output)
        start = []
        chosen = reader
    }

    /// nil: not yet.
    private func choice() -> (any BodyReader)? {
        // UTF-16 and UTF-32, by their byte order mark or by the zeros of their ASCII characters.
        if start.count <= 4, start.last == 0 || start.first == 0xFE || start.first == 0xFF {
            return keepsBinary ? TextReader(redactor) : HiddenReader()
        }
        let significant = start.filter { !" \t\r\n".utf8.contains($0) && !Self.byteOrderMark.contains($0) }
        guard let first = significant.first else { return start.count < Self.budget ? nil : other }
        switch first {
        case UInt8(ascii: "<"): return start.count < 4 ? nil : MarkupReader(redactor)
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""):
            guard start.count >= 4 else { return nil }
            if format == .json { return JSONBodyReader(redactor) }
            guard significant.count > 1 else { return start.count < Self.budget ? nil : other }
            return JSONBodyReader.looksLikeJSON(significant) ? JSONBodyReader(redactor) : other
        default: return start.count < 4 ? nil : other
        }
    }

    private var other: any BodyReader { format == .form ? FormReader(redactor) : TextReader(redactor) }
}

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

/// `application/x-www-form-urlencoded`, a member at a time.
struct FormReader: BodyReader {
    private let redactor: Redactor
    private var member: [UInt8] = []
    private var isTooLong = false

    init(_ redactor: Redactor) { self.redactor = redactor }

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        for byte in bytes {
            if byte == UInt8(ascii: "&") {
                endMember(into: &output)
                output.append(byte)
            } else if !isTooLong {
                member.append(byte)
                isTooLong = member.count == BodyRedactor.unitLimit
            }
        }
    }

    mutating func finish(isWhole: Bool, into output: inout [UInt8]) {
        if isWhole { endMember(into: &output) }
    }

    private mutating func endMember(into output: inout [UInt8]) {
        output += isTooLong ? Array(Redactor.placeholder.utf8) : redactor.form(member[...])
        member.removeAll(keepingCapacity: true)
        isTooLong = false
    }
}
