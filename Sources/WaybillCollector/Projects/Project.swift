#if Collector
import Foundation
import WaybillCore
import WaybillReading

/// A project of a collector: a store of its own, and what was counted of it.
final class Project: Sendable {
    let name: ProjectName
    let store: SQLiteStore
    let counters: Counters
    let samplingRates: HandedRates
    /// Says up to where a tracing backend has taken everything.
    let spanCursorFile: URL

    /// Opens the store, and makes it where it is missing; blocks until it is done.
    init(_ name: ProjectName, in folder: URL, limits: CollectorLimits, clock: any TransactionClock) throws(WaybillError)
    {
        self.name = name
        let counters = Counters(clock: clock)
        self.counters = counters
        samplingRates = try HandedRates(limits.samplingRates)
        var store = try SQLiteStore(
            making: name.description, in: folder, factsPerTransaction: limits.factsPerTransaction, clock: clock
        ) {
            counters.count($0)
        }
        store.readLimit = limits.readDuration
        store.redactor = limits.redactor
        self.store = store
        spanCursorFile = folder.appending(path: "\(name).otlp-cursor")
    }

    /// The store, as one token reads it, by its ID: of what reads, each has its share.
    func store(askedBy token: String?) -> SQLiteStore {
        var store = store
        store.asker = token
        return store
    }
}
#endif
