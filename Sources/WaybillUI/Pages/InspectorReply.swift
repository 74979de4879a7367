package import Foundation
package import WaybillInspector

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// What a web view is to do with an inspector's answer: what a browser does by itself for a server, a web view leaves to
/// the handler of its scheme.
package enum InspectorReply {
    /// Hand it to the page that asked for it.
    case page(HTTPURLResponse, Data)
    /// Load another address, with `GET`: a handler cannot answer that the page is elsewhere.
    case load(URL)
    /// Let the user take a file away.
    case share(InspectorFile)
    /// There is no answer: no address, or a stream, which pages follow by way of ``InspectorEvents``.
    case none

    /// Has a request answered.
    package init(to request: URLRequest, from inspector: Inspector) async {
        guard let url = request.url, let asked = InspectorRequest(request) else {
            self = .none
            return
        }
        self.init(await inspector.respond(to: asked), at: url)
    }

    /// - Parameter url: Absolute, of what was asked for.
    package init(_ response: InspectorResponse, at url: URL) {
        guard case .bytes(let bytes) = response.body else {
            self = .none
            return
        }
        if response.status == 303, let place = response.fields["Location"].flatMap({ URL(string: $0, relativeTo: url) })
        {
            self = .load(place.absoluteURL)
        } else if let file = InspectorFile(response.fields, bytes) {
            self = .share(file)
        } else if let head = HTTPURLResponse(
            url: url, statusCode: response.status, httpVersion: "HTTP/1.1", headerFields: response.fields)
        {
            self = .page(head, Data(bytes))
        } else {
            self = .none
        }
    }
}
