/// How people and programs write the identity of a fact, an exchange for one.
extension Fact.ID: CustomStringConvertible {
    /// The source and the sequence: `01890a5d-ac96-774b-bcce-b302099a8057:17`.
    public var description: String { "\(source):\(sequence)" }

    /// The same with the source's support code, to be read out: `K7QD-3M2X:17`.
    public var code: String { "\(source.supportCode):\(sequence)" }

    /// Reads the form of ``description``; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let source = GUID(text[..<colon]),
            let sequence = Self.sequence(text[text.index(after: colon)...])
        else { return nil }
        self.init(source: source, sequence: sequence)
    }

    /// Reads a sequence: digits alone, from 1 to 2^53 - 1; nil for anything else.
    package static func sequence(_ digits: some StringProtocol) -> Int64? {
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let sequence = Int64(digits),
            (1...Limits.largestInteger).contains(sequence)
        else { return nil }
        return sequence
    }
}
