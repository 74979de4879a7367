import WaybillAnalysis
import WaybillCore
import WaybillReading
import WaybillStore
import WaybillTesting

/// A store with one fault, and otherwise as it should be.
struct FaultyStore: StoreUnderTest {
    enum Fault: CaseIterable {
        case losesAFact, doublesAFact, sortsWrongly, forgetsAnErasure, keepsWhatIsRetired, knowsNoRepetition
    }

    let fault: Fault
    private let store = NaiveStore()
    /// Without the fault.
    private let honest = NaiveStore()
    private let isDone = Locked(false)

    init(_ fault: Fault) { self.fault = fault }

    func add(_ set: TransactionSet, at time: Int) -> Receipt {
        let receipt = honest.add(set, at: time)
        var changed = set
        isDone.withLock { isDone in
            guard !isDone, set.sources[0].facts.count > 1, let fact = set.sources[0].facts.last else { return }
            switch fault {
            case .losesAFact:
                changed.sources[0].facts.removeLast()
                isDone = true
            case .doublesAFact:
                guard case .event = fact.content else { return }
                changed.sources[0].facts.append(fact)
                changed.sources[0].facts[changed.sources[0].facts.count - 1].sequence += 1_000
                isDone = true
            case .sortsWrongly, .forgetsAnErasure, .keepsWhatIsRetired, .knowsNoRepetition: break
            }
        }
        let own = store.add(changed, at: time)
        return fault == .knowsNoRepetition ? Receipt(set: set.id, acceptedCount: own.factCount) : receipt
    }

    func erase(_ scope: ErasureScope, at time: Int) -> Erasure {
        if fault != .forgetsAnErasure { _ = store.erase(scope, at: time) }
        return honest.erase(scope, at: time)
    }

    func retire(receivedBefore time: Int) -> Int {
        if fault != .keepsWhatIsRetired { _ = store.retire(receivedBefore: time) }
        return honest.retire(receivedBefore: time)
    }

    func transactions(
        matching filter: TransactionFilter, limit: Int, after cursor: String?, now: Int
    ) throws -> RecordPage<TransactionSummary> {
        var page = try store.transactions(matching: filter, limit: limit, after: cursor, now: now)
        if fault == .sortsWrongly { page.rows.reverse() }
        return page
    }

    func changes(
        after position: String?, matching filter: TransactionFilter, limit: Int, after cursor: String?, now: Int
    ) throws -> RecordPage<TransactionSummary> {
        try store.changes(after: position, matching: filter, limit: limit, after: cursor, now: now)
    }

    func transaction(_ id: GUID, now: Int) -> TransactionRecord? { store.transaction(id, now: now) }

    func exchanges(matching filter: ExchangeFilter, limit: Int, after cursor: String?, now: Int) throws -> RecordPage<
        ExchangeRecord
    > {
        try store.exchanges(matching: filter, limit: limit, after: cursor, now: now)
    }

    func exchange(_ id: Fact.ID) -> ExchangeRecord? { store.exchange(id) }

    func sources(matching filter: SourceFilter, limit: Int, after cursor: String?) throws -> RecordPage<SourceRecord> {
        try store.sources(matching: filter, limit: limit, after: cursor)
    }

    func source(_ id: GUID) -> SourceRecord? { store.source(id) }

    func names() -> [RecordedName] { store.names() }

    func nameConflicts() -> [NameConflict] { store.nameConflicts() }

    func counts(now: Int) -> TransactionCounts { store.counts(now: now) }

    func facts(matching filter: TransactionFilter?, now: Int) -> [TransactionSet] {
        store.facts(matching: filter, now: now)
    }

    func verification() -> (problems: [String], transactionCount: Int, factCount: Int) { store.verification() }

    func answer(_ query: AnyQuestion, now: Int) throws -> AnyAnswer { try store.answer(query, now: now) }
}
