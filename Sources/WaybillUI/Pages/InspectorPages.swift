package import Foundation
package import WaybillInspector

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// How a page in a web view learns that the store has changed.
package enum InspectorEvents {
    /// What pages post the address of the stream to that they want to follow; an empty text: none any more.
    package static let handlerName = "events"

    /// To be run before the scripts of each page.
    package static var script: String { String(decoding: PackageResources.event_source_js, as: UTF8.self) }

    /// Tells a page what `EventSource` would: that the stream is open, its events, and where it broke, until the task is
    /// canceled.
    ///
    /// - Parameters:
    ///   - address: Of the stream, absolute.
    ///   - inspector: Whose page it is.
    ///   - retry: After so long a stream that broke is asked for once more.
    ///   - run: Runs a script in the page.
    package static func follow(
        _ address: String, of inspector: Inspector, retry: Duration = .seconds(2),
        isolation: isolated (any Actor)? = #isolation, run: (String) -> Void
    ) async {
        guard let url = URL(string: address), let request = InspectorRequest(URLRequest(url: url)) else { return }
        while !Task.isCancelled {
            do {
                guard case .stream(let pieces) = await inspector.respond(to: request).body else { break }
                run(tell("open"))
                for try await piece in pieces {
                    if let name = name(in: piece) { run(tell(name)) }
                }
                return
            } catch {
                guard !Task.isCancelled else { return }
                run(tell("error"))
                try? await Task.sleep(for: retry)
            }
        }
        if !Task.isCancelled { run(tell("error")) }
    }

    private static func tell(_ name: some StringProtocol) -> String { "EventSource.tell(\"\(name)\")" }

    /// The event that a piece of a stream names; nil for a comment, and for what is meant for the browser alone.
    private static func name(in piece: [UInt8]) -> String? {
        let lines = String(decoding: piece, as: UTF8.self).split(separator: "\n")
        let name = lines.first { $0.hasPrefix("event: ") }?.dropFirst(7)
        return name.flatMap { $0.allSatisfy { $0.isASCII && $0.isLetter } ? String($0) : nil }
    }
}

/// What a page offers to take away, e.g. a transaction as HTML or HAR: no page to be shown.
package struct InspectorFile: Sendable {
    package let name: String
    package let bytes: [UInt8]

    /// - Parameters:
    ///   - fields: Of a response, by their names.
    ///   - bytes: The body.
    /// - Returns: nil for what is to be shown, without `Content-Disposition: attachment` (RFC 6266).
    package init?(_ fields: [String: String], _ bytes: [UInt8]) {
        guard let disposition = fields["Content-Disposition"], disposition.hasPrefix("attachment") else { return nil }
        let quoted = disposition.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first ?? ""
        let name = quoted.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }.drop { $0 == "." }
        self.name = name.isEmpty ? "waybill" : String(name)
        self.bytes = bytes
    }

    /// Writes it into a folder, which is made where it is missing, and gives its place.
    package func write(into folder: URL) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appending(path: name)
        try Data(bytes).write(to: place, options: .atomic)
        return place
    }
}

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
