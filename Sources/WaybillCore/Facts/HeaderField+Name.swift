extension [Fact.HeaderField] {
    /// The value of the first field of a name, in any case; nil where there is none.
    package func value(for name: String) -> String? { first { $0.name.isSameFieldName(as: name) }?.value }
}

extension String {
    /// Whether two names of header fields are the same: they are ASCII, and their case says nothing (RFC 9110, section
    /// 5.1). Foundation's comparison takes twenty times as long, on the way of every exchange.
    fileprivate func isSameFieldName(as other: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        return utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0 == $1 || ($0 ^ $1 == 0x20 && letters.contains($0 | 0x20)) }
    }
}
