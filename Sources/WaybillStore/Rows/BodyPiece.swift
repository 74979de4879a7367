package import WaybillCore

/// A piece of a body, redacted, on its way into the store.
package struct BodyPiece: Sendable {
    /// What is known when the whole body has passed; only the last piece has it.
    package struct End: Sendable {
        package var byteCount: Int64
        package var omission: ExchangeBody.Omission?
        /// The hash under a key that is no secret; the store hashes it again under its own. nil: the body was kept
        /// whole, or not at all.
        package var hash: SipHash.Value?

        package init(byteCount: Int64, omission: ExchangeBody.Omission?, hash: SipHash.Value?) {
            self.byteCount = byteCount
            self.omission = omission
            self.hash = hash
        }
    }

    /// The part and the sequence of the exchange that it belongs to.
    package var part: Int64
    package var exchange: Int64
    package var direction: BodyDirection
    /// From 0.
    package var number: Int64
    package var contentType: String?
    package var bytes: [UInt8]
    package var end: End?

    package init(
        part: Int64, exchange: Int64, direction: BodyDirection, number: Int64, contentType: String?, bytes: [UInt8],
        end: End?
    ) {
        self.part = part
        self.exchange = exchange
        self.direction = direction
        self.number = number
        self.contentType = contentType
        self.bytes = bytes
        self.end = end
    }
}
