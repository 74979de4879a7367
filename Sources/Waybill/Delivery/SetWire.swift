package import Foundation
package import WaybillCore

/// What differs between the versions of the format on the wire: where a set goes, what it looks like, and what its
/// answer says.
package protocol SetWire: Sendable {
    /// Whether bodies may be compressed.
    var compresses: Bool { get }
    /// The media type of the answer; nil: any, or none.
    var accepted: String? { get }
    /// Where sets go, by the address that the delivery was given.
    func address(at collector: URL) -> URL
    /// The value of `Authorization`, for a token of visible ASCII.
    func authorization(_ token: String) -> String
    /// The set as it is sent.
    func message(of set: OutgoingSet) throws(DeliveryFailure) -> SetMessage
    /// The receipt, if the answer settles anything.
    func receipt(of set: OutgoingSet, sentAs message: SetMessage, from answer: CollectorResponse, now: Date)
        throws(DeliveryFailure)
        -> Receipt
}

/// A set as it is sent.
package struct SetMessage {
    package var mediaType: String
    /// nil: nothing of the set can be said in that version, so that nothing is sent.
    package var body: [UInt8]?
    /// The facts that are not in it.
    package var leftOut: [Rejection]

    package init(mediaType: String, body: [UInt8]?, leftOut: [Rejection] = []) {
        self.mediaType = mediaType
        self.body = body
        self.leftOut = leftOut
    }
}

/// Version 1: sets go as they are, to a collector, which answers with a receipt.
package struct CollectorWire: SetWire {
    package var compresses: Bool { true }
    package var accepted: String? { Receipt.mediaType }

    package func address(at collector: URL) -> URL { collector.appending(path: "v1/sets") }

    /// RFC 6750, section 2.1.
    package func authorization(_ token: String) -> String { "Bearer \(token)" }

    package func message(of set: OutgoingSet) -> SetMessage { SetMessage(mediaType: set.mediaType, body: set.body) }

    package func receipt(
        of set: OutgoingSet, sentAs message: SetMessage, from answer: CollectorResponse, now: Date
    ) throws(DeliveryFailure) -> Receipt {
        try answer.receipt(for: set, now: now)
    }
}
