import WaybillCore

/// The truth that a disk is compared with after a power cut: every recorded fact, and since when it must not be lost.
struct RecordedFacts {
    struct Entry {
        var fact: Fact
        /// The uptime when it was recorded. `nil` if only the collector has it: the device lost it in the last five
        /// seconds of an earlier life.
        var time: Int64?
        /// The disk's last event before it was recorded.
        var moment: Int
        /// The disk's event when `sync()` returned: since then, the fact is on the device's disk. `nil` before that.
        var synced: Int?
        /// The disk's event when a receipt was given: since then, the fact is on the collector's disk. `nil` before
        /// that.
        var acknowledged: Int?
    }

    private(set) var entries: [FactID: Entry] = [:]

    mutating func add(_ fact: Fact, of source: GUID, time: Int64, moment: Int) {
        entries[FactID(source: source, sequence: fact.sequence)] = Entry(fact: fact, time: time, moment: moment)
    }

    /// Notes that `sync()` has returned.
    mutating func sync(at moment: Int) {
        for id in entries.keys where entries[id]?.synced == nil && entries[id]?.time != nil {
            entries[id]?.synced = moment
        }
    }

    /// Notes that a receipt was given.
    mutating func acknowledge(_ set: TransactionSet, at moment: Int) {
        for share in set.sources {
            for fact in share.facts {
                let id = FactID(source: share.source.id, sequence: fact.sequence)
                if entries[id]?.acknowledged == nil { entries[id]?.acknowledged = moment }
            }
        }
    }

    /// The facts recorded before a cut that must be on the device's disk.
    func needed(after moment: Int, uptime: Int64) -> [FactID: Fact] {
        entries.filter { _, entry in
            guard entry.moment <= moment, let time = entry.time else { return false }
            if let synced = entry.synced, synced <= moment { return true }
            return uptime - time > 5_000_000
        }.mapValues(\.fact)
    }

    /// The facts that must be on the collector's disk.
    func acknowledged(before moment: Int) -> [FactID: Fact] {
        entries.filter { _, entry in entry.acknowledged.map { $0 <= moment } ?? false }.mapValues(\.fact)
    }

    /// Starts the next life: facts that survived the cut are on the disk from its first event on, and the others are
    /// forgotten.
    mutating func restart(device: Set<FactID>, collector: Set<FactID>) {
        entries = entries.filter { device.contains($0.key) || collector.contains($0.key) }
        for id in entries.keys {
            entries[id]?.moment = 0
            if !device.contains(id) { entries[id]?.time = nil }
            entries[id]?.synced = device.contains(id) ? 0 : nil
            entries[id]?.acknowledged = collector.contains(id) ? 0 : nil
        }
    }
}
