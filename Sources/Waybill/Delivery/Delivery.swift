public import Foundation

/// Where sets go.
public struct Delivery: Sendable {
    let transport: any FlushTransport

    /// A collector, by the address it serves at, e.g. `https://collector.example.com`.
    ///
    /// - Parameter token: Sent as `Authorization: Bearer`; nil: not sent.
    public static func collector(_ url: URL, token: String? = nil) -> Delivery {
        .transport(URLSessionTransport(collector: url, token: token))
    }

    /// Files, one for each set, for `waybill import` to pick up.
    public static func files(in folder: URL) -> Delivery { .transport(FileTransport(folder: folder)) }

    /// A transport of your own.
    public static func transport(_ transport: any FlushTransport) -> Delivery { Delivery(transport: transport) }
}
