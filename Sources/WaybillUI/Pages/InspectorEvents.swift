import Foundation
package import WaybillInspector

#if canImport(FoundationNetworking)
import FoundationNetworking
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
