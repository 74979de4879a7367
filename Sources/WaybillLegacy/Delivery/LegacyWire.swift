import Foundation
public import Waybill
package import WaybillCore
import WaybillStore

/// Version 0.0.1. Sets go to the server's own address, and any 2xx settles them.
struct LegacyWire: SetWire {
    let prefix: String
    let scheme: String
    let parameter: String
    let version: String

    var hasReceipts: Bool { false }

    func address(at collector: URL) -> URL { collector }

    /// The token is a quoted string (RFC 9110, section 5.6.4).
    func authorization(_ token: String) -> String {
        "\(scheme) \(parameter)=\"\(token.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    func message(of set: OutgoingSet) throws(Delivery.Failure) -> SetMessage {
        guard prefix.isEmpty || prefix.isToken, scheme.isToken, parameter.isToken, version.isToken else {
            throw Delivery.Failure(
                WaybillError(
                    .setting,
                    "The prefix, scheme, parameter or version of sets 0.0.1 holds what no header field can; give letters, digits and .-_ only."
                ),
                remedy: .waitForNewDelivery)
        }
        let decoded: TransactionSet
        do throws(SetDecodingFailure) { decoded = try TransactionSet.decode(set.body) } catch {
            throw Delivery.Failure(
                WaybillError(.format, "Only sets of version 1 can be sent as sets 0.0.1.", cause: error.description))
        }
        let rendition = LegacyRendition(of: decoded)
        return SetMessage(
            mediaType: LegacyMediaType.value(prefix: prefix, version: version),
            body: rendition.set.transactions.isEmpty ? nil : rendition.set.encoded(),
            leftOut: rendition.rejections + decoded.rejections)
    }
}

/// A set in version 0.0.1: transactions and their events, with the events' own times.
/// Attributes of openings and events are left out, and so is the domain of an error with a text.
/// Outcomes, exchanges and later attributes are rejected, which keeps them on the device for a collector.
package struct LegacyRendition {
    package private(set) var set = LegacySet(transactions: [])
    /// The facts that are left out, by source and index.
    package private(set) var rejections: [Receipt.Rejection] = []

    private var places: [GUID: Int] = [:]

    package init(of set: TransactionSet) {
        for share in set.sources { add(share) }
    }

    private static let anEnding = "Version 0.0.1 of the format has no place for how a transaction ended."
    private static let attributesSet = "Version 0.0.1 of the format has no place for attributes."
    private static let anUnknownKind = "Version 0.0.1 of the format has no place for facts of this kind."
    private static let anExchange = "Version 0.0.1 of the format has no place for exchanges."
    private static let aLostOpening =
        "Version 0.0.1 of the format names the transaction with each event, and this one's opening is no longer there."

    private mutating func add(_ share: TransactionSet.Share) {
        // Another source is another device, even in the same transaction.
        places = [:]
        let clock = WallClock(share.clocks)
        var parts: [Int64: PlacedPart] = [:]
        for part in share.continuedParts { parts[part.part] = PlacedPart(part) }
        for (index, fact) in share.facts.enumerated() {
            switch fact.content {
            case .opened(let opened):
                let part = PlacedPart(opened)
                parts[fact.sequence] = part
                _ = place(of: part, from: share.source)
            case .event(let event):
                if let part = parts[fact.part] {
                    set.transactions[place(of: part, from: share.source)].logs.append(
                        LegacySet.Log(event, at: clock.wall(fact.atMicroseconds)))
                } else {
                    reject(fact, at: index, of: share, Self.aLostOpening)
                }
            case .attributesSet: reject(fact, at: index, of: share, Self.attributesSet)
            case .unknown: reject(fact, at: index, of: share, Self.anUnknownKind)
            case .closed: reject(fact, at: index, of: share, Self.anEnding)
            case .exchangeOpened, .exchangeClosed: reject(fact, at: index, of: share, Self.anExchange)
            }
        }
    }

    private mutating func reject(_ fact: Fact, at index: Int, of share: TransactionSet.Share, _ reason: String) {
        rejections.append(
            Receipt.Rejection(source: share.source.id, sequence: fact.sequence, index: index, reason: reason))
    }

    private mutating func place(of part: PlacedPart, from source: SourceIdentity) -> Int {
        if let place = places[part.transaction] { return place }
        set.transactions.append(
            LegacySet.Transaction(
                id: part.transaction, useCase: part.useCase, deviceMake: source.device, deviceOS: source.os,
                deviceOSVersion: source.osVersion))
        places[part.transaction] = set.transactions.count - 1
        return set.transactions.count - 1
    }
}

extension LegacySet.Log {
    fileprivate init(_ event: Fact.Event, at wall: Int64) {
        self.init(event: event.code, timestamp: LegacyDate.text(wall))
        guard let error = event.error else { return }
        errorCode = .number(error.code)
        // The domain says more than a number alone.
        errorDescription = error.text ?? (error.domain.isEmpty ? nil : error.domain)
    }
}

extension SetFormat {
    // The name contains the version.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Version 0.0.1, the format of the PEAppTransaction Logging Framework (2015): transactions and their events.
    ///
    /// Use it with a server of that framework. Sets go to the delivery's address unchanged, and any 2xx settles them.
    /// Such a server returns no verdicts, and does not recognize duplicates.
    ///
    /// The format has no outcomes, exchanges or attributes. Attributes of openings and events are left out. The other
    /// facts go into quarantine with the reason, and can be sent to a collector later. See <doc:MoveFromPELF>.
    ///
    /// - Parameters:
    ///   - prefix: The prefix in `application/<prefix>apptxnset-v0.0.1+json;charset=UTF-8`, e.g. `vnd.fp.`.
    ///   - scheme: The scheme in `Authorization: <scheme> <parameter>="<token>"`, e.g. `fp-auth`. Each server has
    ///     another one, and a Waybill collector accepts any. Default: `auth`.
    ///   - parameter: The token's name in that field, e.g. `fp-token`. Default: `token`.
    ///   - mediaTypeVersion: The version in the media type, if the server expects another one, e.g. `1.0.0`. It does
    ///     not change the sets. Default: `0.0.1`.
    public static func v0_0_1(
        prefix: String, scheme: String = "auth", parameter: String = "token", mediaTypeVersion: String = "0.0.1"
    ) -> SetFormat {
        SetFormat(wire: LegacyWire(prefix: prefix, scheme: scheme, parameter: parameter, version: mediaTypeVersion))
    }
}
