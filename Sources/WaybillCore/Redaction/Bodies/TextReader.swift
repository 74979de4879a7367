/// Text, a line at a time; a secret may reach over the end of a line where it has a mark or a bracket that closes it.
struct TextReader: BodyReader {
    private let redactor: Redactor
    private var line: [UInt8] = []
    private var isTooLong = false
    private var openEnd: SecretScanner.OpenEnd?
    /// The backslashes right before what comes, inside a secret in quotation marks.
    private var backslashes: [UInt8] = []

    init(_ redactor: Redactor) { self.redactor = redactor }

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        var rest = bytes
        while !rest.isEmpty {
            if let openEnd, !openEnd.isOfLines {
                skip(&rest, until: openEnd, into: &output)
                continue
            }
            let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
            // Never beyond the limit, so that it does not matter where the body was cut.
            let piece = rest.prefix(
                min((end ?? rest.endIndex) - rest.startIndex, isTooLong ? .max : BodyRedactor.unitLimit - line.count))
            rest = rest[piece.endIndex...]
            if !isTooLong { line += piece }
            if piece.endIndex == end {
                endLine(into: &output)
            } else if line.count == BodyRedactor.unitLimit {
                hideBeginningOfLine(into: &output)
                isTooLong = openEnd?.isOfLines ?? true
                backslashes = Array(line.suffix(while: { $0 == UInt8(ascii: "\\") }))
                line = []
            }
        }
    }

    mutating func finish(isWhole: Bool, into output: inout [UInt8]) {
        guard openEnd?.isOfLines ?? true, !isTooLong else { return }
        if !isWhole { Self.removeBeginningOfSecret(&line) }
        endLine(into: &output)
    }

    /// The line is longer than can be looked at.
    private mutating func hideBeginningOfLine(into output: inout [UInt8]) {
        if openEnd == .privateKey, SecretShapes.closing(line, from: 0) == nil { return }
        var next: SecretScanner.OpenEnd?
        if case .indentation(let column, let isSaid) = openEnd, SecretScanner.isInBlock(line[...], of: column) {
            if isSaid { return }
            next = .indentation(column, isSaid: true)
        }
        output += Redactor.placeholder.utf8
        openEnd = next ?? SecretScanner.redactingPiece(line, names: redactor.names).openEnd
    }

    private mutating func endLine(into output: inout [UInt8]) {
        defer {
            isTooLong = false
            line.removeAll(keepingCapacity: true)
        }
        switch openEnd {
        case .privateKey?:
            guard !isTooLong, let end = SecretShapes.closing(line, from: 0) else { return }
            line.removeSubrange(..<end)
        case .indentation(let column, let isSaid)?:
            if isTooLong || SecretScanner.isInBlock(line[...], of: column) {
                let text = line.drop { " \t\r\n".utf8.contains($0) }
                if text.isEmpty && !isTooLong {
                    // Blank lines before the first belong to nothing.
                    if !isSaid { output += line }
                } else if !isSaid {
                    output += line[..<text.startIndex]
                    output += Redactor.placeholder.utf8
                    openEnd = .indentation(column, isSaid: true)
                }
                return
            }
            if isSaid { output.append(UInt8(ascii: "\n")) }
        case .quotationMark?, .everything?, nil:
            if isTooLong {
                output.append(UInt8(ascii: "\n"))
                return
            }
        }
        let (redacted, openEnd) = SecretScanner.redactingPiece(line, names: redactor.names)
        output += redacted ?? line
        self.openEnd = openEnd
    }

    /// The line goes on where the secret ends.
    private mutating func skip(
        _ rest: inout ArraySlice<UInt8>, until end: SecretScanner.OpenEnd, into output: inout [UInt8]
    ) {
        guard case .quotationMark(let mark, let escapes) = end else {
            rest = []
            return
        }
        let before = backslashes.count
        let bytes = backslashes + rest
        if let index = SecretScanner.endOfQuotation(bytes[...], mark, escapes: escapes) {
            // The backslashes of an escaped mark belong to what follows, also those that came with the piece before.
            line = Array(bytes[index..<max(index, before)])
            rest = bytes[max(index, before)...]
            (openEnd, backslashes) = (nil, [])
        } else {
            backslashes = Array(bytes.suffix(while: { $0 == UInt8(ascii: "\\") }))
            rest = []
        }
    }

    /// Removes from the end of a text that goes on what may be the first bytes of a secret: the last word, and the
    /// groups of digits before it.
    static func removeBeginningOfSecret(_ text: inout [UInt8]) {
        while let last = text.last, !" \t\r\n".utf8.contains(last) { text.removeLast() }
        while let last = text.last, last.isDigit || " \t-".utf8.contains(last) { text.removeLast() }
    }
}

extension SecretScanner.OpenEnd {
    /// Whether it is looked for a line at a time.
    fileprivate var isOfLines: Bool {
        switch self {
        case .privateKey, .indentation: true
        case .quotationMark, .everything: false
        }
    }
}

extension Array {
    fileprivate func suffix(while predicate: (Element) -> Bool) -> ArraySlice<Element> {
        self[(lastIndex { !predicate($0) }.map { $0 + 1 } ?? startIndex)...]
    }
}

/// The escapes of a JSON string (RFC 8259, section 7), read leniently: this is to look for secrets, not to interpret.
enum JSONEscapes {
    /// What the bytes between the quotation marks mean; what is no escape, or was cut off, stays as it is.
    static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "\\")) else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), index < bytes.count else {
                result.append(byte)
                continue
            }
            if bytes[index] == UInt8(ascii: "u"), let unit = codeUnit(bytes, at: index + 1) {
                index += 5
                var scalar = unit
                if unit & 0xFC00 == 0xD800, index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\"),
                    bytes[index + 1] == UInt8(ascii: "u"), let second = codeUnit(bytes, at: index + 2),
                    second & 0xFC00 == 0xDC00
                {
                    scalar = 0x10000 + (unit & 0x3FF) << 10 + second & 0x3FF
                    index += 6
                }
                result += UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter
            } else {
                result.append(meaning(of: bytes[index]))
                index += 1
            }
        }
        return result
    }

    /// The shortest form of these bytes between quotation marks.
    static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 2)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 0x0A: result += Array(#"\n"#.utf8)
            case 0..<0x20:
                result += Array((byte < 16 ? #"\u000"# : #"\u00"#).utf8) + Array(String(byte, radix: 16).utf8)
            default: result.append(byte)
            }
        }
        return result
    }

    private static func meaning(of letter: UInt8) -> UInt8 {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: letter
        }
    }

    private static func codeUnit(_ bytes: [UInt8], at start: Int) -> UInt32? {
        guard start + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for byte in bytes[start..<start + 4] {
            guard let digit = byte.hexadecimalValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
