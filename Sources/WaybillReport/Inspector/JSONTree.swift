import WaybillCore

/// JSON that unfolds, one `<details>` for each object and array, readable without script.
enum JSONTree {
    /// nil for what is no JSON object or array.
    static func html(_ json: String) -> HTML? {
        guard let text = PrettyJSON.text(json) else { return nil }
        // Every object and array that is not empty stands on lines of its own, and no string spans two: the ends of lines tell the structure.
        var html: HTML = "<div class=json>"
        for line in text.split(separator: "\n") {
            let content = line.drop { $0 == " " }
            switch (content.first, content.last) {
            case ("}", _), ("]", _): html += "</details><p>\(String(content))"
            case (_, "{"), (_, "["): html += "<details open><summary>\(String(content))</summary>"
            default: html += "<p>\(String(content))"
            }
        }
        html += "</div>"
        return html
    }
}
