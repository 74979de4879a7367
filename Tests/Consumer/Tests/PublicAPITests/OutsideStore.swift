import Foundation
import Waybill
import WaybillAnalysis
import WaybillCore
import WaybillExport
import WaybillReading

/// A store that somebody else keeps, by the public API alone: it compiles as long as every value that a store gives can
/// be made outside.
struct OutsideStore: ExplorableStore, ExportingStore {
    var rows: [TransactionSummary] = []
    func add(_ set: ReceivedSet) async throws -> Receipt {
        _ = (set.received, set.content.sources)
        return Receipt(set: set.content.id, acceptedCount: set.content.factCount, rejections: set.rejections)
    }
    func transactions(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<TransactionSummary> {
        let filter = try request.transactionFilter(names: try await names(), now: Date())
        _ = (filter.since, filter.until, filter.conditions)
        return RecordPage(rows: Array(rows.prefix(try request.pageSize())), next: request[.cursor])
    }
    func transaction(_ key: String) async throws -> TransactionRecord {
        let id = GUID()
        let summary = TransactionSummary(
            id: id, useCase: 0, useCaseName: "x", outcome: .succeeded, begun: Date(), duration: .seconds(1),
            sourceCount: 1, eventCount: 1,
            exchangeCount: 1)
        let fact = Fact.ID(source: id, sequence: 1)
        let part = TransactionRecord.Part(id: fact, isJoined: false, opened: Date(), closed: nil, outcome: .open)
        let entry = TransactionRecord.Entry(id: fact, kind: .opened, part: 1, time: Date(), label: "begun")
        let clocks = ClockAlignment(
            reference: id,
            offsets: [ClockAlignment.Offset(source: id, duration: .zero, uncertainty: .zero, sampleCount: 0)])
        return TransactionRecord(
            summary: summary,
            sources: [TransactionRecord.Source(id: id, app: "", appVersion: "", device: "", os: "", osVersion: "")],
            parts: [part], timeline: [entry], exchanges: [try await exchange("").exchange], clocks: clocks)
    }
    func exchanges(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<ExchangeRecord> {
        _ = try request.exchangeFilter(names: [], now: Date())
        return RecordPage(rows: [], next: nil, whyEmpty: "None.")
    }
    func exchange(_ key: String) async throws -> ExchangeRecord {
        let id = Fact.ID(source: GUID(), sequence: 1)
        let exchange = TransactionRecord.Exchange(
            id: id, part: 0, role: .client, method: "GET", url: "", state: .completed, status: 200, opened: Date(),
            closed: Date())
        return ExchangeRecord(
            exchange: exchange, state: .completed,
            source: TransactionRecord.Source(id: GUID(), app: "", appVersion: "", device: "", os: "", osVersion: ""),
            transaction: nil,
            useCase: nil, useCaseName: nil)
    }
    func bodies(of exchanges: [Fact.ID], limit: Int) async throws -> (bodies: [Fact.ID: ExchangeBodies], isCut: Bool) {
        (Dictionary(uniqueKeysWithValues: exchanges.map { ($0, ExchangeBodies()) }), false)
    }
    func sources(_ request: ListRequest) async throws -> RecordPage<SourceRecord> {
        _ = try request.sourceFilter().order
        return RecordPage(rows: [try await source("")], next: nil)
    }
    func nameConflicts(_ request: ListRequest) async throws -> RecordPage<NameConflict> {
        RecordPage(rows: [], next: nil)
    }
    func nameConflictCount() async throws -> Int { 0 }
    func erase(_ scope: ErasureScope) async throws -> Erasure {
        switch scope {
        case .all, .transactions, .installation, .networkLogs, .pending: Erasure()
        case .begunBefore(let date): Erasure(transactionCount: rows.count { $0.begun < date })
        }
    }
    func retire(_ limits: RetirementLimits) async throws -> Int { limits.maximumAge == nil ? 0 : 1 }
    func verify() async throws -> StoreVerification {
        StoreVerification(
            problems: [], transactionCount: 0, factCount: 0,
            sources: [.init(id: GUID(), rowCount: 0, bookedCount: 0, ledger: Ledger(), gaps: [])],
            totals: [AppTotal(app: "", sourceCount: 1, ledger: Ledger())], tables: [.init(name: "", byteCount: 1)])
    }
    func details(of sources: [GUID], upTo limits: SourceDetails.Limits) async throws -> [GUID: SourceDetails] {
        let gap = SourceDetails.GapTime(gap: SourceRecord.Gap(first: 1, last: 2), after: Date(), before: nil)
        return [
            GUID(): SourceDetails(
                clocks: SourceClocks(anchors: [], others: []), gaps: [gap], transactions: rows, latestFact: Date(),
                firstArrival: nil)
        ]
    }
    func source(_ key: String) async throws -> SourceRecord {
        SourceRecord(
            id: GUID(), app: "", appVersion: "", device: "", os: "", osVersion: "", started: nil, heard: Date(),
            hasEnded: false,
            ledger: Ledger())
    }
    func apps(limit: Int) async throws -> [String] { [] }
    func names() async throws -> [RecordedName] { [] }
    func firstStarts() async throws -> [AppVersion: Date] { [AppVersion(app: "", version: ""): Date()] }
    func version() async throws -> Int64 { 0 }
    func errorCounts(of transactions: [GUID]) async throws -> [GUID: Int] { [:] }
    func neighbors(of transaction: GUID) async throws -> (before: TransactionSummary?, after: TransactionSummary?) {
        (nil, nil)
    }
    func delivery(hours: Int) async throws -> DeliveryState {
        let pause = DeliveryPause(failureCount: 1, remaining: .seconds(1), wasAskedFor: false)
        let own = DeliveryState.Own(
            pendingCount: 0, deliveredCount: 0, sending: nil, settled: nil, pause: pause, totals: [])
        let group = DeliveryState.QuarantineGroup(
            source: GUID(), app: "", reason: "", count: 1, sequences: 1...1, rejected: Date()...Date(), sample: nil)
        var state = DeliveryState(
            own: own, quarantine: [group], quarantinedCount: 1, hours: [.init(begin: Date(), setCount: 1, factCount: 1)]
        )
        state.legacyQuarantine = [LegacyQuarantined(transaction: nil, reason: "", json: "", received: Date())]
        return state
    }
    func quarantined(limit: Int) async throws -> [QuarantinedFact] {
        [QuarantinedFact(id: try await exchange("").id, reason: "", rejected: Date())]
    }
    func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws -> AnyAnswer {
        switch question.about(
            try ListRequest(conditions: parameters, about: .transactions).transactionFilter(names: [], now: Date()))
        {
        case .summary(let question): .summary(question, SummaryAnswer(useCases: []))
        case .duration, .measure, .transitions, .funnel, .dropOff, .legs, .network, .compare:
            throw QueryFailure.question("Not here.")
        }
    }
    func seenValues(useCase: Int?, limit: Int) async throws -> SeenValues {
        var seen = SeenValues()
        seen.add("1.0", of: .appVersion)
        return seen
    }
    func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
        if case .since(let date) = facts { _ = date.timeIntervalSince1970 }
        return ExportStream(cursor: "0") { ExportStream.Piece(bytes: format.header, factCount: 0) }
    }
}

/// SQLite's store where any is taken.
func opened(_ folder: URL) async throws -> (any ExplorableStore, any ExportingStore) {
    let store = try SQLiteStore(making: "x", in: folder)
    _ = try await store.add(ReceivedSet(TransactionSet(id: GUID(), sources: []), received: Date()))
    return (store, try SQLiteStore(folder))
}
