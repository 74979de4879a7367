import WaybillCore
import WaybillExport
import WaybillReading

/// A body on the page of its exchange: a picture, JSON that unfolds, a form, a text, or bytes; never anything that
/// runs.
struct BodyView {
    let body: ExchangeBody?
    /// Bytes of the body as the exchange counted them; nil where it did not.
    let byteCount: Int64?
    let file: ExchangeFile
    /// The address of the file, relative to the page.
    let address: String

    /// Bytes of text, and of other bodies, that a page shows; the file has all that was kept.
    static let textLimit = 128 << 10
    static let hexLimit = 4 << 10

    var html: HTML {
        guard let body else { return absence }
        guard !body.bytes.isEmpty else { return "<p class=note>\(body.lack ?? "The body was empty.")\n" }
        let content = BodyContent(body)
        return "\(line(body, content))\(shown(body, content))"
    }

    private var absence: HTML {
        guard let byteCount, byteCount > 0 else { return byteCount == 0 ? "<p class=note>There was no body.\n" : "" }
        return """
            <p class=note>The body of \(Words.byteCount(byteCount)) is not here. Bodies stay on the device that recorded them, and are kept there \
            only where its app asks for them, as long as there is room.

            """
    }

    /// What it is, how large, what is missing, and the way to all of it.
    private func line(_ body: ExchangeBody, _ content: BodyContent) -> HTML {
        var words = [kind(content), Words.byteCount(body.bytes.count)]
        if let type = body.contentType { words.insert(type, at: 0) }
        let redactions = body.bytes.count(of: Array(Redactor.placeholder.utf8))
        if redactions > 0 { words.append("\(Words.count(redactions, "value")) replaced by \(Redactor.placeholder)") }
        let copy: HTML =
            switch content {
            case .json, .text, .form:
                "<button type=button class=copier data-copies=\"\(sourceID)\" hidden>Copy</button>"
            case .image, .binary: ""
            }
        return """
            <p class=kind><span>\(words.joined(separator: " · "))</span>\(copy)<a class=copier download href="\(address)">Download</a>
            \(body.lack.map { "<p class=note>\($0)\n" as HTML } ?? "")
            """
    }

    private func kind(_ content: BodyContent) -> String {
        switch content {
        case .image(let format, let size): "\(format.name) image, \(size.width) × \(size.height)"
        case .json: "JSON"
        case .form(let fields): "form, \(Words.count(fields.count, "field"))"
        case .text(_, let charset): "text, \(charset)"
        case .binary: "no text"
        }
    }

    private func shown(_ body: ExchangeBody, _ content: BodyContent) -> HTML {
        switch content {
        case .image(let format, let size):
            return """
                <figure class=image><img src="\(address)" alt="\(format.name) image" width=\(size.width) height=\(size.height)></figure>

                """
        case .json(let text):
            guard text.utf8.count <= Self.textLimit, let tree = JSONTree.html(text) else {
                return self.text(PrettyJSON.text(text) ?? text)
            }
            return "\(tree)\(raw(text))"
        case .form(let fields):
            let rows = fields.map { "<tr><th scope=row>\($0.name)<td>\($0.value)" as HTML }
            return "<table class=fields>\(rows)</table>\(raw(body.text ?? ""))"
        case .text(let text, _): return self.text(text)
        case .binary:
            let rest = body.bytes.count > Self.hexLimit ? cut(to: Self.hexLimit, of: body.bytes.count) : ""
            return "<pre class=hex tabindex=0>\(HexDump.text(body.bytes.prefix(Self.hexLimit)))</pre>\(rest)"
        }
    }

    /// What is copied.
    private var sourceID: String { "\(file.rawValue)-source" }

    private func raw(_ text: String) -> HTML {
        "<details class=raw><summary>As it was sent</summary><pre id=\"\(sourceID)\">\(text)</pre></details>\n"
    }

    private func text(_ text: String) -> HTML {
        let all = text.utf8.count
        guard all > Self.textLimit else { return "<pre id=\"\(sourceID)\" tabindex=0>\(text)</pre>\n" }
        // Such an index is rounded down to where a character begins.
        let beginning = String(text[..<text.utf8.index(text.startIndex, offsetBy: Self.textLimit)])
        return "<pre id=\"\(sourceID)\" tabindex=0>\(beginning)</pre>\(cut(to: Self.textLimit, of: all))"
    }

    private func cut(to limit: Int, of all: Int) -> HTML {
        "<p class=note>The first \(Words.byteCount(limit)) of \(Words.byteCount(all)) are shown; the download has all.\n"
    }
}

extension [UInt8] {
    /// How often others stand in it.
    fileprivate func count(of other: [UInt8]) -> Int {
        guard let first = other.first else { return 0 }
        return indices.count { self[$0] == first && self[$0...].starts(with: other) }
    }
}
