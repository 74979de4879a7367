/// Hides elements whose name, or attribute `name`, `key` or `id`, names a secret, or after `<key>password</key>`.
struct MarkupReader: BodyReader {
    private let redactor: Redactor
    private var unit = BodyUnit()
    private var isTag = false
    private var mark: UInt8?
    private var last: (UInt8, UInt8, UInt8) = (0, 0, 0)
    private var hidden: (name: [UInt8], depth: Int)?
    private var hidesNextElement = false
    private var opened: [UInt8] = []

    private static let namingAttributes = Set(wordsOf: "name property http-equiv")
    private static let otherAttributes = Set(wordsOf: "key id")
    private static let fieldAttributes = Set(wordsOf: "type autocomplete")
    private static let namingElements = Set(wordsOf: "key name")
    private static let voidElements = Set(wordsOf: "area base br col embed hr img input link meta source track wbr")
    private static let dataStart = Array("<![CDATA[".utf8)

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
        guard !isTag else { return }
        endText(isWhole: isWhole, into: &output)
    }

    // MARK: Text

    private mutating func readText(_ byte: UInt8, into output: inout [UInt8]) {
        let startsTag = last.2 == UInt8(ascii: "<") && (byte.isLetter || byte.isOne(of: "/!?"))
        last = (0, last.2, byte)
        guard startsTag else { return unit.append(byte) }
        endText(droppingLast: 1, into: &output)
        isTag = true
        unit.append(UInt8(ascii: "<"))
        unit.append(byte)
    }

    private mutating func endText(isWhole: Bool = true, droppingLast count: Int = 0, into output: inout [UInt8]) {
        defer { unit.clear() }
        guard hidden == nil else { return }
        if unit.isTooLong {
            output += Redactor.placeholderBytes
            return
        }
        var text = Array(unit.bytes.dropLast(count))
        if !isWhole { TextReader.removeBeginningOfSecret(&text) }
        if Self.namingElements.contains(opened), isSecretName(text[...]) { hidesNextElement = true }
        let isSecret = isSecretText(text)
        if isSecret || !text.allSatisfy(\.isBlank) { opened = [] }
        output += isSecret ? Redactor.placeholderBytes : redacted(text)
    }

    /// Returns a text without its secrets, or the placeholder if its character references spell a secret.
    private func redacted(_ text: [UInt8]) -> [UInt8] {
        let plain = redactor.embeddedText(text) ?? text
        guard plain.contains(UInt8(ascii: "&")) else { return plain }
        let decoded = CharacterReferences.decoded(plain)
        return decoded != plain && redactor.embeddedText(decoded) != nil ? Redactor.placeholderBytes : plain
    }

    private func isSecretName(_ name: ArraySlice<UInt8>) -> Bool { name.count <= 64 && redactor.names.contains(name) }

    /// For `<code>` and `<key>`, the result depends on the text.
    private func isSecretElement(_ name: [UInt8]) -> Bool {
        switch redactor.names.meaning(of: name) {
        case .harmless, .remark, .code, .key, .protocols: false
        case .secret, .secrets, .word: true
        }
    }

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

    private func isSecretText(_ text: [UInt8]) -> Bool {
        let meaning = redactor.names.meaning(of: opened)
        guard meaning == .code || meaning == .remark, !text.isEmpty,
            !text.contains(where: { $0.isBlank || $0.isOne(of: "<>(){};") })
        else {
            return false
        }
        return redactor.names.hides(text, as: meaning)
    }

    // MARK: Tags

    private mutating func readTag(_ byte: UInt8, into output: inout [UInt8]) {
        unit.append(byte)
        last = (last.1, last.2, byte)
        let doubled =
            unit.bytes.starts(with: "<!--".utf8)
            ? UInt8(ascii: "-") : unit.bytes.starts(with: Self.dataStart) ? UInt8(ascii: "]") : nil
        if doubled == nil, mark == nil ? byte.isOne(of: "\"'") : mark == byte { mark = mark == nil ? byte : nil }
        guard byte == UInt8(ascii: ">"), mark == nil, doubled.map({ last.0 == $0 && last.1 == $0 }) ?? true else {
            return
        }
        endTag(into: &output)
        isTag = false
        last = (0, 0, 0)
        unit.clear()
    }

    private mutating func endTag(into output: inout [UInt8]) {
        let tag = Tag(unit)
        if tag.isDeclaration {
            if hidden == nil { output += unit.kept(redactedDeclaration) }
            return
        }
        if let element = hidden {
            guard tag.name == element.name, !tag.isEmptyElement else { return }
            let depth = element.depth + (tag.isClosing ? -1 : 1)
            hidden = depth == 0 ? nil : (element.name, depth)
            if depth == 0 { output += redactor.embeddedText(unit.bytes) ?? unit.bytes }
            return
        }
        guard !tag.isClosing else {
            output += redacted(unit.bytes)
            return
        }
        let attributes = tag.attributes
        let isSecret = isSecretElement(tag.name) || attributes.contains { isName($0.name, $0.value, in: tag.name) }
        if isSecret && !attributes.isEmpty || unit.isTooLong {
            output += tag.hidden(end: tag.isEmptyElement ? "/>" : ">")
        } else {
            let kept = redacted(unit.bytes)
            output += kept.first == UInt8(ascii: "<") ? kept : tag.hidden(end: ">")
        }
        opened = tag.name
        guard !tag.isEmptyElement, !Self.voidElements.contains(tag.name) else { return }
        if isSecret || hidesNextElement {
            output += Redactor.placeholderBytes
            hidden = (tag.name, 1)
        }
        hidesNextElement = false
    }

    private func redactedDeclaration(_ bytes: [UInt8]) -> [UInt8] {
        let (start, end) = (Self.dataStart.count, "]]>".utf8.count)
        guard bytes.starts(with: Self.dataStart), bytes.count >= start + end else { return redacted(bytes) }
        let data = Array(bytes[start..<bytes.count - end])
        return Self.dataStart + (redactor.embeddedText(data) ?? data) + bytes.suffix(end)
    }
}

private struct Tag {
    var name: [UInt8]
    var isClosing: Bool
    var isDeclaration: Bool
    var isEmptyElement: Bool
    private let written: ArraySlice<UInt8>
    private let rest: ArraySlice<UInt8>

    init(_ unit: BodyUnit) {
        let bytes = unit.bytes
        isDeclaration = bytes[1].isOne(of: "!?")
        isClosing = bytes[1] == UInt8(ascii: "/")
        isEmptyElement = !unit.isTooLong && bytes.suffix(2).elementsEqual("/>".utf8)
        let body = bytes[(isClosing ? 2 : 1)...].dropLast(unit.isTooLong ? 0 : isEmptyElement ? 2 : 1)
        written = body.prefix { !$0.isBlank && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }
        let local = written.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).last ?? []
        name = local.map(\.lowercased)
        rest = body[written.endIndex...]
    }

    func hidden(end: String) -> [UInt8] { Array("<".utf8) + written + " \(Redactor.placeholder)\(end)".utf8 }

    var attributes: [(name: [UInt8], value: ArraySlice<UInt8>)] {
        var result: [(name: [UInt8], value: ArraySlice<UInt8>)] = []
        var rest = rest
        while !rest.isEmpty {
            rest = rest.drop { $0.isBlank || $0 == UInt8(ascii: "/") }
            let name = rest.prefix { !$0.isBlank && $0 != UInt8(ascii: "=") }
            rest = rest[name.endIndex...].drop(while: \.isBlank)
            guard rest.first == UInt8(ascii: "=") else {
                if name.isEmpty { rest = rest.dropFirst() }
                continue
            }
            rest = rest.dropFirst().drop(while: \.isBlank)
            var value = rest.prefix { !$0.isBlank }
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
