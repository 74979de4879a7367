package import WaybillInspector

#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension InspectorRequest {
    /// What a web view asks of the pages that it shows; nil without an address.
    ///
    /// No header field is taken over. A server learns by them from whom a request comes; here it comes of the pages
    /// themselves, since nobody else reaches a web view's handler and it loads nothing from elsewhere.
    package init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        let path = url.path(percentEncoded: true)
        self.init(
            method: request.httpMethod ?? "GET", path: path.isEmpty ? "/" : path,
            query: url.query(percentEncoded: true) ?? "",
            form: String(decoding: request.httpBody ?? Data(), as: UTF8.self))
    }
}
