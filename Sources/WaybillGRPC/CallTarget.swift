#if GRPC
import Foundation
import GRPCCore

/// Where a call goes, as a URL.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
enum CallTarget {
    /// nil where it cannot be one.
    static func url(of context: ClientContext, server: URL?) -> URL? {
        guard let base = server ?? peer(context.remotePeer),
            let place = URLComponents(url: base, resolvingAgainstBaseURL: true)
        else { return nil }
        var target = URLComponents()
        (target.scheme, target.host, target.port) = (place.scheme, place.host, place.port)
        target.path = "/" + context.descriptor.fullyQualifiedMethod
        return target.url
    }

    /// Of `ipv4:127.0.0.1:31415` or `ipv6:[::1]:443` the address, of anything else what stands before the colon, as in
    /// `in-process:27182` and `unix:/run/socket`.
    private static func peer(_ text: String) -> URL? {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard let transport = parts.first else { return nil }
        let isAddress = parts.count == 2 && (transport == "ipv4" || transport == "ipv6")
        return URL(string: "http://\(isAddress ? parts[1] : transport)")
    }
}
#endif
