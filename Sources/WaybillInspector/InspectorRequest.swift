import Foundation

/// A request to an ``Inspector``, whatever server or web view it comes from.
public struct InspectorRequest: Sendable {
    /// `GET`, `HEAD` or `POST`.
    public var method: String
    /// The path below ``root``, percent-encoded: `/transactions`.
    public var path: String
    /// What stands behind the question mark of the URL, as it was sent; empty where there is none.
    public var query: String
    /// The body of a form (`application/x-www-form-urlencoded`), as it was sent; empty where there is none.
    public var form: String
    /// Header fields by their names in lower case. Those that count are `cookie`, `host`, `origin` and
    /// `sec-fetch-site`, with `-mode` and `-dest`.
    public var fields: [String: String]
    /// The path that leads to the pages, without a slash at its end; empty where they are at the top.
    public var root: String

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - method: Default: `GET`.
    ///   - path: Below `root`, percent-encoded.
    ///   - query: As it was sent, without the question mark. Default: none.
    ///   - form: The body, as it was sent. Default: none.
    ///   - fields: Header fields; names count in any case. Default: none.
    ///   - root: The path that leads to the pages. Default: they are at the top.
    public init(
        method: String = "GET", path: String, query: String = "", form: String = "", fields: [String: String] = [:],
        root: String = ""
    ) {
        (self.method, self.path, self.query, self.form, self.root) = (method, path, query, form, root)
        self.fields = Dictionary(fields.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }
}

extension InspectorRequest {
    /// The components of the path, decoded.
    var components: [String] { path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) } }

    /// The parameters of the query, decoded.
    var items: [(name: String, value: String)] { Self.items(of: query) }

    /// The fields of a form that was sent with `POST`, decoded.
    var formItems: [(name: String, value: String)] { Self.items(of: form) }

    /// As browsers encode the fields of a form: a space is a `+` (url.spec.whatwg.org, section 5.1).
    private static func items(of text: String) -> [(name: String, value: String)] {
        text.split(separator: "&").map { field in
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                let text = part.replacing("+", with: " ")
                return text.removingPercentEncoding ?? String(text)
            }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
    }

    /// The value of a cookie (RFC 6265, section 4.2.1); nil where it is not sent.
    func cookie(_ name: String) -> String? {
        (fields["cookie"] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }.first { $0.hasPrefix("\(name)=") }
            .map { String($0.dropFirst(name.count + 1)) }
    }

    /// Whether its field `Host` names this machine, with any port.
    package var isForLoopback: Bool { Self.isLoopback(host: fields["host"] ?? "") }

    /// Whether the value of a field `Host` names this machine, with any port.
    package static func isLoopback(host: String) -> Bool {
        let host = host.lowercased()
        let name = host.hasPrefix("[") ? String(host.prefix { $0 != "]" }) + "]" : String(host.prefix { $0 != ":" })
        return ["127.0.0.1", "localhost", "[::1]"].contains(name)
    }
}
