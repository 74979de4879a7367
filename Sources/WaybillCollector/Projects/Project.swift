#if Collector
import WaybillCore
import WaybillStore

/// A project of a collector: a store of its own, the one writer of it, and its readers.
final class Project: Sendable {
    let name: ProjectName
    let place: ResolvedLocation
    let writer: SetWriter
    let queries: StoreQueries
    /// One question about many transactions after the other: it may take seconds and much memory, and keeps no list waiting.
    let questions: StoreQueries
    let counters: Counters

    /// Opens the store, and makes it where it is missing; blocks until it is done.
    init(_ name: ProjectName, _ place: ResolvedLocation, limits: CollectorLimits, clock: any TransactionClock) throws(WaybillError) {
        self.name = name
        self.place = place
        counters = Counters(clock: clock)
        writer = try SetWriter(place, limits: limits, counters: counters)
        queries = try StoreQueries(place, clock: clock)
        questions = try StoreQueries(place, clock: clock)
    }
}
#endif
