#if Collector
import HTTPTypes
import Hummingbird
import WaybillExport
import WaybillInspector
import WaybillReading

extension Response {
    /// A page, which no cache keeps and no other site can show: what was recorded concerns people.
    static func page(_ html: HTML, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: .private(type: "text/html; charset=utf-8"),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: html.bytes)))
    }

    /// A file to be kept, which no browser shows.
    static func download(_ bytes: [UInt8], type: String, name: String) -> Response {
        var headers = HTTPFields.private(type: type)
        headers[.contentDisposition] = "attachment; filename=\"\(name)\""
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// What was kept of a body: a picture as what its bytes say, anything else as a file that no browser shows. What it was called when it was sent
    /// counts for nothing, and where a browser opens it alone, it can neither run nor load anything.
    static func body(_ bytes: [UInt8], name: String) -> Response {
        let format = ImageFormat(bytes)
        var headers = HTTPFields.private(type: format?.mediaType ?? ExchangeFile.responseBody.mediaType)
        headers[.contentSecurityPolicy] = "default-src 'none'; sandbox; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        let suffix = format.map { ".\($0.rawValue)" } ?? ".bin"
        headers[.contentDisposition] = "\(format == nil ? "attachment" : "inline"); filename=\"\(name)\(suffix)\""
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// What pages load, for as long as its name is asked for.
    static func asset(_ name: String) throws(QueryFailure) -> Response {
        guard let asset = InspectorAsset.named(name) else { throw .notFound("There is nothing of that name.") }
        var headers = HTTPFields.private(type: asset.mediaType)
        headers[.cacheControl] = "public, max-age=31536000, immutable"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: asset.bytes)))
    }

    /// To another page, with `GET`.
    static func seeOther(_ reference: String) -> Response {
        var headers = HTTPFields.private(type: nil)
        headers[.location] = reference
        return Response(status: .seeOther, headers: headers)
    }
}

extension HTTPFields {
    /// What every answer of the inspector carries.
    static func `private`(type: String?) -> HTTPFields {
        var fields: HTTPFields = [
            .cacheControl: "no-store", .contentSecurityPolicy: InspectorPage.policy, .xContentTypeOptions: "nosniff",
            .crossOriginResourcePolicy: "same-origin",
        ]
        // Not `no-referrer`, by which a browser would also leave the origin out of a form that it sends.
        if let name = HTTPField.Name("Referrer-Policy") { fields[name] = "same-origin" }
        if let name = HTTPField.Name("Cross-Origin-Opener-Policy") { fields[name] = "same-origin" }
        fields[.contentType] = type
        return fields
    }
}
#endif
