import Foundation
import TestSupport
import WaybillCore
import WaybillQueries
import WaybillStore

/// Opens the stores after a power cut, delivers everything, and compares the result with the recorded facts.
struct RecoveryCheck {
    private(set) var result = PowerLossTrial.Result()
    /// The facts on the device after recovery.
    private(set) var deviceFacts: Set<FactID> = []
    /// The facts at the collector before anything was delivered again.
    private(set) var collectorFacts: Set<FactID> = []

    private let name: String
    private let device: ResolvedLocation
    private let collector: ResolvedLocation
    private let time: ManualTime

    init(_ folder: URL, _ facts: RecordedFacts, after moment: Int, uptime: Int64, _ time: ManualTime) throws {
        name = "\(folder.lastPathComponent) after event \(moment)"
        device = .folder(Site.device(in: folder))
        collector = .folder(Site.collector(in: folder))
        self.time = time
        result.cutCount = 1
        let needed = facts.needed(after: moment, uptime: uptime)
        let acknowledged = facts.acknowledged(before: moment)
        let recorded = facts.entries.mapValues(\.fact)

        let writer = SourceWriter(
            source: SourceIdentity(id: GUID(), app: "shop", appVersion: "2"), place: device, clock: time,
            capacity: 1_000, timer: time)
        // A half-written page damages a journal, and its facts are booked.
        if let problem = writer.problem, !problem.message.contains("booked as damaged") {
            complain("the device's store says: \(problem)")
        }
        let server = try Store(collector, commitsAreSynced: true)

        let onDevice = try Self.facts(in: device)
        deviceFacts = Set(onDevice.keys)
        for (id, fact) in onDevice where recorded[id] != fact {
            complain("\(id) was not recorded like that: \(fact), but \(recorded[id].map { "\($0)" } ?? "not at all")")
        }
        let missing = needed.keys.filter { onDevice[$0] == nil }
        if !missing.isEmpty {
            complain("\(missing.count) of \(needed.count) facts are not on the device, e.g. \(missing[0])")
        }
        try verify(device, "after recovery")

        let atCollector = try Self.facts(in: collector)
        collectorFacts = Set(atCollector.keys)
        for (id, fact) in atCollector where recorded[id] != fact { complain("the collector has \(id) as \(fact)") }
        let forgotten = acknowledged.keys.filter { atCollector[$0] == nil }
        if !forgotten.isEmpty {
            complain("\(forgotten.count) of \(acknowledged.count) acknowledged facts are not at the collector")
        }
        try verify(collector, "as it was found")

        _ = writer.recorder.record(.opened(Fact.Opened(transaction: GUID(), useCase: 1)), part: 0)
        try deliver(from: writer, to: server)
        try verify(device, "after delivery")
        try verify(collector, "after delivery")
        let inTheEnd = try Self.facts(in: collector)
        let undelivered = Set(onDevice.keys).subtracting(inTheEnd.keys)
        if !undelivered.isEmpty {
            complain("\(undelivered.count) facts of the device are not at the collector in the end")
        }

        result.neededCount = needed.count
        result.deliveredCount = needed.keys.count { inTheEnd[$0] != nil }
        result.lostCount = Set(needed.keys.filter { inTheEnd[$0] == nil }).union(missing).union(forgotten).count
        for (source, ledger) in try writer.runAndWait({ _, store in try store.ledgers() }) {
            if !ledger.isBalanced || ledger.pending > 0 { complain("the ledger of \(source) is \(ledger)") }
            let last = onDevice.keys.lazy.filter { $0.source == source }.map(\.sequence).max() ?? 0
            if ledger.recorded < last { complain("\(source) forgets: \(ledger.recorded) of \(last)") }
            result.droppedCount += Int(ledger.dropped.values.reduce(0, +))
        }
    }

    private mutating func complain(_ sentence: String) { result.problems.append("\(name): \(sentence)") }

    private mutating func verify(_ place: ResolvedLocation, _ when: String) throws {
        for problem in try StoreReader(place).verify().problems { complain("\(place) \(when): \(problem)") }
    }

    private mutating func deliver(from writer: SourceWriter, to server: Store) throws {
        try eventually("everything is delivered") {
            guard let set = try writer.lease(time) else { return true }
            let before = try Self.facts(in: collector)
            let receipt = try server.ingest(TransactionSet.decode(set.encoded()), receivedAt: time.wallMicroseconds())
            let known = set.sources.reduce(0) { sum, share in
                sum + share.facts.count { before[FactID(source: share.source.id, sequence: $0.sequence)] != nil }
            }
            result.doubledCount += max(0, known - receipt.knownCount)
            if receipt.knownCount != known || receipt.acceptedCount != set.factCount - known {
                complain("a receipt says \(receipt)")
            }
            guard try writer.settle(set, time) else {
                complain("a lease is gone")
                return true
            }
            return false
        }
    }

    private static func facts(in place: ResolvedLocation) throws -> [FactID: Fact] {
        var facts: [FactID: Fact] = [:]
        try StoreReader(place).export(.everything, redactor: Redactor()) { set in
            for share in set.sources {
                for fact in share.facts { facts[FactID(source: share.source.id, sequence: fact.sequence)] = fact }
            }
        }
        return facts
    }
}
