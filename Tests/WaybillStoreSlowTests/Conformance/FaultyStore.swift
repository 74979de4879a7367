import StoreConformance
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillTesting

/// A store with one fault that is otherwise correct.
struct FaultyStore: ExportingStore {
    enum Fault: CaseIterable {
        case losesAFact, doublesAFact, sortsWrongly, forgetsAnErasure, keepsWhatIsRetired, knowsNoRepetition
        case exportsOutOfOrder, exportsTwice, skipsInAnExport, verifiesWrongly
    }

    let fault: Fault
    private let store: NaiveStore
    /// The same store without the fault.
    private let honest: NaiveStore
    private let isDone = Locked(false)

    init(_ fault: Fault, clock: any TransactionClock) {
        self.fault = fault
        store = NaiveStore(clock: clock)
        honest = NaiveStore(clock: clock)
    }

    func add(_ set: ReceivedSet) -> Receipt {
        let receipt = honest.add(set)
        var changed = set.set
        isDone.withLock { isDone in
            guard !isDone, changed.sources[0].facts.count > 1, let fact = changed.sources[0].facts.last else {
                return
            }
            if fault == .losesAFact {
                changed.sources[0].facts.removeLast()
                isDone = true
            } else if fault == .doublesAFact, case .event = fact.content {
                changed.sources[0].facts.append(fact)
                changed.sources[0].facts[changed.sources[0].facts.count - 1].sequence += 1_000
                isDone = true
            }
        }
        let own = store.add(ReceivedSet(set: Redactor().redacted(changed), atMicroseconds: set.atMicroseconds))
        return fault == .knowsNoRepetition ? Receipt(set: receipt.set, acceptedCount: own.factCount) : receipt
    }

    func erase(_ scope: ErasureScope) -> Erasure {
        if fault != .forgetsAnErasure { _ = store.erase(scope) }
        return honest.erase(scope)
    }

    func retire(_ limits: RetirementLimits) throws -> Int {
        if fault != .keepsWhatIsRetired { _ = try store.retire(limits) }
        return try honest.retire(limits)
    }

    func transactions(_ request: ListRequest, within budget: Duration?) throws -> RecordPage<TransactionSummary> {
        var page = try store.transactions(request, within: budget)
        if fault == .sortsWrongly { page.rows.reverse() }
        return page
    }

    func transaction(_ key: String) throws -> TransactionRecord { try store.transaction(key) }

    func exchanges(_ request: ListRequest, within budget: Duration?) throws -> RecordPage<ExchangeRecord> {
        try store.exchanges(request, within: budget)
    }

    func exchange(_ key: String) throws -> ExchangeRecord { try store.exchange(key) }

    func bodies(of exchanges: [FactID], limit: Int) -> (bodies: [FactID: ExchangeBodies], isCut: Bool) {
        store.bodies(of: exchanges, limit: limit)
    }

    func sources(_ request: ListRequest) throws -> RecordPage<SourceRecord> { try store.sources(request) }

    func nameConflicts(_ request: ListRequest) throws -> RecordPage<NameConflict> { try store.nameConflicts(request) }

    func verify() -> StoreVerification {
        var found = store.verify()
        if fault == .verifiesWrongly { found.sources = found.sources.dropLast() }
        return found
    }

    func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) throws -> AnyAnswer {
        try store.answer(question, where: parameters)
    }

    func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
        let stream = try store.export(facts, as: format)
        var lines = try await stream.next()?.bytes.split(separator: 0x0A) ?? []
        var cursor = stream.cursor
        switch fault {
        // Parts are torn apart: the first line moves to the end.
        case .exportsOutOfOrder: lines.append(contentsOf: lines.isEmpty ? [] : [lines.removeFirst()])
        case .exportsTwice: lines.append(contentsOf: lines.suffix(1))
        case .skipsInAnExport: if case .of = facts { cursor = "\((Int(cursor) ?? 0) + 1)" }
        case .losesAFact, .doublesAFact, .sortsWrongly, .forgetsAnErasure, .keepsWhatIsRetired, .knowsNoRepetition,
            .verifiesWrongly:
            break
        }
        let piece = Locked<[UInt8]?>(lines.flatMap { $0 + [0x0A] })
        return ExportStream(cursor: cursor) { piece.withLock { $0.take() }.map { ExportStream.Piece(bytes: $0) } }
    }
}
