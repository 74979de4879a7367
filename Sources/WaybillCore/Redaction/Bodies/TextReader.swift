/// Reads text line by line. A secret can continue on the next lines until its quotation mark, bracket or block closes.
struct TextReader: BodyReader {
    private let redactor: Redactor
    private var line: [UInt8] = []
    private var isTooLong = false
    private var openEnd: SecretScanner.OpenEnd?
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
            // Stop at the limit, because the output must not depend on the pieces.
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

    private mutating func hideBeginningOfLine(into output: inout [UInt8]) {
        if openEnd == .privateKey, SecretShapes.closing(line, from: 0) == nil { return }
        var next: SecretScanner.OpenEnd?
        if case .indentation(let column, let isSaid) = openEnd, SecretScanner.isInBlock(line[...], of: column) {
            if isSaid { return }
            next = .indentation(column, isSaid: true)
        }
        output += Redactor.placeholderBytes
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
                let text = line.drop(while: \.isBlank)
                if text.isEmpty && !isTooLong {
                    if !isSaid { output += line }
                } else if !isSaid {
                    output += line[..<text.startIndex]
                    output += Redactor.placeholderBytes
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
            line = Array(bytes[index..<max(index, before)])
            rest = bytes[max(index, before)...]
            (openEnd, backslashes) = (nil, [])
        } else {
            backslashes = Array(bytes.suffix(while: { $0 == UInt8(ascii: "\\") }))
            rest = []
        }
    }

    /// Removes a possible partial secret from the end of a text: the last word, and the groups of digits before it.
    static func removeBeginningOfSecret(_ text: inout [UInt8]) {
        while let last = text.last, !last.isBlank { text.removeLast() }
        while let last = text.last, last.isDigit || last.isOne(of: " \t-") { text.removeLast() }
    }
}

extension SecretScanner.OpenEnd {
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
