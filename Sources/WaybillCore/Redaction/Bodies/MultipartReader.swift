/// A body of several parts (RFC 2046, section 5.1; RFC 7578): each is read by its own type, and goes whole where its
/// name is a secret's.
///
/// What stands before the first delimiter and after the last belongs to no part, and is left out.
struct MultipartReader: BodyReader {
    private enum State { case outside, head, content, end }

    private let delimiter: [UInt8]
    private let redactor: Redactor
    private let keepsBinary: Bool
    private let nesting: Int
    private var state = State.outside
    /// The line under way for as long as it may be a delimiter; in the head of a part, all of it.
    private var line: [UInt8] = []
    private var isMatching = true
    private var part: (any BodyReader)?
    /// Whether the last byte that was given ended a line.
    private var endsLine = true

    private static let headLimit = 16 << 10
    private static let nestingLimit = 4
    /// White space behind a delimiter.
    private static let padding = 64

    init(boundary: [UInt8], redactor: Redactor, keepsBinary: Bool, nesting: Int) {
        delimiter = Array("--".utf8) + boundary
        self.redactor = redactor
        self.keepsBinary = keepsBinary
        self.nesting = nesting
    }

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        var rest = bytes
        while !rest.isEmpty {
            switch state {
            case .end: return
            case .head: readHead(&rest, into: &output)
            case .outside, .content:
                if isMatching {
                    match(&rest, into: &output)
                } else {
                    let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
                    give(rest[..<end], into: &output)
                    isMatching = rest[end - 1] == UInt8(ascii: "\n")
                    rest = rest[end...]
                }
            }
        }
    }

    mutating func finish(isWhole: Bool, into output: inout [UInt8]) {
        guard state == .content else { return }
        // A last delimiter need not have an end of line behind it.
        if isMatching, isWhole, isDelimiter(line) { return endPart(into: &output) }
        if isMatching { give(line[...], into: &output) }
        part?.finish(isWhole: isWhole, into: &output)
    }

    // MARK: Delimiters

    private mutating func match(_ rest: inout ArraySlice<UInt8>, into output: inout [UInt8]) {
        guard let byte = rest.popFirst() else { return }
        line.append(byte)
        let isPossible =
            line.count <= delimiter.count
            ? byte == delimiter[line.count - 1]
            : line.count <= delimiter.count + Self.padding && "- \t\r\n".utf8.contains(byte)
        guard isPossible else {
            give(line[...], into: &output)
            line.removeAll(keepingCapacity: true)
            isMatching = byte == UInt8(ascii: "\n")
            return
        }
        guard byte == UInt8(ascii: "\n") else { return }
        guard isDelimiter(line) else {
            give(line[...], into: &output)
            return line.removeAll(keepingCapacity: true)
        }
        endPart(into: &output)
    }

    private func isDelimiter(_ line: [UInt8]) -> Bool {
        let behind = line.dropFirst(delimiter.count).drop { $0 == UInt8(ascii: "-") }
        return line.starts(with: delimiter) && behind.allSatisfy { " \t\r\n".utf8.contains($0) }
    }

    private mutating func endPart(into output: inout [UInt8]) {
        part?.finish(isWhole: true, into: &output)
        if part != nil, !endsLine { output += "\r\n".utf8 }
        part = nil
        output += line
        state = line.dropFirst(delimiter.count).starts(with: "--".utf8) ? .end : .head
        endsLine = true
        line.removeAll(keepingCapacity: true)
    }

    private mutating func give(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        let before = output.count
        part?.read(bytes, into: &output)
        if output.count > before { endsLine = output.last == UInt8(ascii: "\n") }
    }

    // MARK: The head of a part

    private mutating func readHead(_ rest: inout ArraySlice<UInt8>, into output: inout [UInt8]) {
        while let byte = rest.popFirst() {
            line.append(byte)
            let isEnd =
                byte == UInt8(ascii: "\n")
                && (line.count == 1 || line == Array("\r\n".utf8) || line.hasSuffix("\n\n") || line.hasSuffix("\n\r\n"))
            guard isEnd || line.count == Self.headLimit else { continue }
            let head = Head(line)
            part = isEnd ? reader(of: head) : HiddenReader()
            output += isEnd ? keptHead(head) : Array("\r\n".utf8)
            line.removeAll(keepingCapacity: true)
            (state, isMatching, endsLine) = (.content, true, true)
            return
        }
    }

    /// The lines of a head as they are kept: of the file that is a secret the name is one, too.
    private func keptHead(_ head: Head) -> [UInt8] {
        let kept = SecretScanner.redacting(line, names: redactor.names) ?? line
        guard redactor.names.contains(head.name), head.hasFileName else { return kept }
        return Array("Content-Disposition: \(Redactor.placeholder)\r\n\r\n".utf8)
    }

    private func reader(of head: Head) -> any BodyReader {
        let isEncoded = head.encoding.map { !["7bit", "8bit", "binary"].contains($0) } ?? false
        guard !redactor.names.contains(head.name), !isEncoded, nesting < Self.nestingLimit else {
            return HiddenReader()
        }
        return BodyRedactor.reader(
            of: BodyFormat(contentType: head.contentType), redactor: redactor, keepsBinary: keepsBinary,
            nesting: nesting + 1)
    }

    private struct Head {
        var contentType: String?
        var encoding: String?
        /// As it was meant; empty where there is none.
        var name: [UInt8] = []
        var hasFileName = false

        init(_ bytes: [UInt8]) {
            for line in String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n").split(separator: "\n") {
                guard let colon = line.firstIndex(of: ":") else { continue }
                let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
                switch line[..<colon].lowercased() {
                case "content-type": contentType = String(value)
                case "content-transfer-encoding": encoding = value.lowercased()
                case "content-disposition":
                    name = Self.name(in: value)
                    hasFileName = value.lowercased().contains("filename")
                default: break
                }
            }
        }

        /// The parameters `name` and `name*` (RFC 7578, section 4.2; RFC 8187), however they are written.
        private static func name(in disposition: Substring) -> [UInt8] {
            let parameters = disposition.split(separator: ";").dropFirst().map { $0.drop { $0 == " " || $0 == "\t" } }
            let names = parameters.filter { $0.lowercased().hasPrefix("name") }.compactMap { parameter in
                parameter.firstIndex(of: "=").map { parameter[parameter.index(after: $0)...] }
            }
            return PercentEncoding.decoded(Array(names.joined(separator: " ").utf8))
        }
    }
}

extension Array where Element == UInt8 {
    fileprivate func hasSuffix(_ text: StaticString) -> Bool {
        count >= text.utf8CodeUnitCount && suffix(text.utf8CodeUnitCount).elementsEqual(text.description.utf8)
    }
}
