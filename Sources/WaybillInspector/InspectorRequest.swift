import Foundation
import WaybillCore
import WaybillExport

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

/// What an ``Inspector`` answers a request with.
public struct InspectorResponse: Sendable {
    /// What a browser is to be sent.
    public enum Body: Sendable {
        /// In one piece; where the method was `HEAD` all that `GET` has, to be left out by what sends it.
        case bytes([UInt8])
        /// Without an end, a piece each time that there is something new: ends when the task that reads it is canceled.
        case stream(AsyncThrowingStream<[UInt8], any Error>)
    }

    /// Of HTTP: 200, 404.
    public var status: Int
    /// Header fields by their names, each once.
    public var fields: [String: String]
    /// What the fields are about.
    public var body: Body
    /// What went wrong where it was no fault of the request, for a log; nil where nothing did. Not for the reader: it
    /// may name paths.
    public var failure: (any Error)?

    /// - Parameter type: With the charset; nil where there is no body.
    init(_ status: Int = 200, type: String?, _ body: Body = .bytes([])) {
        self.status = status
        self.body = body
        // Not `no-referrer`, by which a browser would also leave the origin out of a form that it sends.
        fields = [
            "Cache-Control": "no-store", "Content-Security-Policy": InspectorPage.policy,
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
            "Referrer-Policy": "same-origin",
        ]
        fields["Content-Type"] = type
    }
}

extension InspectorResponse {
    /// A page, which no cache keeps and no other site can show: what was recorded concerns people.
    static func page(_ html: HTML, status: Int = 200) -> InspectorResponse {
        InspectorResponse(status, type: "text/html; charset=utf-8", .bytes(html.bytes))
    }

    /// A file to be kept, which no browser shows.
    static func download(_ bytes: [UInt8], type: String, name: String) -> InspectorResponse {
        var response = InspectorResponse(type: type, .bytes(bytes))
        response.fields["Content-Disposition"] = "attachment; filename=\"\(name)\""
        return response
    }

    /// What the script of a page asks for.
    static func json(_ value: some Encodable) throws -> InspectorResponse {
        InspectorResponse(type: "application/json", .bytes(Array(try JSONEncoder.waybill().encode(value))))
    }

    /// A table as a file.
    static func csv(_ table: [UInt8], name: String) -> InspectorResponse {
        .download(table, type: "text/csv; charset=utf-8; header=present", name: "waybill-\(name).csv")
    }

    /// What was kept of a body: a picture as what its bytes say, anything else as a file that no browser shows. What it
    /// was called when it was sent counts for nothing, and where a browser opens it alone, it can neither run nor load
    /// anything.
    static func body(_ bytes: [UInt8], name: String) -> InspectorResponse {
        let format = ImageFormat(bytes)
        var response = InspectorResponse(type: format?.mediaType ?? ExchangeFile.responseBody.mediaType, .bytes(bytes))
        response.fields["Content-Security-Policy"] =
            "default-src 'none'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        let suffix = format.map { ".\($0.rawValue)" } ?? ".bin"
        response.fields["Content-Disposition"] =
            "\(format == nil ? "attachment" : "inline"); filename=\"\(name)\(suffix)\""
        return response
    }

    /// What pages load, for as long as its name is asked for.
    static func asset(_ name: String) throws(InspectorProblem) -> InspectorResponse {
        guard let asset = InspectorAsset.named(name) else { throw .notFound("There is nothing of that name.") }
        var response = InspectorResponse(type: asset.mediaType, .bytes(asset.bytes))
        response.fields["Cache-Control"] = "public, max-age=31536000, immutable"
        return response
    }

    /// To another page, with `GET`.
    static func seeOther(_ reference: String) -> InspectorResponse {
        var response = InspectorResponse(303, type: nil)
        response.fields["Location"] = reference
        return response
    }

    /// A page that says one thing.
    ///
    /// - Parameter depth: How many components the path has that was asked for.
    static func message(_ problem: InspectorProblem, depth: Int, hasControls: Bool = false) -> InspectorResponse {
        let frame = InspectorFrame(store: "", isLoggedIn: false, hasControls: hasControls)
        return .page(
            MessagePage(problem.title, problem.detail, depth: max(1, depth), in: frame).html, status: problem.status)
    }

    /// What a browser is shown at an address that leads nowhere.
    package static func nothing(at path: String) -> InspectorResponse {
        // An address that ends with a slash is a folder's.
        .message(.notFound("There is nothing at \(path)."), depth: path.count { $0 == "/" })
    }
}
