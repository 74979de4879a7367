/// A reader for one format of bodies.
protocol BodyReader: Sendable {
    /// Reads bytes, and appends the output so far.
    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8])

    /// Appends the rest.
    ///
    /// - Parameter isWhole: `false` if the last unit was cut off.
    mutating func finish(isWhole: Bool, into output: inout [UInt8])
}

/// A string, a tag, a run of text or a form member whose end hasn't come yet.
struct BodyUnit: Sendable {
    private(set) var bytes: [UInt8] = []
    /// Whether the unit has reached the limit. Then ``bytes`` has only its beginning.
    private(set) var isTooLong = false

    mutating func append(_ byte: UInt8) {
        guard !isTooLong else { return }
        bytes.append(byte)
        isTooLong = bytes.count == BodyRedactor.unitLimit
    }

    /// Starts the next unit.
    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        isTooLong = false
    }

    /// Returns the unit without its secrets, or the placeholder if the unit is too long to be searched.
    func kept(_ redacted: ([UInt8]) -> [UInt8]) -> [UInt8] { isTooLong ? Redactor.placeholderBytes : redacted(bytes) }
}

/// The state inside a JSON string.
struct StringEnd: Sendable {
    private var isEscaped = false

    /// Whether this byte is the quotation mark that ends the string.
    mutating func isReached(by byte: UInt8) -> Bool {
        let isMark = byte == UInt8(ascii: "\"") && !isEscaped
        isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        return isMark
    }
}

/// Stores nothing but one placeholder.
struct HiddenReader: BodyReader {
    private var hasBegun = false

    mutating func read(_ bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        guard !hasBegun, !bytes.isEmpty else { return }
        output += Redactor.placeholderBytes
        hasBegun = true
    }

    func finish(isWhole: Bool, into output: inout [UInt8]) {}
}

/// Reads `application/x-www-form-urlencoded`, one member at a time.
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
