import WaybillCore

/// The truth that is compared with what is found after a power cut: every fact that was recorded, and since when it
/// must not be lost.
struct RecordedFacts {
    struct Entry {
        var fact: Fact
        /// Uptime when it was recorded; nil: the device has lost it, in the last five seconds of an earlier life, and
        /// only the collector has it.
        var time: Int64?
        /// The disk's last event before.
        var moment: Int
        /// The event since which it is on the device's disk: `sync()` has returned; nil: not yet.
        var synced: Int?
        /// The event since which it is on the collector's disk: a receipt was given; nil: not yet.
        var acknowledged: Int?
    }

    private(set) var entries: [FactID: Entry] = [:]

    mutating func add(_ fact: Fact, of source: GUID, time: Int64, moment: Int) {
        entries[FactID(source: source, sequence: fact.sequence)] = Entry(fact: fact, time: time, moment: moment)
    }

    /// `sync()` has returned.
    mutating func sync(at moment: Int) {
        for id in entries.keys where entries[id]?.synced == nil && entries[id]?.time != nil {
            entries[id]?.synced = moment
        }
    }

    /// A receipt was given.
    mutating func acknowledge(_ set: TransactionSet, at moment: Int) {
        for share in set.sources {
            for fact in share.facts {
                let id = FactID(source: share.source.id, sequence: fact.sequence)
                if entries[id]?.acknowledged == nil { entries[id]?.acknowledged = moment }
            }
        }
    }

    /// What was recorded before a cut, and must be on the device's disk.
    func needed(after moment: Int, uptime: Int64) -> [FactID: Fact] {
        entries.filter { _, entry in
            guard entry.moment <= moment, let time = entry.time else { return false }
            if let synced = entry.synced, synced <= moment { return true }
            return uptime - time > 5_000_000
        }.mapValues(\.fact)
    }

    /// What must be on the collector's disk.
    func acknowledged(before moment: Int) -> [FactID: Fact] {
        entries.filter { _, entry in entry.acknowledged.map { $0 <= moment } ?? false }.mapValues(\.fact)
    }

    /// What is left after a cut is on the disk, from the first event of the next life on; nobody waits for the rest.
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
