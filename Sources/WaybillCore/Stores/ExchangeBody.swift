/// Which way a body went in an HTTP exchange.
public enum BodyDirection: Int, Hashable, Sendable, CaseIterable {
    /// From the client to the server.
    case request = 0
    /// From the server to the client.
    case response = 1
}

/// What was kept of a body, redacted before it was kept.
public struct ExchangeBody: Hashable, Sendable {
    /// Why a body was not kept whole.
    public enum Omission: String, Hashable, Sendable, CaseIterable {
        /// It was longer than the policy's limit; the beginning was kept.
        case limit
        /// It is no text, or a text that cannot be read for secrets; nothing was kept.
        case type
        /// It was compressed, and the platform did not decode it; nothing was kept.
        case encoding
        /// Too much waited for the disk at that moment; the beginning was kept.
        case room
        /// The exchange ended before it was all there.
        case unfinished
    }

    /// The value of its `Content-Type` field; nil where it has none.
    public var contentType: String?
    /// What was kept, with placeholders for secrets; empty where nothing was.
    public var bytes: [UInt8]
    /// Bytes of the whole body as they were, kept or not; nil where its end was not recorded.
    public var byteCount: Int64?
    /// Why it was not kept whole; nil where it was, or its end was not recorded.
    public var omission: Omission?
    /// Of a body that was cut at a limit, 16 bytes by which two can be told to be equal: a hash under a key of this
    /// store; else nil, and where the app changed what was kept.
    public var hash: [UInt8]?

    /// Makes a body.
    public init(
        contentType: String?, bytes: [UInt8], byteCount: Int64?, omission: Omission? = nil, hash: [UInt8]? = nil
    ) {
        self.contentType = contentType
        self.bytes = bytes
        self.byteCount = byteCount
        self.omission = omission
        self.hash = hash
    }

    /// Whether all of it is here, but for secrets.
    public var isWhole: Bool { byteCount != nil && omission == nil }
}
