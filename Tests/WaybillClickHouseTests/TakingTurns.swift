#if ClickHouse
import Foundation
import WaybillAnalysis
import WaybillClickHouse
import WaybillCore
import WaybillExport
import WaybillReading

/// Several stores on one database, of which each call goes to the next.
struct TakingTurns: AnsweringStore, ExportingStore {
    private let stores: Locked<[ClickHouseStore]>
    private let meanwhile: @Sendable () async throws -> Void
    private let opening: (@Sendable () async throws -> ClickHouseStore)?

    /// - Parameters:
    ///   - meanwhile: What happens to the database before each call.
    ///   - opening: Gives a new store for each call; nil: they are these.
    init(
        _ stores: [ClickHouseStore], meanwhile: @escaping @Sendable () async throws -> Void = {},
        opening: (@Sendable () async throws -> ClickHouseStore)? = nil
    ) {
        self.stores = Locked(stores)
        (self.meanwhile, self.opening) = (meanwhile, opening)
    }

    private func next() async throws -> ClickHouseStore {
        try await meanwhile()
        if let opening { return try await opening() }
        return stores.withLock { stores in
            stores.append(stores.removeFirst())
            return stores[stores.count - 1]
        }
    }

    func add(_ set: ReceivedSet) async throws -> Receipt { try await next().add(set) }

    func transactions(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<TransactionSummary> {
        try await next().transactions(request, within: budget)
    }

    func transaction(_ key: String) async throws -> TransactionRecord { try await next().transaction(key) }

    func exchanges(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<ExchangeRecord> {
        try await next().exchanges(request, within: budget)
    }

    func exchange(_ key: String) async throws -> ExchangeRecord { try await next().exchange(key) }

    func bodies(of exchanges: [Fact.ID], limit: Int) async throws -> (bodies: [Fact.ID: ExchangeBodies], isCut: Bool) {
        try await next().bodies(of: exchanges, limit: limit)
    }

    func sources(_ request: ListRequest) async throws -> RecordPage<SourceRecord> { try await next().sources(request) }

    func nameConflicts(_ request: ListRequest) async throws -> RecordPage<NameConflict> {
        try await next().nameConflicts(request)
    }

    func erase(_ scope: ErasureScope) async throws -> Erasure { try await next().erase(scope) }

    func retire(_ limits: RetirementLimits) async throws -> Int { try await next().retire(limits) }

    func verify() async throws -> StoreVerification { try await next().verify() }

    func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws -> AnyAnswer {
        try await next().answer(question, where: parameters)
    }

    func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
        try await next().export(facts, as: format)
    }

    func export(
        _ exchanges: ListRequest, as document: ExchangeExport, to put: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws -> (factCount: Int, note: String?) {
        try await next().export(exchanges, as: document, to: put)
    }

    func report(_ request: ListRequest) async throws -> TransactionReport { try await next().report(request) }
}
#endif
