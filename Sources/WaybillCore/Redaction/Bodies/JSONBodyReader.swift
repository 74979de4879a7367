/// JSON, a token at a time: what stands under the name of a secret goes whole, at any depth; every string and number is
/// looked at.
///
/// A pair of members like `"name": "password", "value": "x"`, in either order, and of elements like `["password", "x"]`,
/// is read as a name and its value.
struct JSONBodyReader: BodyReader {
    private enum Expected { case value, valueOrEnd, name, nameOrEnd, colon, commaOrEnd }
    private enum Token { case none, name, string, word, afterWord, hiddenString, hiddenContainer }

    /// An object or an array that is open.
    private struct Level {
        var isObject: Bool
        /// Of an object: a member said the name of a secret, and its members called `value` are the secret. Of an
        /// array: the last element did.
        var hasNamedSecret = false
    }

    /// A value that stands before what may be its name, and waits for it.
    private struct Hold {
        /// How deep the object is that it is a member of.
        var level: Int
        /// Where it is in what is held.
        var start: Int?
        var end: Int?
        var isSecret = false
    }

    private let redactor: Redactor
    /// How many strings this document stands in.
    private let nesting: Int
    private var levels: [Level] = []
    private var expected = Expected.value
    private var token = Token.none
    /// The token under way, as it stands there, without quotation marks.
    private var unit: [UInt8] = []
    private var isTooLong = false
    private var isEscaped = false
    /// Brackets to be closed, and whether inside a string, in what is hidden.
    private var hidden = (depth: 0, isString: false)
    /// What the name in front says of the value that comes, and whether the value is itself a name.
    private var meaning = SensitiveNames.Meaning.harmless
    private var isNaming = false
    /// Values that wait for their names, and what is kept from the first on, up to a limit.
    private var holds: [Hold] = []
    private var held: [UInt8] = []
    /// What reads on where this is no JSON.
    private var other: (any BodyReader)?

    private static let levelLimit = 256
    static let nestingLimit = 8
    private static let wordLimit = 256
    private static let namingMembers: Set<[UInt8]> = Set(["name", "key", "field", "header"].map { Array($0.utf8) })
    private static let valueMembers: Set<[UInt8]> = Set(["value", "values", "val"].map { Array($0.utf8) })
    private static let separators: [UInt8] = [0xEF, 0xBB, 0xBF, 0x1E]
    private static let hiddenValue = Array("\"\(Redactor.placeholder)\"".utf8)

    init(_ redactor: Redactor, nesting: Int = 0) {
        self.redactor = redactor
        self.nesting = nesting
    }

    /// Whether a text begins as objects, and arrays of them or of strings, do.
    static func looksLikeJSON(_ significant: [UInt8]) -> Bool {
        guard significant.count > 1 else { return false }
        return switch significant[0] {
        case UInt8(ascii: "{"): "\"}".utf8.contains(significant[1])
        case UInt8(ascii: "["): "{[\"]".utf8.contains(significant[1])
        default: false
        }
    }

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if other != nil {
                other?.read(bytes[index...], into: &output)
                return
            }
            let byte = bytes[index]
            index += 1
            if holds.isEmpty {
                read(byte, into: &output)
            } else {
                var buffer: [UInt8] = []
                swap(&buffer, &held)
                read(byte, into: &buffer)
                release(&buffer, into: &output)
            }
        }
    }

    private mutating func read(_ byte: UInt8, into output: inout [UInt8]) {
        switch token {
        case .none: begin(byte, into: &output)
        case .name, .string, .hiddenString: readString(byte, into: &output)
        case .word:
            if byte.isLetterOrDigit || "+-.".utf8.contains(byte), unit.count < Self.wordLimit {
                unit.append(byte)
            } else if Self.isWord(unit) {
                token = .afterWord
                readAfterWord(byte, into: &output)
            } else {
                giveUp(byte, into: &output)
            }
        case .afterWord: readAfterWord(byte, into: &output)
        case .hiddenContainer: skipHidden(byte, output)
        }
    }

    mutating func finish(isWhole: Bool, into output: inout [UInt8]) {
        if other != nil {
            other?.finish(isWhole: isWhole, into: &output)
            return
        }
        var buffer: [UInt8] = []
        swap(&buffer, &held)
        if isWhole { finishToken(into: &buffer) }
        // Its name might have come.
        hideHeldValues(in: &buffer)
        output += buffer
    }

    private mutating func finishToken(into output: inout [UInt8]) {
        switch token {
        case .name: output += [UInt8(ascii: "\"")] + (isTooLong ? Array(Redactor.placeholder.utf8) : text(unit))
        case .string:
            let isSecret = redactor.names.hides(JSONEscapes.decoded(unit), as: meaning)
            output.append(UInt8(ascii: "\""))
            output += isTooLong || isSecret ? Array(Redactor.placeholder.utf8) : text(unit)
        case .word where !Self.isWord(unit):
            giveUp(nil, into: &output)
            other?.finish(isWhole: true, into: &output)
        case .word, .afterWord: endWord(into: &output)
        case .none, .hiddenString, .hiddenContainer: break
        }
    }

    // MARK: Values before their names

    /// Gives out what is held, as soon as it is known which of it are secrets.
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

    /// Hides those that wait still. Lists and objects are no values that others give names to.
    private mutating func hideHeldValues(in buffer: inout [UInt8]) {
        for hold in holds.reversed() {
            guard let start = hold.start, start < buffer.count, !"[{".utf8.contains(buffer[start]) else { continue }
            hide(hold, in: &buffer)
        }
        holds = []
    }

    private func hide(_ hold: Hold, in buffer: inout [UInt8]) {
        guard let start = hold.start, start < buffer.count else { return }
        buffer.replaceSubrange(start..<(hold.end ?? buffer.count), with: Self.hiddenValue)
    }

    /// Notes where a value ends that waits for its name.
    private mutating func noteEnd(_ output: [UInt8]) {
        for index in holds.indices.reversed() where holds[index].level == levels.count {
            if holds[index].start != nil, holds[index].end == nil { holds[index].end = output.count }
        }
    }

    // MARK: Structure

    private mutating func begin(_ byte: UInt8, into output: inout [UInt8]) {
        let isValue = expected == .value || expected == .valueOrEnd
        if isValue, let last = holds.indices.last, holds[last].start == nil, !" \t\r\n".utf8.contains(byte) {
            holds[last].start = output.count
        }
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): output.append(byte)
        // A byte order mark, or the separator of RFC 7464.
        case _ where levels.isEmpty && Self.separators.contains(byte): output.append(byte)
        case UInt8(ascii: "\"") where expected == .name || expected == .nameOrEnd: token = .name
        case UInt8(ascii: "\"") where isValue:
            token = isSecret ? .hiddenString : .string
            if isSecret { output += Self.hiddenValue }
        case UInt8(ascii: "{") where isValue: open(byte, isObject: true, into: &output)
        case UInt8(ascii: "[") where isValue: open(byte, isObject: false, into: &output)
        case UInt8(ascii: "}")
        where levels.last?.isObject == true && (expected == .nameOrEnd || expected == .commaOrEnd):
            output.append(byte)
            levels.removeLast()
            endValue(output)
        case UInt8(ascii: "]")
        where levels.last?.isObject == false && (expected == .valueOrEnd || expected == .commaOrEnd):
            output.append(byte)
            levels.removeLast()
            endValue(output)
        case UInt8(ascii: ":") where expected == .colon:
            output.append(byte)
            expected = .value
        case UInt8(ascii: ",") where expected == .commaOrEnd:
            output.append(byte)
            expected = levels.last?.isObject == true ? .name : .value
        case _ where isValue && (byte.isLetterOrDigit || byte == UInt8(ascii: "-")):
            token = .word
            unit = [byte]
        default: giveUp(byte, into: &output)
        }
    }

    private mutating func open(_ byte: UInt8, isObject: Bool, into output: inout [UInt8]) {
        // What an object under the name `code` or `key` holds has names of its own.
        if isSecret || meaning == .remark || !isObject && meaning != .harmless {
            output += Self.hiddenValue
            token = .hiddenContainer
            hidden = (1, false)
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

    /// Whether an object or a list that comes is a secret, whatever is in it.
    private var isSecret: Bool { meaning == .secret || meaning == .secrets || meaning == .word || isListedSecret }

    /// Whether the value that comes stands in a list behind the name of a secret.
    private var isListedSecret: Bool { levels.last.map { !$0.isObject && $0.hasNamedSecret } ?? false }

    /// - Parameter name: What the value says as a name.
    private mutating func endValue(_ output: [UInt8], name: SensitiveNames.Meaning = .harmless) {
        token = .none
        noteEnd(output)
        if let last = levels.indices.last {
            // A list of words may have one among them that is no name.
            if !levels[last].isObject { levels[last].hasNamedSecret = name == .secret || name == .secrets }
            if levels[last].isObject && isNaming && name != .harmless {
                levels[last].hasNamedSecret = true
                for index in holds.indices where holds[index].level == levels.count { holds[index].isSecret = true }
            }
        }
        (meaning, isNaming) = (.harmless, false)
        expected = levels.isEmpty ? .value : .commaOrEnd
    }

    /// What follows is no JSON, and is read as text; it goes whole where it may be what a name said was a secret.
    private mutating func giveUp(_ byte: UInt8?, into output: inout [UInt8]) {
        other = meaning != .harmless || levels.last?.hasNamedSecret == true ? HiddenReader() : TextReader(redactor)
        holds = []
        other?.read((unit + [byte].compactMap { $0 })[...], into: &output)
        unit = []
    }

    // MARK: Tokens

    private mutating func readString(_ byte: UInt8, into output: inout [UInt8]) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            return endString(into: &output)
        }
        guard token != .hiddenString, !isTooLong else { return }
        unit.append(byte)
        if unit.count == BodyRedactor.unitLimit {
            isTooLong = true
            unit.removeAll(keepingCapacity: true)
        }
    }

    private mutating func endString(into output: inout [UInt8]) {
        defer {
            unit.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if token == .hiddenString { return endValue(output) }
        let meant = JSONEscapes.decoded(unit)
        let isSecret = isTooLong || token == .string && redactor.names.hides(meant, as: meaning)
        output.append(UInt8(ascii: "\""))
        output += isSecret ? Array(Redactor.placeholder.utf8) : text(unit)
        output.append(UInt8(ascii: "\""))
        if token == .name {
            endName(meant)
        } else {
            // A sentence that has the word in it is no name.
            let isName = meant.count <= 64 && !meant.contains(UInt8(ascii: " "))
            endValue(output, name: isName ? redactor.names.meaning(of: meant) : .harmless)
        }
    }

    private mutating func endName(_ meant: [UInt8]) {
        let name = meant.map(\.lowercased)
        let isValue = Self.valueMembers.contains(name)
        let isNamedSecret = isValue && levels.last?.hasNamedSecret == true
        meaning = isTooLong || isNamedSecret ? .secret : redactor.names.meaning(of: meant)
        isNaming = Self.namingMembers.contains(name)
        if isValue, !isNamedSecret { holds.append(Hold(level: levels.count)) }
        token = .none
        expected = .colon
    }

    /// A string as it is kept, between its quotation marks.
    private func text(_ raw: [UInt8]) -> [UInt8] {
        let isEscaped = raw.contains(UInt8(ascii: "\\"))
        return redactor.embeddedText(isEscaped ? JSONEscapes.decoded(raw) : raw, nesting: nesting).map(
            JSONEscapes.encoded) ?? raw
    }

    private mutating func readAfterWord(_ byte: UInt8, into output: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\n") where levels.isEmpty:
            endWord(into: &output)
            output.append(byte)
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
            guard unit.count < Self.wordLimit else { return giveUp(byte, into: &output) }
            unit.append(byte)
        case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"):
            guard !levels.isEmpty else { return giveUp(byte, into: &output) }
            endWord(into: &output)
            begin(byte, into: &output)
        default: giveUp(byte, into: &output)
        }
    }

    /// A number or a literal, and the white space behind it.
    private mutating func endWord(into output: inout [UInt8]) {
        let word = unit.prefix { !" \t\r\n".utf8.contains($0) }
        let isHidden = isListedSecret || redactor.names.hides(word, as: meaning)
        if isHidden || SecretScanner.redacting(unit, names: redactor.names) != nil {
            output += Self.hiddenValue
        } else {
            output += unit
        }
        unit.removeAll(keepingCapacity: true)
        endValue(output)
    }

    private static func isWord(_ bytes: [UInt8]) -> Bool {
        if bytes.first?.isLetter == true { return ["true", "false", "null"].contains { bytes.elementsEqual($0.utf8) } }
        return bytes.allSatisfy { $0.isDigit || "+-.eE".utf8.contains($0) } && bytes.contains(where: \.isDigit)
    }

    private mutating func skipHidden(_ byte: UInt8, _ output: [UInt8]) {
        if hidden.isString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                hidden.isString = false
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): hidden.isString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): hidden.depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            hidden.depth -= 1
            if hidden.depth == 0 { endValue(output) }
        default: break
        }
    }
}

extension Redactor {
    /// A text inside a body without its secrets; JSON in a string is read as JSON. nil: it has none.
    func embeddedText(_ text: [UInt8], nesting: Int = 0) -> [UInt8]? {
        let significant = Array(text.lazy.filter { !" \t\r\n".utf8.contains($0) }.prefix(2))
        guard JSONBodyReader.looksLikeJSON(significant) else { return SecretScanner.redacting(text, names: names) }
        guard nesting < JSONBodyReader.nestingLimit else { return Array(Self.placeholder.utf8) }
        var reader = JSONBodyReader(self, nesting: nesting + 1)
        var output: [UInt8] = []
        reader.read(text[...], into: &output)
        reader.finish(isWhole: true, into: &output)
        return output == text ? nil : output
    }
}
