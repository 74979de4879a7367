/// Reads a multipart body (RFC 2046, section 5.1; RFC 7578). Each part has a reader for its type, or is hidden if its
/// name is secret. Bytes outside the parts are removed.
struct MultipartReader: BodyReader {
    private enum State { case outside, head, content, end }

    private let delimiter: [UInt8]
    private let redactor: Redactor
    private let keepsBinary: Bool
    private let nesting: Int
    private var state = State.outside
    /// The current line, while it may be a delimiter; or the current part's head.
    private var line: [UInt8] = []
    private var isMatching = true
    private var part: (any BodyReader)?
    private var endsLine = true

    private static let headLimit = 16 << 10
    private static let nestingLimit = 4
    private static let padding = 64

    init(boundary: [UInt8], redactor: Redactor, keepsBinary: Bool, nesting: Int) {
        delimiter = Array("--".utf8) + boundary
        self.redactor = redactor
        self.keepsBinary = keepsBinary
        self.nesting = nesting
    }

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        var rest = bytes
        while state != .end, let byte = rest.first {
            if state == .head || isMatching {
                rest.removeFirst()
                line.append(byte)
                if state == .head { readHead(into: &output) } else { match(into: &output) }
            } else {
                let end = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? rest.endIndex
                isMatching = rest[end - 1] == UInt8(ascii: "\n")
                give(rest[..<end], into: &output)
                rest = rest[end...]
            }
        }
    }

    mutating func finish(isWhole: Bool, into output: inout [UInt8]) {
        guard state == .content else { return }
        if isMatching, isWhole, isDelimiter { return endPart(into: &output) }
        if isMatching { giveLine(into: &output) }
        part?.finish(isWhole: isWhole, into: &output)
    }

    // MARK: Delimiters

    private mutating func match(into output: inout [UInt8]) {
        guard let byte = line.last else { return }
        let isEndOfLine = byte == UInt8(ascii: "\n")
        let isPossible =
            line.count <= delimiter.count
            ? byte == delimiter[line.count - 1]
            : line.count <= delimiter.count + Self.padding && (byte.isBlank || byte == UInt8(ascii: "-"))
        if isPossible, isEndOfLine, isDelimiter {
            endPart(into: &output)
        } else if !isPossible || isEndOfLine {
            giveLine(into: &output)
            isMatching = isEndOfLine
        }
    }

    private var isDelimiter: Bool {
        let behind = line.dropFirst(delimiter.count).drop { $0 == UInt8(ascii: "-") }
        return line.starts(with: delimiter) && behind.allSatisfy(\.isBlank)
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

    private mutating func giveLine(into output: inout [UInt8]) {
        give(line[...], into: &output)
        line.removeAll(keepingCapacity: true)
    }

    private mutating func give(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        let before = output.count
        part?.read(bytes, into: &output)
        if output.count > before { endsLine = output.last == UInt8(ascii: "\n") }
    }

    // MARK: The head of a part

    private mutating func readHead(into output: inout [UInt8]) {
        let isEnd =
            line.last == 0x0A
            && (line.count == 1 || line == [0x0D, 0x0A] || line.suffix(2) == [0x0A, 0x0A]
                || line.suffix(3) == [0x0A, 0x0D, 0x0A])
        guard isEnd || line.count == Self.headLimit else { return }
        let head = Head(line)
        part = isEnd ? reader(of: head) : HiddenReader()
        output += isEnd ? keptHead(head) : Array("\r\n".utf8)
        line.removeAll(keepingCapacity: true)
        (state, isMatching, endsLine) = (.content, true, true)
    }

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
        return BodyRedactor(
            BodyFormat(contentType: head.contentType), redactor: redactor, keepsBinary: keepsBinary,
            nesting: nesting + 1)
    }

    private struct Head {
        var contentType: String?
        var encoding: String?
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

        private static func name(in disposition: Substring) -> [UInt8] {
            let parameters = disposition.split(separator: ";").dropFirst().map { $0.drop { $0 == " " || $0 == "\t" } }
            let names = parameters.filter { $0.lowercased().hasPrefix("name") }.compactMap { parameter in
                parameter.firstIndex(of: "=").map { parameter[parameter.index(after: $0)...] }
            }
            return PercentEncoding.decoded(Array(names.joined(separator: " ").utf8))
        }
    }
}
