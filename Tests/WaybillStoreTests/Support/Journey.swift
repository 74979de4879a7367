import StoreConformance
import TestSupport
import WaybillCore
import WaybillTesting

@testable import WaybillStore

/// Delivers histories from a device's store to a collector's. Sets and answers get lost, and sources end at any point.
struct Journey {
    let device: Store
    let devicePlace: ResolvedLocation
    let collector: Store
    let collectorPlace: ResolvedLocation
    /// The unexpected events on the way.
    private(set) var surprises: [String] = []

    private var random: RandomNumbers
    private var waiting: [(history: SourceHistory, facts: ArraySlice<Fact>)]
    private var ended: Set<GUID> = []
    private var uptime: Int64 = 0
    private let owner = GUID()

    init(_ histories: [SourceHistory], _ random: RandomNumbers) throws {
        (device, devicePlace) = try Store.inMemory()
        (collector, collectorPlace) = try Store.inMemory()
        self.random = random
        waiting = histories.map { ($0, $0.facts[...]) }
        for history in histories { try device.register(history.source) }
    }

    /// Records and delivers at random, possibly nothing. Returns `false` when everything is done.
    mutating func step() throws -> Bool {
        uptime += 1_000
        try record()
        let limit = LeaseLimit(
            factCount: Int.random(in: 1...20, using: &random), byteCount: random.oneIn(4) ? 300 : 100_000)
        guard
            let set = try device.lease(owner: owner, now: uptime, expiresIn: 500, limit: limit, isAlive: { _ in true })
        else {
            return waiting.contains {
                !$0.facts.isEmpty || ($0.history.hasEnded && !ended.contains($0.history.source.id))
            }
        }
        if random.oneIn(3) { try record() }  // during the set's delivery
        let fate = Int.random(in: 0..<6, using: &random)
        // 0: never sent; 1: sent, and the answer lost; 2: the same, and the lease released; otherwise: settled.
        if fate > 0 {
            // Uses the clock of the sources, as far as both are right. A time far ahead of its arrival is not trusted.
            let receipt = try collector.ingest(
                try TransactionSet.decode(set.encoded()), receivedAt: HistoryMaker.wall + uptime)
            if receipt.factCount != set.factCount || !receipt.rejections.isEmpty { surprises.append("\(receipt)") }
            if fate > 2, try !device.settle(set.id, rejections: receipt.rejections, at: uptime) {
                surprises.append("the lease is gone")
            }
        }
        if fate == 2 { try device.release(set.id) }
        for ledger in try device.ledgers().values where !ledger.isBalanced { surprises.append("\(ledger)") }
        return true
    }

    private mutating func record() throws {
        guard let index = waiting.indices.randomElement(using: &random) else { return }
        let (history, left) = waiting[index]
        if left.isEmpty {
            guard history.hasEnded, ended.insert(history.source.id).inserted else { return }
            let marked = try device.endSources(isAlive: { $0 != history.source.id })
            if marked != [history.source.id] { surprises.append("ended: \(marked)") }
            return
        }
        let batch = left.prefix(Int.random(in: 0...9, using: &random))
        // An anchor may be written after facts that use it.
        let clocks =
            batch.count == left.count
            ? history.clocks : Array(history.clocks.prefix(Int.random(in: 1...history.clocks.count, using: &random)))
        try device.append(
            RecordedBatch(
                source: history.source.id, facts: Array(batch), names: history.names, clocks: clocks,
                refused: history.refused))
        waiting[index].facts = left.dropFirst(batch.count)
    }
}
