/// How far an exchange is, in bytes of its bodies.
public struct TransferProgress: Hashable, Sendable {
    /// Bytes of the request's body that were sent; a redirect that asks for the body again counts it again.
    public var sentByteCount: Int64 = 0
    /// Of how many in all; nil where that is not known, as of a stream.
    public var expectedSentByteCount: Int64?
    /// Bytes of the response's body that came, decoded.
    public var receivedByteCount: Int64 = 0
    /// Of how many in all, before they were decoded; nil where the server does not say.
    public var expectedReceivedByteCount: Int64?

    init() {}
}
