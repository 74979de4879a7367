/// What exchanges are handed over as.
public enum ExchangeFormat: String, Sendable, CaseIterable {
    /// HTTP Archive 1.2: for the network panels of browsers, proxies, and everything else that reads one.
    case har
    /// Commands for a POSIX shell and curl, one for each request that can be sent again.
    case curl
    /// For people to read.
    case text
    /// For programs: the records, indented.
    case json
}
