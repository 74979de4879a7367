extension RecordedName {
    /// The code of what has a name only: made of the name alone, so that all processes have the same one without a word
    /// between them. It has the highest bit that a code can have, which those that people number their events by do not
    /// reach, and below it a hash.
    package static func code(of name: String) -> Int {
        var hash = SipHash(key: (0, 0))
        var name = name
        name.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
        // As many bits as a code may have, of which a small watch has 31.
        let bits = min(52, Int.bitWidth - 2)
        return 1 << bits | Int(truncatingIfNeeded: hash.value.0 & (1 << UInt64(bits) - 1))
    }
}
