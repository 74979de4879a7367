import WaybillCore

/// Attributes by name; a value that is JSON is shown on lines of its own.
struct AttributeList {
    private let attributes: [(name: String, value: String)]

    init(_ attributes: Attributes) {
        self.attributes = attributes.sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) }
    }

    var html: HTML {
        "\(attributes.map(item))"
    }

    private func item(_ name: String, _ value: String) -> HTML {
        if let json = PrettyJSON.text(value) { return " <u>\(name)=</u><pre>\(json)</pre>" }
        return " <u>\(name)=\(value)</u>"
    }
}
