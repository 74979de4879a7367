import Foundation
import TestSupport
import WaybillTesting

/// Secrets of many shapes and places. Each is random, and any fragment shows where it came from.
struct SecretCorpus {
    /// A body with its declared type.
    struct Body: Sendable {
        var type: String
        var text: String
        var data: Data { Data(text.utf8) }
    }

    /// Names and values, in the form that the hunter reads.
    private(set) var secrets: [(name: String, value: String)] = []
    private var random: RandomNumbers

    init(seed: Int) { random = RandomNumbers(seed: seed) }

    private static let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnopqrstuvwxyz23456789")

    private mutating func letters(_ count: Int) -> String {
        String((0..<count).map { _ in Self.letters.randomElement(using: &random) ?? "x" })
    }

    /// Returns a new secret without a shape, which only its name marks.
    mutating func word(_ name: String) -> String {
        let value = letters(24)
        secrets.append((name, value))
        return value
    }

    /// Returns a new JSON Web Token (RFC 7519), which its shape marks in any place.
    mutating func token(_ name: String) -> String {
        let (payload, signature) = ("eyJ" + letters(30), letters(30))
        secrets += [("\(name) payload", payload), ("\(name) signature", signature)]
        return "eyJhbGciOiJIUzI1NiJ9.\(payload).\(signature)"
    }

    /// Returns a new card number by ISO/IEC 7812, in groups.
    mutating func card(_ name: String, separator: String = " ") -> String {
        var digits = [4] + (0..<14).map { _ in Int.random(in: 0...9, using: &random) }
        let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
            let doubled = digit.element * (digit.offset % 2 == 0 ? 2 : 1)
            return sum + (doubled > 9 ? doubled - 9 : doubled)
        }
        digits.append((10 - sum % 10) % 10)
        let text = digits.enumerated().map { ($0.offset > 0 && $0.offset % 4 == 0 ? separator : "") + "\($0.element)" }
            .joined()
        secrets.append((name, text))
        return text
    }

    static func percent(_ text: String) -> String {
        text.utf8.map { "%" + String($0, radix: 16, uppercase: true) }.joined()
    }
    static func escaped(_ text: String) -> String { text.utf8.map { "\\u00" + String($0, radix: 16) }.joined() }
    static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    /// Returns header fields of a request or a response.
    mutating func headerFields(_ way: String) -> [String: String] {
        [
            "X-Api-Key": word("\(way) header: X-Api-Key"), "Cookie": "sid=\(word("\(way) header: Cookie"))",
            "X-Trace": "via Bearer \(word("\(way) header: bearer in another field"))",
            "Proxy-Authorization": "Basic \(Self.base64("user:" + word("\(way) header: basic, base64")))",
            "Referer":
                "https://user:\(word("\(way) header: user-info"))@h.example/?token=\(word("\(way) header: query"))",
            "X-Note": token("\(way) header: JWT"), "X-Auth-Key": word("\(way) header: X-Auth-Key"),
            "X-Plex-Pass": word("\(way) header: X-Plex-Pass"),
        ]
    }

    /// Returns the target of a request.
    mutating func target(_ path: String) -> String {
        "\(path)/reset/\(word("path: reset"))/\(token("path: JWT"))/\(card("path: card", separator: "-"))?access_token=\(word("query: name"))"
            + "&pwd=\(Self.percent(word("query: name, percent")))&next=%2Fa%3Ftoken%3D\(word("query: inside a query"))"
            + "&code=\(word("query: code"))&sig=\(word("query: sig"))&session=\(word("query: session"))"
            + "&j=%7B%22password%22%3A%22\(word("query: JSON"))%22%7D"
    }

    /// Returns a body of every type that the redactor reads.
    mutating func bodies(_ way: String) -> [Body] {
        let nested = #"{\"client_secret\":\"\#(word("\(way) JSON: string of JSON"))\"}"#
        let json = """
            {"user": "bob", "password": "\(word("\(way) JSON: name"))", "deep": [1, {"a": {"refresh_token": ["\(word("\(way) JSON: deep"))"]}}],
            "nested": "\(nested)", "\\u0061pi\\u005fkey": "\(word("\(way) JSON: escaped name"))",
            "passcode": "\(Self.escaped(word("\(way) JSON: escaped value")))", "note": "sent Bearer \(word("\(way) JSON: bearer"))",
            "card": "\(card("\(way) JSON: card"))", "any": "\(token("\(way) JSON: JWT"))",
            "pairs": [{"name": "password", "value": "\(word("\(way) JSON: pair"))"}], "list": [["Cookie", "\(word("\(way) JSON: list"))"]],
            "url": "https://u:\(word("\(way) JSON: user-info"))@h.example/?api_key=\(word("\(way) JSON: query"))",
            "auth": "Basic \(Self.base64("u:" + word("\(way) JSON: basic, base64")))"}
            """
        let truncated = #"{"a": 1, "tokens": {"list": ["\#(word("\(way) JSON: cut off"))"#
        let form =
            "user=bob&password=\(word("\(way) form: name"))&pwd=\(Self.percent(word("\(way) form: percent")))"
            + "&note=Bearer+\(word("\(way) form: bearer"))&user%5Bpassword%5D=\(word("\(way) form: escaped name"))"
            + "&json=%7B%22secret%22%3A%22\(word("\(way) form: JSON"))%22%7D&card=\(card("\(way) form: card", separator: "+"))"
        let head = "--BB\r\nContent-Disposition: form-data; name="
        let multipart =
            "\(head)\"password\"\r\n\r\n\(word("\(way) multipart: name"))\r\n"
            + "\(head)data\r\nContent-Type: application/json\r\n\r\n{\"token\":\"\(word("\(way) multipart: JSON"))\"}\r\n"
            + "\(head)\"file\"; filename=\"a.txt\"\r\n\r\nfirst\napi_key=\(word("\(way) multipart: file"))\nlast\r\n--BB--\r\n"
        let xml = """
            <?xml version="1.0"?><soap:Envelope><wsse:Password>\(word("\(way) XML: element"))</wsse:Password>
            <a access-token="\(word("\(way) XML: attribute"))">Bearer \(word("\(way) XML: bearer"))</a><![CDATA[secret=\(word("\(way) XML: CDATA"))]]>
            <dict><key>password</key><string>\(word("\(way) XML: property list"))</string></dict></soap:Envelope>
            """
        let html = """
            <!DOCTYPE html><form><input type=hidden name="csrf_token" value="\(word("\(way) HTML: input"))"></form>
            <script>var config = {"apiKey": "\(word("\(way) HTML: script"))"}</script><p>\(card("\(way) HTML: card"))</p>
            """
        let text = """
            password: \(word("\(way) text: name"))
            Authorization: Basic \(Self.base64("user:" + word("\(way) text: basic, base64")))
            paid with \(card("\(way) text: card")), see \(token("\(way) text: JWT"))
            """
        return [
            Body(type: "application/json; charset=utf-8", text: json), Body(type: "application/json", text: truncated),
            Body(type: "application/x-www-form-urlencoded", text: form),
            Body(type: "multipart/form-data; boundary=BB", text: multipart),
            Body(type: "application/soap+xml", text: xml), Body(type: "text/html", text: html),
            Body(type: "text/plain", text: text),
            Body(type: "application/json", text: everything("\(way) list")),
        ]
    }

    /// Returns every known shape and name as JSON.
    private mutating func everything(_ way: String) -> String {
        var letters = CorpusLetters(seed: random.next())
        let shapes = RedactionCorpus.shapes.map { shape in
            let (text, secret) = shape.make(&letters)
            secrets.append(("\(way): \(shape.name)", secret))
            return "\"\(RedactionCorpus.json(text))\""
        }
        let names = RedactionCorpus.names.map { name in "\"\(name)\":\"\(word("\(way): name \(name)"))\"" }
        return "{\"shapes\":[\(shapes.joined(separator: ","))],\(names.joined(separator: ","))}"
    }
}
