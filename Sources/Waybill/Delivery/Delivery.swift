public import Foundation

/// Where sets go.
public struct Delivery: Sendable {
    let transport: any FlushTransport

    /// A collector.
    ///
    /// - Parameters:
    ///   - url: The address it serves at, e.g. `https://collector.example.com`.
    ///   - token: Sent as `Authorization: Bearer`; nil: not sent.
    ///   - format: In which version sets go out. Default: version 1; for a server of the first framework see
    ///     ``SetFormat/v0_0_1(prefix:scheme:parameter:mediaTypeVersion:)``.
    public static func collector(_ url: URL, token: String? = nil, format: SetFormat = .v1) -> Delivery {
        .transport(URLSessionTransport(collector: url, token: token, format: format))
    }

    /// Files, one for each set, for `waybill import` to pick up.
    public static func files(in folder: URL) -> Delivery { .transport(FileTransport(folder: folder)) }

    /// A transport of your own.
    public static func transport(_ transport: any FlushTransport) -> Delivery { Delivery(transport: transport) }
}
