protocol BodyReader: Sendable {
    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8])

    /// `isWhole` is false if the last unit was cut off.
    mutating func finish(isWhole: Bool, into output: inout [UInt8])
}

struct BodyUnit: Sendable {
    private(set) var bytes: [UInt8] = []
    private(set) var isTooLong = false

    mutating func append(_ byte: UInt8) {
        guard !isTooLong else { return }
        bytes.append(byte)
        isTooLong = bytes.count == BodyRedactor.unitLimit
    }

    mutating func append(_ more: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        bytes += more.prefix(BodyRedactor.unitLimit - bytes.count)
        isTooLong = bytes.count == BodyRedactor.unitLimit
    }

    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        isTooLong = false
    }

    func kept(_ redacted: ([UInt8]) -> [UInt8]) -> [UInt8] { isTooLong ? Redactor.placeholderBytes : redacted(bytes) }
}

struct StringEnd: Sendable {
    private var isEscaped = false

    /// Returns the first bytes up to the next quotation mark or backslash; none after a backslash.
    func inside(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        isEscaped ? [] : bytes.prefix { $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }

    mutating func isReached(by byte: UInt8) -> Bool {
        let isMark = byte == UInt8(ascii: "\"") && !isEscaped
        isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        return isMark
    }
}

struct HiddenReader: BodyReader {
    private var hasBegun = false

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        guard !hasBegun, !bytes.isEmpty else { return }
        output += Redactor.placeholderBytes
        hasBegun = true
    }

    func finish(isWhole: Bool, into output: inout [UInt8]) {}
}

struct FormReader: BodyReader {
    private let redactor: Redactor
    private var member = BodyUnit()

    init(_ redactor: Redactor) { self.redactor = redactor }

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        for byte in bytes {
            if byte == UInt8(ascii: "&") {
                finish(isWhole: true, into: &output)
                output.append(byte)
            } else {
                member.append(byte)
            }
        }
    }

    mutating func finish(isWhole: Bool, into output: inout [UInt8]) {
        if isWhole { output += member.kept { redactor.form($0[...]) } }
        member.clear()
    }
}
