/// A body as a store kept it: redacted, decoded, and perhaps only its beginning.
package struct ExchangeBody: Sendable, Hashable {
    /// What was kept.
    package var bytes: [UInt8]
    /// The length of the whole body; nil where it is not known.
    package var byteCount: Int?
    /// Whether there was more than what was kept.
    package var isTruncated: Bool
    /// As the header field `Content-Type` said it; nil where there was none.
    package var mediaType: String?

    /// Makes a body.
    package init(_ bytes: [UInt8], byteCount: Int? = nil, isTruncated: Bool = false, mediaType: String? = nil) {
        self.bytes = bytes
        self.byteCount = byteCount
        self.isTruncated = isTruncated
        self.mediaType = mediaType
    }

    /// What was kept, as text; nil for what is not UTF-8.
    package var text: String? { String(validating: bytes, as: UTF8.self) }

    /// `The first 64.0 kB of 1.3 MB.`; nil for a whole one.
    package var cut: String? {
        guard isTruncated else { return nil }
        let kept = Words.byteCount(bytes.count)
        return byteCount.map { "The first \(kept) of \(Words.byteCount($0))." } ?? "Only the first \(kept) were kept."
    }
}

/// What was kept of the two bodies of an exchange.
package struct ExchangeBodies: Sendable, Hashable {
    /// nil where none was kept.
    package var request: ExchangeBody?
    /// nil where none was kept.
    package var response: ExchangeBody?

    /// None, unless told otherwise.
    package init(request: ExchangeBody? = nil, response: ExchangeBody? = nil) {
        self.request = request
        self.response = response
    }
}
