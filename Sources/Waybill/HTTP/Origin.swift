package import Foundation

/// Who answers at a URL (RFC 6454, section 4).
package struct Origin: Equatable {
    private let scheme: String
    private let host: String
    private let port: Int

    private static let ports = ["http": 80, "https": 443]

    /// nil for what is not HTTP.
    package init?(_ url: URL) {
        guard let scheme = url.scheme?.lowercased(), let usual = Self.ports[scheme], let host = url.host() else {
            return nil
        }
        (self.scheme, self.host, port) = (scheme, host.lowercased(), url.port ?? usual)
    }

    /// Whether it is the same, or the same server's encrypted one: both are where a browser would look for it.
    package func isAsGood(as other: Origin) -> Bool {
        self == other
            || host == other.host && (other.scheme, other.port) == ("http", 80) && (scheme, port) == ("https", 443)
    }
}
