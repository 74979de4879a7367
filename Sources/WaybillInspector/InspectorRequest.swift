import Foundation
import WaybillCore
import WaybillExport

/// A request to an ``Inspector``, from any server or web view.
public struct InspectorRequest: Sendable {
    /// The HTTP method: `GET`, `HEAD` or `POST`.
    public var method: String
    /// The path below ``root``, percent-encoded, for example `/transactions`.
    public var path: String
    /// The query of the URL without the question mark, still encoded; empty if there is none.
    public var query: String
    /// The body of a form (`application/x-www-form-urlencoded`), still encoded; empty if there is none.
    public var form: String
    /// The header fields by lowercase name. The inspector uses `cookie`, `host`, `origin` and `sec-fetch-site`, `-mode`
    /// and `-dest`.
    public var fields: [String: String]
    /// The path of the pages without a trailing slash; empty if they are at the top.
    public var root: String

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The HTTP method. Default: `GET`.
    ///   - path: The path below `root`, percent-encoded.
    ///   - query: The encoded query without the question mark. Default: none.
    ///   - form: The encoded body of a form. Default: none.
    ///   - fields: The header fields; names are case-insensitive. Default: none.
    ///   - root: The path of the pages without a trailing slash. Default: the top.
    public init(
        method: String = "GET", path: String, query: String = "", form: String = "", fields: [String: String] = [:],
        root: String = ""
    ) {
        (self.method, self.path, self.query, self.form, self.root) = (method, path, query, form, root)
        self.fields = Dictionary(fields.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    }
}

extension InspectorRequest {
    var components: [String] { path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) } }

    var address: ListAddress { ListAddress(PercentEncoding.fields(of: query)) }

    var sentForm: ListAddress { ListAddress(PercentEncoding.fields(of: form)) }

    /// Returns the value of a cookie (RFC 6265, section 4.2.1).
    func cookie(_ name: String) -> String? {
        (fields["cookie"] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }.first { $0.hasPrefix("\(name)=") }
            .map { String($0.dropFirst(name.count + 1)) }
    }

    package var isForLoopback: Bool { Self.isLoopback(host: fields["host"] ?? "") }

    package static func isLoopback(host: String) -> Bool {
        let host = host.lowercased()
        let name = host.hasPrefix("[") ? String(host.prefix { $0 != "]" }) + "]" : String(host.prefix { $0 != ":" })
        return ["127.0.0.1", "localhost", "[::1]"].contains(name)
    }
}

/// A response of an ``Inspector``.
public struct InspectorResponse: Sendable {
    /// The body of a response.
    public enum Body: Sendable {
        /// A complete body. For `HEAD` it equals that for `GET`, and the server must omit it.
        case bytes([UInt8])
        /// An endless body with a piece per change. It ends when the reading task is cancelled.
        case stream(AsyncThrowingStream<[UInt8], any Error>)
    }

    /// The HTTP status, for example 200.
    public var status: Int
    /// The header fields by name.
    public var fields: [String: String]
    /// The body.
    public var body: Body
    /// The internal error for a log; `nil` if there is none. Don't show it to readers, since it may contain paths.
    public var failure: (any Error)?

    init(_ status: Int = 200, type: String?, _ body: Body = .bytes([])) {
        self.status = status
        self.body = body
        // With `no-referrer`, browsers would send forms without an origin.
        fields = [
            "Cache-Control": "no-store", "Content-Security-Policy": InspectorFrame.policy,
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
            "Referrer-Policy": "same-origin",
        ]
        fields["Content-Type"] = type
    }
}

extension InspectorResponse {
    /// Pages are not cached, and other sites can't embed them, since recorded data may be personal.
    static func page(_ html: HTML, status: Int = 200) -> InspectorResponse {
        InspectorResponse(status, type: "text/html; charset=utf-8", .bytes(html.bytes))
    }

    static func download(_ bytes: [UInt8], type: String, name: String) -> InspectorResponse {
        var response = InspectorResponse(type: type, .bytes(bytes))
        response.fields["Content-Disposition"] = "attachment; filename=\"\(name)\""
        return response
    }

    static func json(_ value: some Encodable) throws -> InspectorResponse {
        InspectorResponse(type: "application/json", .bytes(Array(try JSONEncoder.waybill().encode(value))))
    }

    static func csv(_ table: [UInt8], name: String) -> InspectorResponse {
        .download(table, type: "text/csv; charset=utf-8; header=present", name: "waybill-\(name).csv")
    }

    /// Shows an image inline if its bytes are one. The policy prevents scripts and requests.
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

    /// Browsers may cache assets forever, since a name contains a hash.
    static func asset(_ name: String) throws(InspectorProblem) -> InspectorResponse {
        guard let asset = InspectorAsset.named(name) else { throw .notFound("There is nothing of that name.") }
        var response = InspectorResponse(type: asset.mediaType, .bytes(asset.bytes))
        response.fields["Cache-Control"] = "public, max-age=31536000, immutable"
        return response
    }

    static func seeOther(_ reference: String) -> InspectorResponse {
        var response = InspectorResponse(303, type: nil)
        response.fields["Location"] = reference
        return response
    }

    static func message(_ problem: InspectorProblem, root: String, hasControls: Bool = false) -> InspectorResponse {
        let frame = InspectorFrame(store: "", isLoggedIn: false, hasControls: hasControls, root: root)
        return .page(frame.message(problem.title, problem.detail), status: problem.status)
    }

    /// A trailing slash of the path denotes a folder.
    package static func nothing(at path: String, below root: String = "", hasControls: Bool = false)
        -> InspectorResponse
    {
        .message(
            .notFound("There is nothing at \(root)\(path)."),
            root: InspectorRoute.root(depth: path.count { $0 == "/" }), hasControls: hasControls)
    }
}
