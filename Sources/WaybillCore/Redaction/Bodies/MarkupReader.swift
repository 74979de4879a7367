/// XML and HTML, a tag and a run of text at a time: what is in an element whose name, or whose attribute `name`, `key`
/// or `id`, is a secret's goes whole, and so do the element behind `<key>password</key>` and a field for a password.
struct MarkupReader: BodyReader {
    private let redactor: Redactor
    /// The tag or the text under way, with its marks.
    private var unit: [UInt8] = []
    private var isTag = false
    private var isTooLong = false
    /// The quotation mark that an attribute's value ends with.
    private var mark: UInt8?
    /// The last three bytes of a tag, for the ends of comments and the like.
    private var last: (UInt8, UInt8, UInt8) = (0, 0, 0)
    /// The element that is hidden, and how many of its name are open.
    private var hidden: (name: [UInt8], depth: Int)?
    private var hidesNextElement = false
    private var opened: [UInt8] = []

    private static let namingAttributes: Set<[UInt8]> = Set(["name", "property", "http-equiv"].map { Array($0.utf8) })
    /// Whose values are words of many kinds, of which some are names.
    private static let otherAttributes: Set<[UInt8]> = Set(["key", "id"].map { Array($0.utf8) })
    private static let fieldAttributes: Set<[UInt8]> = Set(["type", "autocomplete"].map { Array($0.utf8) })
    private static let namingElements: Set<[UInt8]> = Set(["key", "name"].map { Array($0.utf8) })
    /// Elements of HTML without content and without an end.
    private static let voidElements: Set<[UInt8]> = Set(
        ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"].map {
            Array($0.utf8)
        })

    init(_ redactor: Redactor) { self.redactor = redactor }

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        for byte in bytes {
            if isTag {
                readTag(byte, into: &output)
            } else {
                readText(byte, into: &output)
            }
        }
    }

    mutating func finish(isWhole: Bool, into output: inout [UInt8]) {
        // A tag that has no end is none, and it is not known what it holds.
        guard !isTag else { return }
        if !isWhole { TextReader.removeBeginningOfSecret(&unit) }
        endText(into: &output)
    }

    private mutating func append(_ byte: UInt8) {
        guard !isTooLong else { return }
        unit.append(byte)
        isTooLong = unit.count == BodyRedactor.unitLimit
    }

    // MARK: Text

    private mutating func readText(_ byte: UInt8, into output: inout [UInt8]) {
        let startsTag = last.2 == UInt8(ascii: "<") && (byte.isLetter || "/!?".utf8.contains(byte))
        last = (0, last.2, byte)
        guard startsTag else { return append(byte) }
        if !isTooLong { unit.removeLast() }
        endText(into: &output)
        isTag = true
        unit = [UInt8(ascii: "<"), byte]
    }

    private mutating func endText(into output: inout [UInt8]) {
        defer { startUnit() }
        guard hidden == nil else { return }
        if isTooLong {
            output += Redactor.placeholder.utf8
            return
        }
        if Self.namingElements.contains(opened) { hidesNextElement = hidesNextElement || isSecretName(unit[...]) }
        if isSecretText(unit) {
            opened = []
            output += Redactor.placeholder.utf8
            return
        }
        if !unit.isEmpty, !unit.allSatisfy({ " \t\r\n".utf8.contains($0) }) { opened = [] }
        output += redacted(unit)
    }

    /// A text without its secrets; hidden whole where they show only once character references are read.
    private func redacted(_ text: [UInt8]) -> [UInt8] {
        let plain = redactor.embeddedText(text) ?? text
        guard plain.contains(UInt8(ascii: "&")) else { return plain }
        let decoded = CharacterReferences.decoded(plain)
        return decoded != plain && redactor.embeddedText(decoded) != nil ? Array(Redactor.placeholder.utf8) : plain
    }

    private func isSecretName(_ name: ArraySlice<UInt8>) -> Bool { name.count <= 64 && redactor.names.contains(name) }

    /// Whether an element is a secret by its own name; of `<code>`, `<key>` and `<tokenCount>` it is the text
    /// that tells.
    private func isSecretElement(_ name: [UInt8]) -> Bool {
        switch redactor.names.meaning(of: name) {
        case .harmless, .remark, .code, .key, .protocols: false
        case .secret, .secrets, .word: true
        }
    }

    /// Whether an attribute says that its element holds a secret.
    private func isName(_ attribute: [UInt8], _ value: ArraySlice<UInt8>, in element: [UInt8]) -> Bool {
        guard value.count <= 64 else { return false }
        switch redactor.names.meaning(of: value) {
        case .harmless: return false
        case .secret, .secrets:
            return Self.namingAttributes.contains(attribute) || Self.otherAttributes.contains(attribute)
                || element.elementsEqual("input".utf8) && Self.fieldAttributes.contains(attribute)
        case .word: return Self.namingAttributes.contains(attribute)
        case .remark, .code, .key, .protocols:
            return Self.voidElements.contains(element) && Self.namingAttributes.contains(attribute)
        }
    }

    /// Whether the text of an element is a secret by the element's name: of `<code>` and `<tokenCount>`, if it is a
    /// single word.
    private func isSecretText(_ text: [UInt8]) -> Bool {
        let meaning = redactor.names.meaning(of: opened)
        guard meaning == .code || meaning == .remark, !text.isEmpty,
            !text.contains(where: { " \t\r\n<>(){};".utf8.contains($0) })
        else {
            return false
        }
        return redactor.names.hides(text, as: meaning)
    }

    private mutating func startUnit() {
        unit.removeAll(keepingCapacity: true)
        isTooLong = false
        mark = nil
    }

    // MARK: Tags

    private mutating func readTag(_ byte: UInt8, into output: inout [UInt8]) {
        append(byte)
        last = (last.1, last.2, byte)
        let isEnd: Bool
        if unit.starts(with: "<!--".utf8) {
            isEnd = last == (UInt8(ascii: "-"), UInt8(ascii: "-"), UInt8(ascii: ">"))
        } else if unit.starts(with: "<![CDATA[".utf8) {
            isEnd = last == (UInt8(ascii: "]"), UInt8(ascii: "]"), UInt8(ascii: ">"))
        } else {
            if let mark {
                if byte == mark { self.mark = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                mark = byte
            }
            isEnd = mark == nil && byte == UInt8(ascii: ">")
        }
        guard isEnd else { return }
        endTag(into: &output)
        isTag = false
        last = (0, 0, 0)
        startUnit()
    }

    private mutating func endTag(into output: inout [UInt8]) {
        if unit.starts(with: "<!".utf8) || unit.starts(with: "<?".utf8) {
            guard hidden == nil else { return }
            output += isTooLong ? Array(Redactor.placeholder.utf8) : redactedDeclaration()
            return
        }
        let tag = Tag(unit, isTooLong: isTooLong)
        if let element = hidden {
            guard tag.name == element.name, !tag.isEmptyElement else { return }
            let depth = element.depth + (tag.isClosing ? -1 : 1)
            hidden = depth == 0 ? nil : (element.name, depth)
            if depth == 0 { output += redactor.embeddedText(unit) ?? unit }
            return
        }
        guard !tag.isClosing else {
            output += redacted(unit)
            return
        }
        let attributes = tag.attributes
        let isSecret = isSecretElement(tag.name) || attributes.contains { isName($0.name, $0.value, in: tag.name) }
        if isSecret && !attributes.isEmpty || isTooLong {
            output +=
                [UInt8(ascii: "<")] + tag.writtenName + " \(Redactor.placeholder)".utf8
                + (tag.isEmptyElement ? "/>" : ">").utf8
        } else {
            let kept = redacted(unit)
            output +=
                kept.first == UInt8(ascii: "<")
                ? kept : [UInt8(ascii: "<")] + tag.writtenName + " \(Redactor.placeholder)>".utf8
        }
        opened = tag.name
        guard !tag.isEmptyElement, !Self.voidElements.contains(tag.name) else { return }
        if isSecret || hidesNextElement {
            output += Redactor.placeholder.utf8
            hidden = (tag.name, 1)
        }
        hidesNextElement = false
    }

    private func redactedDeclaration() -> [UInt8] {
        let (start, end) = ("<![CDATA[".utf8.count, "]]>".utf8.count)
        guard unit.starts(with: "<![CDATA[".utf8), unit.count >= start + end else { return redacted(unit) }
        return unit[..<start]
            + (redactor.embeddedText(Array(unit[start..<unit.count - end])) ?? Array(unit[start..<unit.count - end]))
            + unit[(unit.count - end)...]
    }
}

/// A tag in parts.
private struct Tag {
    /// In lower case, without the prefix of its namespace.
    var name: [UInt8]
    var writtenName: [UInt8]
    var isClosing: Bool
    /// `<a/>`
    var isEmptyElement: Bool
    private let rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8], isTooLong: Bool) {
        isClosing = bytes.starts(with: "</".utf8)
        isEmptyElement = !isTooLong && bytes.suffix(2).elementsEqual("/>".utf8)
        let body = bytes[(isClosing ? 2 : 1)...].dropLast(isTooLong ? 0 : isEmptyElement ? 2 : 1)
        let written = body.prefix { !" \t\r\n/>".utf8.contains($0) }
        writtenName = Array(written)
        name = (written.lastIndex(of: UInt8(ascii: ":")).map { written[($0 + 1)...] } ?? written).map(\.lowercased)
        rest = body[written.endIndex...]
    }

    /// Names in lower case; values without their quotation marks.
    var attributes: [(name: [UInt8], value: ArraySlice<UInt8>)] {
        var result: [(name: [UInt8], value: ArraySlice<UInt8>)] = []
        var rest = rest
        while !rest.isEmpty {
            rest = rest.drop { " \t\r\n/".utf8.contains($0) }
            let name = rest.prefix { !" \t\r\n=".utf8.contains($0) }
            rest = rest[name.endIndex...].drop { " \t\r\n".utf8.contains($0) }
            guard rest.first == UInt8(ascii: "=") else {
                // Always further, also past a sign that no name can be made of.
                if name.isEmpty { rest = rest.dropFirst() }
                continue
            }
            rest = rest.dropFirst().drop { " \t\r\n".utf8.contains($0) }
            var value = rest.prefix { !" \t\r\n".utf8.contains($0) }
            if let mark = rest.first, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") {
                value = rest.dropFirst().prefix { $0 != mark }
                rest = rest[value.endIndex...].dropFirst()
            } else {
                rest = rest[value.endIndex...]
            }
            result.append((name.map(\.lowercased), value))
        }
        return result
    }
}

/// Character references of XML and HTML (XML 1.0, section 4.1), read leniently: this is to look for secrets, not to
/// interpret.
enum CharacterReferences {
    private static let named: [(name: String, meaning: String)] = [
        ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("equals", "="), ("colon", ":"),
        ("nbsp", " "),
    ]

    /// The bytes behind the references; what is none stays as it is.
    static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let name = byte == UInt8(ascii: "&") ? rest.prefix(10).prefix { $0 != UInt8(ascii: ";") } : rest.prefix(0)
            guard name.endIndex < rest.endIndex, !name.isEmpty, rest[name.endIndex] == UInt8(ascii: ";"),
                let meaning = meaning(of: name)
            else {
                result.append(byte)
                continue
            }
            result += meaning
            rest = rest[(name.endIndex + 1)...]
        }
        return result
    }

    private static func meaning(of name: ArraySlice<UInt8>) -> [UInt8]? {
        if let known = named.first(where: { name.elementsEqual($0.name.utf8) }) { return Array(known.meaning.utf8) }
        guard name.first == UInt8(ascii: "#") else { return nil }
        let digits = String(decoding: name.dropFirst(), as: UTF8.self)
        let number = digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).flatMap { UTF8.encode($0) }.map { Array($0) }
    }
}
