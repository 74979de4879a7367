import Foundation
import Waybill
import WaybillCore
import WaybillStore

/// Version 0.0.1: what that version can say goes to the server's own address, and any 2xx settles it.
package struct LegacyWire: SetWire {
    let prefix: String
    let scheme: String
    let parameter: String
    /// Of the media type.
    let version: String

    /// No server of that kind is known to read compressed bodies.
    var compresses: Bool { false }
    /// Nothing is expected, so that no server answers 406.
    var accepted: String? { nil }

    func address(at collector: URL) -> URL { collector }

    /// The value as a quoted string (RFC 9110, section 5.6.4).
    func authorization(_ token: String) -> String {
        "\(scheme) \(parameter)=\"\(token.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    func message(of set: OutgoingSet) throws(DeliveryFailure) -> SetMessage {
        guard prefix.isEmpty || prefix.isToken, scheme.isToken, parameter.isToken, version.isToken else {
            throw DeliveryFailure(
                WaybillError(
                    .setting,
                    "The prefix, scheme, parameter or version of sets 0.0.1 holds what no header field can; give letters, digits and .-_ only."
                ),
                remedy: .waitForNewDelivery)
        }
        let decoded: DecodedSet
        do throws(SetDecodingFailure) { decoded = try TransactionSet.decode(set.body) } catch {
            throw DeliveryFailure(
                WaybillError(.format, "Only sets of version 1 can be sent as sets 0.0.1.", cause: error.description))
        }
        let rendition = LegacyRendition(of: decoded.set, openings: set.openings)
        return SetMessage(
            mediaType: LegacyMediaType.value(prefix: prefix, version: version),
            body: rendition.set.transactions.isEmpty ? nil : rendition.set.encoded(),
            leftOut: rendition.rejections + decoded.rejections)
    }

    func receipt(
        of set: OutgoingSet, sentAs message: SetMessage, from answer: CollectorResponse, now: Date
    ) throws(DeliveryFailure) -> Receipt {
        try answer.acceptance(of: set, but: message.leftOut, now: now)
    }
}
