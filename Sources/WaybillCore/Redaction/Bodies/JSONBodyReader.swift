/// Reads JSON token by token. It hides the values of secret names as a whole, and searches all other strings and
/// numbers. It also understands `"name": "password", "value": "x"`, in either order, and `["password", "x"]`.
struct JSONBodyReader: BodyReader {
    private enum Expected { case value, valueOrEnd, name, nameOrEnd, colon, commaOrEnd }
    private enum Token { case none, name, string, word, hidden }

    private struct Level {
        var isObject: Bool
        /// Whether a secret's name was a value: of a member in an object, or of the last element in an array.
        var hasNamedSecret = false
    }

    private struct Hold {
        var level: Int
        var start: Int?
        var end: Int?
        var isSecret = false
    }

    private let redactor: Redactor
    private let nesting: Int
    private var levels: [Level] = []
    private var expected = Expected.value
    private var token = Token.none
    private var string = BodyUnit()
    private var stringEnd = StringEnd()
    private var word: [UInt8] = []
    private var hidden = (depth: 0, isString: false)
    /// The meaning of the next value's name, and whether that value is a name.
    private var meaning = SensitiveNames.Meaning.harmless
    private var isNaming = false
    private var holds: [Hold] = []
    private var held: [UInt8] = []
    /// Reads the rest if this is not JSON. A look at ``hasGivenUp`` costs less for each byte.
    private var other: (any BodyReader)?
    private var hasGivenUp = false

    private static let levelLimit = 256
    static let nestingLimit = 8
    private static let wordLimit = 256
    private static let namingMembers = ["name", "key", "field", "header"].map { LastLetters($0.utf8) }
    private static let valueMembers = ["value", "values", "val"].map { LastLetters($0.utf8) }
    private static let separators: [UInt8] = [0xEF, 0xBB, 0xBF, 0x1E]
    private static let hiddenValue = Array("\"\(Redactor.placeholder)\"".utf8)

    init(_ redactor: Redactor, nesting: Int = 0) {
        self.redactor = redactor
        self.nesting = nesting
    }

    static func looksLikeJSON(_ text: [UInt8]) -> Bool {
        var significant = text.lazy.filter { !$0.isBlank }.makeIterator()
        return switch significant.next() {
        case UInt8(ascii: "{"): significant.next().map { $0.isOne(of: "\"}") } ?? false
        case UInt8(ascii: "["): significant.next().map { $0.isOne(of: "{[\"]") } ?? false
        default: false
        }
    }

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        var rest = bytes
        while !hasGivenUp {
            if token == .name || token == .string {
                let inside = stringEnd.inside(rest)
                string.append(inside)
                rest = rest.dropFirst(inside.count)
            }
            guard let byte = rest.popFirst() else { return }
            if holds.isEmpty {
                read(byte, into: &output)
            } else {
                var buffer: [UInt8] = []
                swap(&buffer, &held)
                read(byte, into: &buffer)
                release(&buffer, into: &output)
            }
        }
        if !rest.isEmpty { other?.read(rest, into: &output) }
    }

    private mutating func read(_ byte: UInt8, into output: inout [UInt8]) {
        switch token {
        case .none: begin(byte, into: &output)
        case .name, .string:
            if stringEnd.isReached(by: byte) {
                endString(isClosed: true, into: &output)
            } else {
                string.append(byte)
            }
        case .word: readWord(byte, into: &output)
        case .hidden: skipHidden(byte, output)
        }
    }

    mutating func finish(isWhole: Bool, into output: inout [UInt8]) {
        var buffer: [UInt8] = []
        swap(&buffer, &held)
        if isWhole, !hasGivenUp { finishToken(into: &buffer) }
        hideHeldValues(in: &buffer)
        output += buffer
        other?.finish(isWhole: isWhole, into: &output)
    }

    private mutating func finishToken(into output: inout [UInt8]) {
        switch token {
        case .name, .string: endString(isClosed: false, into: &output)
        case .word where !isWord: giveUp(nil, into: &output)
        case .word: endWord(into: &output)
        case .none, .hidden: break
        }
    }

    // MARK: Values before their names

    private mutating func release(_ buffer: inout [UInt8], into output: inout [UInt8]) {
        while let last = holds.last, last.isSecret || last.level > levels.count {
            if last.isSecret { hide(last, in: &buffer) }
            holds.removeLast()
        }
        if buffer.count > BodyRedactor.unitLimit { hideHeldValues(in: &buffer) }
        if holds.isEmpty {
            output += buffer
        } else {
            swap(&buffer, &held)
        }
    }

    /// Hides values that still wait for a name, except arrays and objects, which don't get one.
    private mutating func hideHeldValues(in buffer: inout [UInt8]) {
        for hold in holds.reversed() {
            guard let start = hold.start, start < buffer.count, !buffer[start].isOne(of: "[{") else { continue }
            hide(hold, in: &buffer)
        }
        holds = []
    }

    private func hide(_ hold: Hold, in buffer: inout [UInt8]) {
        guard let start = hold.start, start < buffer.count else { return }
        buffer.replaceSubrange(start..<(hold.end ?? buffer.count), with: Self.hiddenValue)
    }

    private mutating func noteEnd(_ output: [UInt8]) {
        for index in holds.indices.reversed() where holds[index].level == levels.count {
            if holds[index].start != nil, holds[index].end == nil { holds[index].end = output.count }
        }
    }

    // MARK: Structure

    private mutating func begin(_ byte: UInt8, into output: inout [UInt8]) {
        let isValue = expected == .value || expected == .valueOrEnd
        if isValue, let last = holds.indices.last, holds[last].start == nil, !byte.isBlank {
            holds[last].start = output.count
        }
        let isInObject = levels.last?.isObject
        switch Unicode.Scalar(byte) {
        case _ where byte.isBlank: output.append(byte)
        case _ where levels.isEmpty && Self.separators.contains(byte): output.append(byte)
        case "\"" where expected == .name || expected == .nameOrEnd: token = .name
        case "\"" where isValue && isSecret: hide(depth: 0, into: &output)
        case "\"" where isValue: token = .string
        case "{" where isValue: open(byte, isObject: true, into: &output)
        case "[" where isValue: open(byte, isObject: false, into: &output)
        case "}" where isInObject == true && (expected == .nameOrEnd || expected == .commaOrEnd),
            "]" where isInObject == false && (expected == .valueOrEnd || expected == .commaOrEnd):
            output.append(byte)
            levels.removeLast()
            endValue(output)
        case ":" where expected == .colon:
            output.append(byte)
            expected = .value
        case "," where expected == .commaOrEnd:
            output.append(byte)
            expected = isInObject == true ? .name : .value
        case _ where isValue && (byte.isLetterOrDigit || byte == UInt8(ascii: "-")):
            token = .word
            word.append(byte)
        default: giveUp(byte, into: &output)
        }
    }

    private mutating func open(_ byte: UInt8, isObject: Bool, into output: inout [UInt8]) {
        if isSecret || meaning == .remark || !isObject && meaning != .harmless {
            hide(depth: 1, into: &output)
        } else if levels.count == Self.levelLimit {
            meaning = .secret
            giveUp(byte, into: &output)
        } else {
            output.append(byte)
            levels.append(Level(isObject: isObject))
            (meaning, isNaming) = (.harmless, false)
            expected = isObject ? .nameOrEnd : .valueOrEnd
        }
    }

    private var isSecret: Bool { meaning == .secret || meaning == .secrets || meaning == .word || isListedSecret }

    private var isListedSecret: Bool { levels.last.map { !$0.isObject && $0.hasNamedSecret } ?? false }

    private mutating func endValue(_ output: [UInt8], name: SensitiveNames.Meaning = .harmless) {
        token = .none
        noteEnd(output)
        if let last = levels.indices.last {
            if !levels[last].isObject { levels[last].hasNamedSecret = name == .secret || name == .secrets }
            if levels[last].isObject && isNaming && name != .harmless {
                levels[last].hasNamedSecret = true
                for index in holds.indices where holds[index].level == levels.count { holds[index].isSecret = true }
            }
        }
        (meaning, isNaming) = (.harmless, false)
        expected = levels.isEmpty ? .value : .commaOrEnd
    }

    /// Continues as text, or hides the rest if it may be the value of a secret.
    private mutating func giveUp(_ byte: UInt8?, into output: inout [UInt8]) {
        hasGivenUp = true
        other = meaning != .harmless || levels.last?.hasNamedSecret == true ? HiddenReader() : TextReader(redactor)
        holds = []
        other?.read((word + [byte].compactMap { $0 })[...], into: &output)
        word = []
    }

    // MARK: Tokens

    private mutating func endString(isClosed: Bool, into output: inout [UInt8]) {
        let meant = string.isTooLong ? [] : JSONEscapes.decoded(string.bytes)
        let isSecret = token == .string && redactor.names.hides(meant, as: meaning)
        output.append(UInt8(ascii: "\""))
        output += isSecret ? Redactor.placeholderBytes : string.kept { text($0, meant) }
        if isClosed { output.append(UInt8(ascii: "\"")) }
        if token == .name {
            endName(meant)
        } else {
            let mayName = isNaming || levels.last?.isObject == false
            let isName = mayName && meant.count <= 64 && !meant.contains(UInt8(ascii: " "))
            endValue(output, name: isName ? redactor.names.meaning(of: meant) : .harmless)
        }
        string.clear()
    }

    private mutating func endName(_ meant: [UInt8]) {
        let name = LastLetters(meant.lazy.map(\.lowercased))
        let isValue = Self.valueMembers.contains(name)
        let isNamedSecret = isValue && levels.last?.hasNamedSecret == true
        meaning = string.isTooLong || isNamedSecret ? .secret : redactor.names.meaning(of: meant)
        isNaming = Self.namingMembers.contains(name)
        if isValue, !isNamedSecret { holds.append(Hold(level: levels.count)) }
        token = .none
        expected = .colon
    }

    private func text(_ raw: [UInt8], _ meant: [UInt8]) -> [UInt8] {
        redactor.embeddedText(meant, nesting: nesting).map(JSONEscapes.encoded) ?? raw
    }

    private mutating func readWord(_ byte: UInt8, into output: inout [UInt8]) {
        let isEnded = word.last?.isBlank == true
        let isShort = word.count < Self.wordLimit
        switch Unicode.Scalar(byte) {
        case _ where isShort && !isEnded && (byte.isLetterOrDigit || byte.isOne(of: "+-.")): word.append(byte)
        case _ where !isEnded && !isWord: giveUp(byte, into: &output)
        case "\n" where levels.isEmpty:
            endWord(into: &output)
            output.append(byte)
        case _ where isShort && byte.isBlank: word.append(byte)
        case "," where !levels.isEmpty, "}" where !levels.isEmpty, "]" where !levels.isEmpty:
            endWord(into: &output)
            begin(byte, into: &output)
        default: giveUp(byte, into: &output)
        }
    }

    private mutating func endWord(into output: inout [UInt8]) {
        let isHidden = isListedSecret || redactor.names.hides(word.prefix { !$0.isBlank }, as: meaning)
        let isShape = isHidden || SecretScanner.redacting(word, names: redactor.names) != nil
        output += isShape ? Self.hiddenValue : word
        word.removeAll(keepingCapacity: true)
        endValue(output)
    }

    private var isWord: Bool {
        let word = word.prefix { !$0.isBlank }
        if word.first?.isLetter == true { return ["true", "false", "null"].contains { word.elementsEqual($0.utf8) } }
        return word.allSatisfy { $0.isDigit || $0.isOne(of: "+-.eE") } && word.contains(where: \.isDigit)
    }

    private mutating func hide(depth: Int, into output: inout [UInt8]) {
        output += Self.hiddenValue
        token = .hidden
        hidden = (depth, depth == 0)
    }

    private mutating func skipHidden(_ byte: UInt8, _ output: [UInt8]) {
        if hidden.isString {
            hidden.isString = !stringEnd.isReached(by: byte)
        } else {
            switch Unicode.Scalar(byte) {
            case "\"": hidden.isString = true
            case "{", "[": hidden.depth += 1
            case "}", "]": hidden.depth -= 1
            default: break
            }
        }
        if hidden.depth == 0, !hidden.isString { endValue(output) }
    }
}

extension Redactor {
    /// Returns a text inside a body without its secrets; `nil` if it has none. Reads JSON in a string as JSON.
    func embeddedText(_ text: [UInt8], nesting: Int = 0) -> [UInt8]? {
        guard JSONBodyReader.looksLikeJSON(text) else { return SecretScanner.redacting(text, names: names) }
        guard nesting < JSONBodyReader.nestingLimit else { return Self.placeholderBytes }
        var reader = JSONBodyReader(self, nesting: nesting + 1)
        var output: [UInt8] = []
        reader.read(text[...], into: &output)
        reader.finish(isWhole: true, into: &output)
        return output == text ? nil : output
    }
}
