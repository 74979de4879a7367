import Foundation
import WaybillCore
import WaybillExport

/// What a body turns out to be, by its bytes first and by what was said of it second.
enum BodyContent: Equatable {
    case image(ImageFormat, ImageSize)
    /// A whole JSON object or array.
    case json(String)
    /// The names and values of `application/x-www-form-urlencoded`, decoded.
    case form([FormField])
    /// With the character set that it was written in.
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

    /// Without what no text has.
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
        // Where a body was cut, half a character may be its end.
        for cut in 0...(body.isWhole ? 0 : min(3, body.bytes.count)) {
            if let text = String(utf8: body.bytes.dropLast(cut)) { return (text, "UTF-8") }
        }
        return nil
    }

    /// Those that Foundation decodes everywhere, besides UTF-8.
    private static let encodings: [String: String.Encoding] = [
        "iso-8859-1": .isoLatin1, "latin1": .isoLatin1, "iso-8859-2": .isoLatin2, "windows-1250": .windowsCP1250,
        "windows-1251": .windowsCP1251, "windows-1252": .windowsCP1252, "windows-1253": .windowsCP1253,
        "windows-1254": .windowsCP1254,
        "utf-16": .utf16, "utf-16le": .utf16LittleEndian, "utf-16be": .utf16BigEndian,
    ]
}

/// A name and a value of a form.
struct FormField: Equatable {
    var name, value: String

    /// More are no table for people.
    private static let limit = 500

    /// nil for what is none: an empty text, or one that cannot be decoded.
    static func fields(of text: String) -> [FormField]? {
        let pairs = text.split(separator: "&")
        guard !pairs.isEmpty, pairs.count <= limit else { return nil }
        var fields: [FormField] = []
        for pair in pairs {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(parts[0]), let value = parts.count > 1 ? decoded(parts[1]) : "" else { return nil }
            fields.append(FormField(name: name, value: value))
        }
        return fields
    }

    private static func decoded(_ text: Substring) -> String? { text.replacing("+", with: " ").removingPercentEncoding }
}

/// The value of a `Content-Type` field, as far as it says how a text is written (RFC 9110, section 8.3).
struct MediaType {
    /// In small letters; empty where there is none.
    let name: String
    /// In small letters; nil where it says nothing.
    let charset: String?

    init(_ value: String?) {
        let parts = (value ?? "").lowercased().split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        name = parts.first ?? ""
        charset = parts.dropFirst().first { $0.hasPrefix("charset=") }
            .map { String($0.dropFirst("charset=".count)).trimmingCharacters(in: CharacterSet(charactersIn: "\"' ")) }
    }
}
