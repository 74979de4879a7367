#if ClickHouse
import Foundation
import WaybillCore
import WaybillExport

@testable import WaybillClickHouse
@testable import WaybillQueries

/// Several stores on one database that take turns: each call uses the next store.
struct TakingTurns: ExportingStore {
    private let stores: Locked<[ClickHouseStore]>
    private let meanwhile: @Sendable () async throws -> Void
    private let opening: (@Sendable () async throws -> ClickHouseStore)?
    /// Derives a store that answers the same in another way.
    private let otherwise: (@Sendable (ClickHouseStore) -> ClickHouseStore)?
    private let answersByRows: Locked<AnswersByRows>?

    /// The numbers of questions answered from the rows of transactions, for each kind and for each filter term.
    struct AnswersByRows {
        var kinds: [String: Int] = [:]
        var terms: [String: Int] = [:]

        mutating func add(_ question: AnyQuestion) {
            kinds["\(question.word)", default: 0] += 1
            let selection = question.rowSelection
            let conditions = selection.filters.flatMap(\.conditions) + (selection.exchanges ?? [])
            for term in Set(conditions.map { $0.term.key.map { "\($0)" } ?? "text" }) { terms[term, default: 0] += 1 }
        }
    }

    /// The error that two ways give different answers.
    struct Difference: Error {
        var question: String
        var one, other: String
    }

    /// - Parameters:
    ///   - answersByRows: Counts the questions that were answered by rows; `nil` to count none.
    ///   - meanwhile: Runs before each call, for example to change the database.
    ///   - opening: Opens a new store for each call; `nil` to use `stores`.
    ///   - otherwise: Derives a store that has to give the same answers, transactions and error messages.
    init(
        _ stores: [ClickHouseStore], counting answersByRows: Locked<AnswersByRows>? = nil,
        meanwhile: @escaping @Sendable () async throws -> Void = {},
        opening: (@Sendable () async throws -> ClickHouseStore)? = nil,
        otherwise: (@Sendable (ClickHouseStore) -> ClickHouseStore)? = nil
    ) {
        self.stores = Locked(stores)
        self.answersByRows = answersByRows
        (self.meanwhile, self.opening, self.otherwise) = (meanwhile, opening, otherwise)
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
        let store = try await next()
        let page = try await store.transactions(request, within: budget)
        guard let otherwise else { return page }
        let other = try await otherwise(store).transactions(request, within: budget)
        // Each page continues with its own cursor.
        guard page.rows == other.rows, (page.next == nil) == (other.next == nil), page.whyEmpty == other.whyEmpty else {
            throw Difference(question: "\(request)", one: "\(page)", other: "\(other)")
        }
        return request[.limit] == nil ? page : other
    }

    func transaction(_ key: String) async throws -> TransactionRecord {
        try await inBothWays("transaction \(key)") { try await $0.transaction(key) }
    }

    /// Returns the result of `read`. With `otherwise`, throws if the derived store gives a different result.
    private func inBothWays<Value: Equatable>(_ question: String, _ read: (ClickHouseStore) async throws -> Value)
        async throws -> Value
    {
        let store = try await next()
        func tried(_ store: ClickHouseStore) async -> Result<Value, any Error> {
            do { return .success(try await read(store)) } catch { return .failure(error) }
        }
        let one = await tried(store)
        guard let otherwise else { return try one.get() }
        let other = await tried(otherwise(store))
        let isSame =
            switch (one, other) {
            case (.success(let one), .success(let other)): one == other
            case (.failure(let one), .failure(let other)): "\(one)" == "\(other)"
            case (.success, .failure), (.failure, .success): false
            }
        guard isSame else { throw Difference(question: question, one: "\(one)", other: "\(other)") }
        return try one.get()
    }

    func exchanges(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<ExchangeRecord> {
        try await next().exchanges(request, within: budget)
    }

    func exchange(_ key: String) async throws -> ExchangeRecord { try await next().exchange(key) }

    func bodies(of exchanges: [FactID], limit: Int) async throws -> (bodies: [FactID: ExchangeBodies], isCut: Bool) {
        try await next().bodies(of: exchanges, limit: limit)
    }

    func sources(_ request: ListRequest) async throws -> RecordPage<SourceRecord> {
        let store = try await next()
        return try await (otherwise?(store) ?? store).sources(request)
    }

    func nameConflicts(_ request: ListRequest) async throws -> RecordPage<NameConflict> {
        try await next().nameConflicts(request)
    }

    func erase(_ scope: ErasureScope) async throws -> Erasure { try await next().erase(scope) }

    func retire(_ limits: RetirementLimits) async throws -> Int { try await next().retire(limits) }

    func verify() async throws -> StoreVerification {
        let store = try await next()
        let copy = try await store.read { try $0.verify() }
        let verified = try await (otherwise?(store) ?? store).verify()
        guard verified.sources == copy.sources, verified.factCount == copy.factCount else {
            throw Difference(question: "verify", one: "\(verified)", other: "\(copy)")
        }
        return copy.problems.isEmpty ? verified : copy
    }

    func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws -> AnyAnswer {
        if let answersByRows {
            do {
                if let answer = try await next().answerByRows(question, where: parameters) {
                    answersByRows.withLock { $0.add(question) }
                    return answer
                }
            } catch is QueryFailure {}  // another store has to refuse it, too
        }
        return try await inBothWays("\(question) where \(parameters)") {
            try await $0.answer(question, where: parameters)
        }
    }

    func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
        let store = try await next()
        guard let other = otherwise?(store) else { return try await store.export(facts, as: format) }
        var one = try await lines(of: store.export(facts, as: format))
        var lines = try await lines(of: other.export(facts, as: format))
        // The order of ranges is different.
        if case .of = facts { (one, lines) = (one.sorted(), lines.sorted()) }
        guard one == lines else {
            throw Difference(question: "export \(facts) as \(format)", one: "\(one)", other: "\(lines)")
        }
        // The next export continues from this cursor. It may be later than the copy's cursor, but means the same.
        return try await other.export(facts, as: format)
    }

    private func lines(of export: ExportStream) async throws -> [String] {
        var bytes: [UInt8] = []
        while let piece = try await export.next() { bytes += piece.bytes }
        return bytes.split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
    }

    func export(
        _ exchanges: ListRequest, as document: ExchangeExport, to output: ExportOutput
    ) async throws -> String? {
        try await next().export(exchanges, as: document, to: output)
    }

    func report(_ request: ListRequest) async throws -> TransactionReport { try await next().report(request) }
}
#endif
