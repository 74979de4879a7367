import Foundation
import WaybillCore
import WaybillExport
import WaybillQueries

struct BodyView {
    let body: ExchangeBody?
    let byteCount: Int64?
    let file: ExchangeFile
    let address: String

    /// The maximum sizes of text and of other bodies on a page, in bytes. The download contains the rest.
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

    private var sourceID: String { "\(file.rawValue)-source" }

    private func raw(_ text: String) -> HTML {
        "<details class=raw><summary>As it was sent</summary><pre id=\"\(sourceID)\">\(text)</pre></details>\n"
    }

    private func text(_ text: String) -> HTML {
        let all = text.utf8.count
        guard all > Self.textLimit else { return "<pre id=\"\(sourceID)\" tabindex=0>\(text)</pre>\n" }
        // UTF-8 indexes inside a character round down to its beginning.
        let beginning = String(text[..<text.utf8.index(text.startIndex, offsetBy: Self.textLimit)])
        return "<pre id=\"\(sourceID)\" tabindex=0>\(beginning)</pre>\(cut(to: Self.textLimit, of: all))"
    }

    private func cut(to limit: Int, of all: Int) -> HTML {
        "<p class=note>The first \(Words.byteCount(limit)) of \(Words.byteCount(all)) are shown; the download has all.\n"
    }
}

extension [UInt8] {
    fileprivate func count(of other: [UInt8]) -> Int {
        guard let first = other.first else { return 0 }
        return indices.count { self[$0] == first && self[$0...].starts(with: other) }
    }
}

/// The content of a body: first by its bytes, then by its media type.
enum BodyContent: Equatable {
    case image(ImageFormat, ImageSize)
    case json(String)
    case form([FormField])
    case text(String, charset: String)
    case binary

    init(_ body: ExchangeBody) {
        if let format = ImageFormat(body.bytes), let size = format.size(of: body.bytes), size.isShowable {
            self = .image(format, size)
            return
        }
        let type = MediaType(body.contentType)
        guard let (text, charset) = Self.text(body, charset: type.charset) else {
            self = .binary
            return
        }
        if PrettyJSON.text(text) != nil {
            self = .json(text)
        } else if type.name == "application/x-www-form-urlencoded", let fields = FormField.fields(of: text) {
            self = .form(fields)
        } else {
            self = .text(text, charset: charset)
        }
    }

    private static func text(_ body: ExchangeBody, charset: String?) -> (String, charset: String)? {
        guard let (text, charset) = decoded(body, charset: charset) else { return nil }
        let isText = text.unicodeScalars.allSatisfy {
            $0.value >= 0x20 || "\t\n\r\u{0C}\u{1B}\u{1E}".unicodeScalars.contains($0)
        }
        return isText ? (text, charset) : nil
    }

    private static func decoded(_ body: ExchangeBody, charset: String?) -> (String, charset: String)? {
        if let charset, let encoding = encodings[charset] {
            return String(data: Data(body.bytes), encoding: encoding).map { ($0, charset.uppercased()) }
        }
        // A truncated body may end within a character.
        for cut in 0...(body.isWhole ? 0 : min(3, body.bytes.count)) {
            if let text = String(utf8: body.bytes.dropLast(cut)) { return (text, "UTF-8") }
        }
        return nil
    }

    /// The encodings besides UTF-8 that Foundation decodes on all platforms.
    private static let encodings: [String: String.Encoding] = [
        "iso-8859-1": .isoLatin1, "latin1": .isoLatin1, "iso-8859-2": .isoLatin2, "windows-1250": .windowsCP1250,
        "windows-1251": .windowsCP1251, "windows-1252": .windowsCP1252, "windows-1253": .windowsCP1253,
        "windows-1254": .windowsCP1254,
        "utf-16": .utf16, "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian,
    ]
}

struct FormField: Equatable {
    var name, value: String

    private static let limit = 500

    /// Returns `nil` for empty or invalid text, or too many fields.
    static func fields(of text: String) -> [FormField]? {
        let fields = PercentEncoding.fields(of: text)
        guard (1...limit).contains(fields.count), text.removingPercentEncoding != nil else { return nil }
        return fields.map { FormField(name: $0.name, value: $0.value) }
    }
}

/// A parsed `Content-Type` value in lowercase (RFC 9110, section 8.3).
struct MediaType {
    let name: String
    let charset: String?

    init(_ value: String?) {
        let parts = (value ?? "").lowercased().split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        name = parts.first ?? ""
        charset = parts.dropFirst().first { $0.hasPrefix("charset=") }
            .map { String($0.dropFirst("charset=".count)).trimmingCharacters(in: CharacterSet(charactersIn: "\"' ")) }
    }
}

enum HexDump {
    private static let width = 16

    /// Returns a line per 16 bytes: `00000010  49 48 44 52 00 00 01 40  00 00 00 c8 08 06 00 00  |IHDR...@........|`.
    static func text(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        var rest = bytes[...]
        var offset = 0
        while !rest.isEmpty {
            let line = rest.prefix(width)
            text += padded(String(offset, radix: 16), to: 8).utf8
            for (column, byte) in line.enumerated() {
                text += (column % 8 == 0 ? "  " : " ").utf8
                text += padded(String(byte, radix: 16), to: 2).utf8
            }
            let missing = width - line.count
            text += String(repeating: " ", count: 3 * missing + (missing >= 8 ? 1 : 0) + 2).utf8
            text += "|".utf8 + line.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: ".") } + "|\n".utf8
            rest = rest.dropFirst(width)
            offset += width
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func padded(_ digits: String, to count: Int) -> String {
        String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}

/// JSON as nested `<details>` elements, readable without a script.
enum JSONTree {
    /// Returns `nil` for text other than a JSON object or array.
    static func html(_ json: String) -> HTML? {
        guard let text = PrettyJSON.text(json) else { return nil }
        // Nonempty objects and arrays have their own lines, which show the structure, since strings have no line
        // breaks.
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

    private static func endOfString(_ text: Substring.UTF8View.SubSequence) -> Substring.UTF8View.Index {
        var isEscaped = false
        for (index, byte) in zip(text.indices, text).dropFirst() {
            if byte == UInt8(ascii: "\""), !isEscaped { return text.index(after: index) }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return text.endIndex
    }
}
