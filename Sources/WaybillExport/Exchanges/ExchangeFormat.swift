package import WaybillCore

/// What exchanges are handed over as.
public enum ExchangeFormat: String, Sendable, CaseIterable {
    /// HTTP Archive 1.2: for the network panels of browsers, proxies, and everything else that reads one.
    ///
    /// It has what clients sent. What servers received is in it only if no client's exchange matches.
    case har
    /// Commands for a POSIX shell and curl, one for each request that can be sent again.
    case curl
    /// For people to read.
    case text
    /// For programs: the records, indented.
    case json

    /// The roles whose exchanges a document has if there are some.
    package var roles: Set<Fact.Role> {
        switch self {
        // A server's copy would be a second entry for the same request, under a scheme that servers often do not know.
        case .har: [.client]
        case .curl, .text, .json: [.client, .server]
        }
    }
}
