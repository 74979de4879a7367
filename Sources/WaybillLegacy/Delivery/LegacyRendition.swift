package import WaybillCore
import WaybillStore

/// A set as version 0.0.1 can say it: its transactions and their events, at their own times.
///
/// A part becomes a transaction of the set, with an empty list of logs where nothing happened in it. Attributes are
/// left out, and so is the domain of an error that has a text. Endings and exchanges have no place in that version:
/// they are rejected, so that the device's books say so, keeps them, and can send them to a collector later.
package struct LegacyRendition {
    /// What is sent; without transactions there is nothing to send.
    package private(set) var set = LegacySet(transactions: [])
    /// The facts that are not in it, in order of source and index.
    package private(set) var rejections: [Rejection] = []

    private let openings: [Fact.ID: Fact.Opened]
    /// Where in the set a transaction of the share that is being added stands.
    private var places: [GUID: Int] = [:]

    /// Makes the rendition of a set.
    ///
    /// - Parameter openings: Those that earlier sets have delivered of parts that this one goes on with; see
    ///   `Store.openings(before:)`.
    package init(of set: TransactionSet, openings: [Fact.ID: Fact.Opened]) {
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
                let id = Fact.ID(source: share.source.id, sequence: fact.part)
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
        rejections.append(Rejection(source: share.source.id, sequence: fact.sequence, index: index, reason: reason))
    }

    /// The index of its transaction in the set, which it gets where it has none.
    private mutating func place(of opened: Fact.Opened, from source: RecordedSource) -> Int {
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
