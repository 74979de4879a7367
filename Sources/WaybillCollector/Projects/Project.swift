#if Collector
import Foundation
import WaybillCore
import WaybillReading

/// A project of a collector: a store of its own, and what was counted of it.
final class Project: Sendable {
    let name: ProjectName
    let store: any CollectedStore
    let counters: Counters
    let samplingRates: HandedRates
    /// What of it may be kept.
    let retirement: RetirementLimits
    /// Says up to where a tracing backend has taken everything.
    let spanCursorFile: URL

    /// - Parameters:
    ///   - counters: What the store's commits are counted by.
    ///   - folder: Of what the collector itself keeps.
    ///   - byteCount: What the store may take; nil: that is not the collector's to say.
    init(
        _ name: ProjectName, _ store: any CollectedStore, _ counters: Counters, in folder: URL, byteCount: Int64?,
        limits: CollectorLimits
    ) throws(WaybillError) {
        (self.name, self.store, self.counters) = (name, store, counters)
        samplingRates = try HandedRates(limits.samplingRates)
        retirement = RetirementLimits(
            maximumAge: limits.maximumAge, maximumByteCount: byteCount, maximumTransactionCount: limits.transactionCount
        )
        spanCursorFile = folder.appending(path: "\(name).otlp-cursor")
    }

    /// Opens the store in a folder, and makes it where it is missing; blocks until it is done.
    convenience init(_ name: ProjectName, in folder: URL, limits: CollectorLimits, clock: any TransactionClock)
        throws(WaybillError)
    {
        let counters = Counters(clock: clock)
        var store = try SQLiteStore(
            making: name.description, in: folder, factsPerTransaction: limits.factsPerTransaction, clock: clock
        ) {
            counters.count($0)
        }
        store.readLimit = limits.readDuration
        store.redactor = limits.redactor
        try self.init(name, store, counters, in: folder, byteCount: limits.storeByteCount, limits: limits)
    }
}
#endif
