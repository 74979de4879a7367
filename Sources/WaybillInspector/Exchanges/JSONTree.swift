import WaybillCore
import WaybillExport

/// JSON that unfolds, one `<details>` for each object and array, readable without script.
enum JSONTree {
    /// nil for what is no JSON object or array.
    static func html(_ json: String) -> HTML? {
        guard let text = PrettyJSON.text(json) else { return nil }
        // Every object and array that is not empty stands on lines of its own, and no string spans two: the ends of
        // lines tell the structure.
        var html: HTML = "<div class=json>"
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let content = line.drop { $0 == UInt8(ascii: " ") }
            switch (content.first, content.last) {
            case (UInt8(ascii: "}"), _), (UInt8(ascii: "]"), _): html += "</details><p>\(String(Substring(content)))"
            case (_, UInt8(ascii: "{")), (_, UInt8(ascii: "[")):
                html += "<details open><summary>\(tokens(content))</summary>"
            default: html += "<p>\(tokens(content))"
            }
        }
        html += "</div>"
        return html
    }

    /// A name, a value or both, each in its colour.
    private static func tokens(_ line: Substring.UTF8View.SubSequence) -> HTML {
        guard line.first == UInt8(ascii: "\"") else { return value(line) }
        let end = endOfString(line)
        guard line[end...].first == UInt8(ascii: ":") else { return value(line) }
        return "<b>\(String(Substring(line[..<end])))</b>: \(value(line[end...].dropFirst(2)))"
    }

    private static func value(_ text: Substring.UTF8View.SubSequence) -> HTML {
        switch text.first {
        case UInt8(ascii: "\""):
            let end = endOfString(text)
            return "<i>\(String(Substring(text[..<end])))</i>\(String(Substring(text[end...])))"
        case UInt8(ascii: "{"), UInt8(ascii: "["), nil: return "\(String(Substring(text)))"
        default:
            let end = text.last == UInt8(ascii: ",") ? text.index(before: text.endIndex) : text.endIndex
            return "<var>\(String(Substring(text[..<end])))</var>\(String(Substring(text[end...])))"
        }
    }

    /// Behind the quotation mark that closes the one at the start.
    private static func endOfString(_ text: Substring.UTF8View.SubSequence) -> Substring.UTF8View.Index {
        var isEscaped = false
        for (index, byte) in zip(text.indices, text).dropFirst() {
            if byte == UInt8(ascii: "\""), !isEscaped { return text.index(after: index) }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return text.endIndex
    }
}
