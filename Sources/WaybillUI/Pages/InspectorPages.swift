package import Foundation
package import WaybillInspector

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Reports changes of the store to a page in a web view.
package enum InspectorEvents {
    /// Pages post the URL of their stream to it. An empty string ends the stream.
    package static let handlerName = "events"

    package static var script: String { String(decoding: PackageResources.event_source_js, as: UTF8.self) }

    /// Acts as `EventSource` until the task is cancelled.
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

    private static func name(in piece: [UInt8]) -> String? {
        let lines = String(decoding: piece, as: UTF8.self).split(separator: "\n")
        let name = lines.first { $0.hasPrefix("event: ") }?.dropFirst(7)
        return name.flatMap { $0.allSatisfy { $0.isASCII && $0.isLetter } ? String($0) : nil }
    }
}

/// A file that a page offers to share, such as a transaction as HTML or HAR.
package struct InspectorFile: Sendable {
    package let name: String
    package let bytes: [UInt8]

    /// A page without `Content-Disposition: attachment` (RFC 6266) is shown.
    package init?(_ fields: [String: String], _ bytes: [UInt8]) {
        guard let disposition = fields["Content-Disposition"], disposition.hasPrefix("attachment") else { return nil }
        let quoted = disposition.split(separator: "\"", omittingEmptySubsequences: false).dropFirst().first ?? ""
        let name = quoted.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }.drop { $0 == "." }
        self.name = name.isEmpty ? "waybill" : String(name)
        self.bytes = bytes
    }

    package func write(into folder: URL) throws -> URL {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let place = folder.appending(path: name)
        try Data(bytes).write(to: place, options: .atomic)
        return place
    }
}

/// The handler of a custom scheme must do what a browser does for a server.
package enum InspectorReply {
    /// Pass it to the page that asked for it.
    case page(HTTPURLResponse, Data)
    /// Load another URL with `GET`, since a handler can't redirect.
    case load(URL)
    case share(InspectorFile)
    /// No response: an invalid URL, or a stream, which pages follow through ``InspectorEvents``.
    case none

    package init(to request: URLRequest, from inspector: Inspector) async {
        guard let url = request.url, let asked = InspectorRequest(request) else {
            self = .none
            return
        }
        self.init(await inspector.respond(to: asked), at: url)
    }

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
    /// It takes no header fields, since only the pages themselves reach this handler.
    package init?(_ request: URLRequest) {
        guard let url = request.url else { return nil }
        let path = url.path(percentEncoded: true)
        self.init(
            method: request.httpMethod ?? "GET", path: path.isEmpty ? "/" : path,
            query: url.query(percentEncoded: true) ?? "",
            form: String(decoding: request.httpBody ?? Data(), as: UTF8.self))
    }
}
