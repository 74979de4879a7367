import Foundation
import WaybillCore
import WaybillExport

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
    static func csv(_ table: CSVTable, name: String) -> InspectorResponse {
        .download(table.bytes, type: "text/csv; charset=utf-8; header=present", name: "waybill-\(name).csv")
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
