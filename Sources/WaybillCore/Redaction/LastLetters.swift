/// The last 16 letters of a name, as bytes, to be compared without allocating.
struct LastLetters: Hashable, Sendable {
    // `UInt128` is not on iOS before 18.
    private(set) var high: UInt64 = 0
    private(set) var low: UInt64 = 0

    init() {}

    init(_ letters: some Sequence<UInt8>) { for letter in letters { append(letter) } }

    @inline(__always)
    mutating func append(_ letter: UInt8) {
        high = high << 8 | low >> 56
        low = low << 8 | UInt64(letter)
    }

    /// Whether they are the same where a mask has ones.
    @inline(__always)
    func equals(_ other: LastLetters, where mask: LastLetters) -> Bool {
        (high ^ other.high) & mask.high | (low ^ other.low) & mask.low == 0
    }
}
