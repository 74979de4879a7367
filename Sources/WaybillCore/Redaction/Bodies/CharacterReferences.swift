/// Character references of XML and HTML (XML 1.0, section 4.1), read leniently: this is to look for secrets, not to
/// interpret.
enum CharacterReferences {
    private static let named: [(name: String, meaning: String)] = [
        ("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("equals", "="), ("colon", ":"),
        ("nbsp", " "),
    ]

    /// The bytes behind the references; what is none stays as it is.
    static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let name = byte == UInt8(ascii: "&") ? rest.prefix(10).prefix { $0 != UInt8(ascii: ";") } : rest.prefix(0)
            guard name.endIndex < rest.endIndex, !name.isEmpty, rest[name.endIndex] == UInt8(ascii: ";"),
                let meaning = meaning(of: name)
            else {
                result.append(byte)
                continue
            }
            result += meaning
            rest = rest[(name.endIndex + 1)...]
        }
        return result
    }

    private static func meaning(of name: ArraySlice<UInt8>) -> [UInt8]? {
        if let known = named.first(where: { name.elementsEqual($0.name.utf8) }) { return Array(known.meaning.utf8) }
        guard name.first == UInt8(ascii: "#") else { return nil }
        let digits = String(decoding: name.dropFirst(), as: UTF8.self)
        let number = digits.lowercased().hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).flatMap { UTF8.encode($0) }.map { Array($0) }
    }
}
