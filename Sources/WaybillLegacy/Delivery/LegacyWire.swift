import Foundation
public import Waybill
package import WaybillCore
import WaybillStore

/// Version 0.0.1: what that version can say goes to the server's own address, and any 2xx settles it.
struct LegacyWire: SetWire {
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

    func message(of set: OutgoingSet) throws(Delivery.Failure) -> SetMessage {
        guard prefix.isEmpty || prefix.isToken, scheme.isToken, parameter.isToken, version.isToken else {
            throw Delivery.Failure(
                WaybillError(
                    .setting,
                    "The prefix, scheme, parameter or version of sets 0.0.1 holds what no header field can; give letters, digits and .-_ only."
                ),
                remedy: .waitForNewDelivery)
        }
        let decoded: DecodedSet
        do throws(SetDecodingFailure) { decoded = try TransactionSet.decode(set.body) } catch {
            throw Delivery.Failure(
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
    ) throws(Delivery.Failure) -> Receipt {
        try answer.acceptance(of: set, but: message.leftOut, now: now)
    }
}

/// A set as version 0.0.1 can say it: its transactions and their events, at their own times.
///
/// A part becomes a transaction of the set, with an empty list of logs where nothing happened in it. Attributes are
/// left out, and so is the domain of an error that has a text. Endings and exchanges have no place in that version:
/// they are rejected, so that the device's books say so, keeps them, and can send them to a collector later.
package struct LegacyRendition {
    /// What is sent; without transactions there is nothing to send.
    package private(set) var set = LegacySet(transactions: [])
    /// The facts that are not in it, in order of source and index.
    package private(set) var rejections: [Receipt.Rejection] = []

    private let openings: [FactID: Fact.Opened]
    /// Where in the set a transaction of the share that is being added stands.
    private var places: [GUID: Int] = [:]

    /// Makes the rendition of a set.
    ///
    /// - Parameter openings: Those that earlier sets have delivered of parts that this one goes on with; see
    ///   `Store.openings(before:)`.
    package init(of set: TransactionSet, openings: [FactID: Fact.Opened]) {
        self.openings = openings
        for share in set.sources { add(share) }
    }

    private static let anEnding = "Version 0.0.1 of the format has no place for how a transaction ended."
    private static let attributesSet = "Version 0.0.1 of the format has no place for attributes."
    private static let anExchange = "Version 0.0.1 of the format has no place for exchanges."
    private static let aLostOpening =
        "Version 0.0.1 of the format names the transaction with each event, and this one's opening is no longer there."

    private mutating func add(_ share: TransactionSet.Share) {
        // Of another source, even if of the same transaction, it is another device's.
        places = [:]
        let clock = WallClock(share.clocks)
        var parts: [Int64: Fact.Opened] = [:]
        for (index, fact) in share.facts.enumerated() {
            switch fact.content {
            case .opened(let opened):
                parts[fact.sequence] = opened
                _ = place(of: opened, from: share.source)
            case .event(let event):
                let id = FactID(source: share.source.id, sequence: fact.part)
                if let opened = parts[fact.part] ?? openings[id] {
                    set.transactions[place(of: opened, from: share.source)].logs.append(
                        LegacySet.Log(event, at: clock.wall(fact.atMicroseconds)))
                } else {
                    reject(fact, at: index, of: share, Self.aLostOpening)
                }
            case .attributesSet: reject(fact, at: index, of: share, Self.attributesSet)
            case .closed: reject(fact, at: index, of: share, Self.anEnding)
            case .exchangeOpened, .exchangeClosed: reject(fact, at: index, of: share, Self.anExchange)
            }
        }
    }

    private mutating func reject(_ fact: Fact, at index: Int, of share: TransactionSet.Share, _ reason: String) {
        rejections.append(
            Receipt.Rejection(source: share.source.id, sequence: fact.sequence, index: index, reason: reason))
    }

    /// The index of its transaction in the set, which it gets where it has none.
    private mutating func place(of opened: Fact.Opened, from source: SourceIdentity) -> Int {
        if let place = places[opened.transaction] { return place }
        set.transactions.append(
            LegacySet.Transaction(
                id: opened.transaction, useCase: opened.useCase, deviceMake: source.device, deviceOS: source.os,
                deviceOSVersion: source.osVersion))
        places[opened.transaction] = set.transactions.count - 1
        return set.transactions.count - 1
    }
}

extension LegacySet.Log {
    fileprivate init(_ event: Fact.Event, at wall: Int64) {
        self.init(event: event.code, timestamp: LegacyDate.text(wall))
        guard let error = event.error else { return }
        errorCode = .number(error.code)
        // A bare number says little; who defines it says more.
        errorDescription = error.text ?? (error.domain.isEmpty ? nil : error.domain)
    }
}

extension SetFormat {
    // Named as the version is.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Version 0.0.1, of the PEAppTransaction Logging Framework (2015), for those who run a server of its kind:
    /// transactions with their events.
    ///
    /// Sets go to the delivery's address as it is, and any 2xx settles one: such a server gives no verdicts, and knows
    /// nothing of what it has already. What the format has no place for, endings and exchanges, goes into quarantine
    /// with the reason, so that it is counted and can be sent to a collector later; attributes are left out. The guide
    /// <doc:MoveFromPELF> has the whole of it.
    ///
    /// - Parameters:
    ///   - prefix: Of the media type `application/<prefix>apptxnset-v0.0.1+json;charset=UTF-8`, e.g. `vnd.fp.`.
    ///   - scheme: Of `Authorization: <scheme> <parameter>="<token>"`, e.g. `fp-auth`. Each server has its own; a
    ///     collector of Waybill's takes any.
    ///   - parameter: The token's name in it, e.g. `fp-token`.
    ///   - mediaTypeVersion: What stands in the media type in place of `0.0.1`, e.g. `1.0.0`, where the old manager was
    ///     made with another one; what is in a set stays the same.
    public static func v0_0_1(
        prefix: String, scheme: String = "auth", parameter: String = "token", mediaTypeVersion: String = "0.0.1"
    ) -> SetFormat {
        SetFormat(wire: LegacyWire(prefix: prefix, scheme: scheme, parameter: parameter, version: mediaTypeVersion))
    }
}
