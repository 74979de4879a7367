import WaybillCore
import WaybillExport

package struct ListAddress: Sendable {
    /// The decoded parameters in URL order, without empty ones.
    package let items: [(name: String, value: String)]

    package init(_ items: [(name: String, value: String)]) { self.items = items.filter { !$0.value.isEmpty } }

    subscript(name: String) -> String? { items.last { $0.name == name }?.value }

    func items(besides names: [String]) -> [(name: String, value: String)] {
        items.filter { !names.contains($0.name) }
    }

    package var isFirstPage: Bool { self["cursor"] == nil }

    /// Returns a reference with another value of a parameter, or without it for `nil`, at the first page.
    func with(_ name: String, _ value: String?) -> String {
        let all = items(besides: [name, "cursor"]) + (value.map { [(name: name, value: $0)] } ?? [])
        return "?" + Self.text(all)
    }

    var query: String { items.isEmpty ? "" : "?" + Self.text(items) }

    private static func text(_ items: [(name: String, value: String)]) -> String {
        items.map { "\(PercentEncoding.encoded($0.name))=\(PercentEncoding.encoded($0.value))" }.joined(separator: "&")
    }

    func toggled(_ word: String, in name: String) -> String {
        var words = (self[name] ?? "").split(separator: ",").map(String.init)
        if let index = words.firstIndex(of: word) { words.remove(at: index) } else { words.append(word) }
        return with(name, words.isEmpty ? nil : words.joined(separator: ","))
    }

    func contains(_ word: String, in name: String) -> Bool {
        (self[name] ?? "").split(separator: ",").contains { $0 == word }
    }

    func hidden(besides fields: [String]) -> [HTML] {
        items(besides: fields + ["cursor"]).map {
            "<input type=hidden name=\"\($0.name)\" value=\"\($0.value)\">"
        }
    }
}
