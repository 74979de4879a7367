import WaybillExport

/// The parameters of a list as its URL has them, and the addresses of the lists that differ from it in one.
package struct ListAddress: Sendable {
    /// Decoded, in the order of the URL; none is empty.
    package let items: [(name: String, value: String)]

    /// Parameters without a value, as a form sends them for fields that were left empty, are left out.
    package init(_ items: [(name: String, value: String)]) { self.items = items.filter { !$0.value.isEmpty } }

    /// The value of a parameter; nil where it is not set.
    subscript(name: String) -> String? { items.last { $0.name == name }?.value }

    /// Whether it is the first page.
    package var isFirstPage: Bool { self["cursor"] == nil }

    /// A reference to the same list with another value for one parameter; nil: without it. It begins with the first
    /// page again.
    func with(_ name: String, _ value: String?) -> String {
        let others = items.filter { $0.name != name && $0.name != "cursor" }
        let all = others + (value.map { [(name: name, value: $0)] } ?? [])
        return "?" + all.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }.joined(separator: "&")
    }

    /// Comma-separated words with one more, or one less.
    func toggled(_ word: String, in name: String) -> String {
        var words = (self[name] ?? "").split(separator: ",").map(String.init)
        if let index = words.firstIndex(of: word) { words.remove(at: index) } else { words.append(word) }
        return with(name, words.isEmpty ? nil : words.joined(separator: ","))
    }

    /// Whether a word is among comma-separated ones.
    func contains(_ word: String, in name: String) -> Bool {
        (self[name] ?? "").split(separator: ",").contains { $0 == word }
    }

    /// What a form does not ask for itself, so that it is kept when the form is sent.
    func hidden(besides fields: [String]) -> [HTML] {
        items.filter { !fields.contains($0.name) && $0.name != "cursor" }.map {
            "<input type=hidden name=\"\($0.name)\" value=\"\($0.value)\">"
        }
    }

    /// RFC 3986, section 2.3: everything but what never needs it.
    package static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            if character.isASCII, character.isLetter || character.isNumber || "-._~".contains(character) {
                return String(character)
            }
            return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }
}
