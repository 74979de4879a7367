import WaybillAnalysis
import WaybillCore
import WaybillReading

/// One history, played into a store and into the naive one.
struct StoreTrial {
    let seed: Int
    let store: any StoreUnderTest
    private let reference = NaiveStore()
    private let script: StoreScript
    private var random: RandomNumbers
    private var step = 0
    /// What the two stores call the moment of the comparison before.
    private var positions: (expected: String, found: String)?

    init(seed: Int, store: any StoreUnderTest) {
        (self.seed, self.store) = (seed, store)
        script = StoreScript(seed: seed)
        random = script.random
    }

    mutating func run() async throws(StoreConformance.Finding) {
        for (number, step) in script.steps.enumerated() {
            self.step = number
            let time = script.time(of: number)
            switch step {
            case .add(let set):
                try await compare("adding set \(set.id)") { store in
                    var receipt = try await store.add(set, at: time)
                    receipt.retryAfter = nil
                    receipt.rejections.sort { ($0.source, $0.index) < ($1.source, $1.index) }
                    for index in receipt.rejections.indices { receipt.rejections[index].reason = "" }
                    return receipt
                }
            case .erase(let scope): try await compare("erasing \(scope)") { try await $0.erase(scope, at: time) }
            case .retire(let step):
                let cutoff = script.time(of: step)
                try await compare("retiring what came before \(cutoff)") { try await $0.retire(receivedBefore: cutoff) }
            case .compare: try await compareAll()
            }
        }
    }

    private mutating func compareAll() async throws(StoreConformance.Finding) {
        let now = script.now
        let known = reference.everything(now: now)
        var filters = FilterMaker(random: random, naive: known)
        var lists = TransactionFilter.Order.allCases.map { order in
            var filter = TransactionFilter()
            filter.order = order
            return filter
        }
        for _ in 0..<6 { lists.append(filters.filter()) }
        for filter in lists {
            try await compareTransactions(filter, known, limit: Int.random(in: 1...3, using: &filters.random))
            try await compare("facts matching \(filter)") { try await $0.facts(matching: filter, now: now).bySource }
        }
        try await compareChanges(known)
        for id in known.runs.map(\.id).sorted() + [GUID(high: 1, low: 2)] {
            try await compare("transaction \(id)") { try await $0.transaction(id, now: now) }
        }
        for filter in [ExchangeFilter()] + (0..<5).map({ _ in filters.exchangeFilter() }) {
            let limit = Int.random(in: 1...5, using: &filters.random)
            try await compare("exchanges matching \(filter)") { store in
                let rows = try await rows {
                    try await store.exchanges(matching: filter, limit: limit, after: $0, now: now)
                }
                return Listed(rows, id: \.id.source, \.id.sequence, key: { -$0.exchange.openedMicroseconds })
            }
        }
        for exchange in known.exchanges.prefix(3) {
            try await compare("exchange \(exchange.id)") { try await $0.exchange(exchange.id) }
        }
        try await compareSources(known)
        try await compare("names") { try await $0.names() }
        try await compare("conflicts of names") { try await $0.nameConflicts() }
        try await compare("counts") { try await $0.counts(now: now) }
        try await compare("all facts") { try await $0.facts(matching: nil, now: now).bySource }
        try await compare("verification") { store in
            let found = try await store.verification()
            return [found.problems, ["\(found.transactionCount) transactions"], ["\(found.factCount) facts"]]
        }
        for query in queries(&filters, known) {
            try await compare("answer to \(query)") { try await $0.answer(query, now: now).withoutReason }
        }
        random = filters.random
    }

    // MARK: Lists

    private func compareTransactions(
        _ filter: TransactionFilter, _ known: NaiveAnswers, limit: Int
    ) async throws(StoreConformance.Finding) {
        let now = script.now
        let runs = Dictionary(uniqueKeysWithValues: known.runs.map { ($0.id, $0) })
        for limit in [100, limit] {
            try await compare("transactions matching \(filter), \(limit) at a time") { store in
                let rows = try await rows {
                    try await store.transactions(matching: filter, limit: limit, after: $0, now: now)
                }
                return Listed(
                    rows, id: \.id, \.eventCount, key: { row in runs[row.id].map { known.key(filter.order, $0) } ?? 0 })
            }
        }
    }

    /// What has come since the comparison before.
    private mutating func compareChanges(_ known: NaiveAnswers) async throws(StoreConformance.Finding) {
        let (now, before) = (script.now, positions)
        let position: @Sendable (any StoreUnderTest) async throws -> String? = { store in
            try await store.changes(after: nil, matching: TransactionFilter(), limit: 1, after: nil, now: now).position
        }
        if let before {
            try await compare("what has changed") { store in
                let position = store is NaiveStore && !(self.store is NaiveStore) ? before.expected : before.found
                let rows = try await rows {
                    try await store.changes(
                        after: position, matching: TransactionFilter(), limit: 2, after: $0, now: now)
                }
                return Listed(rows, id: \.id, \.eventCount, key: { -$0.begunMicroseconds })
            }
        }
        try await compare("that there is a position") { try await position($0) != nil }
        if let expected = try? await position(reference), let found = try? await position(store) {
            positions = (expected, found)
        }
    }

    private func compareSources(_ known: NaiveAnswers) async throws(StoreConformance.Finding) {
        let places = Dictionary(
            uniqueKeysWithValues: known.histories.enumerated().map { ($0.element.source.id, $0.offset) })
        var filters = Array(repeating: SourceFilter(), count: 4)
        filters[1].order = .newest
        filters[2].app = "app 1"
        filters[3].text = "linux 1.2"
        for filter in filters {
            try await compare("sources matching \(filter)") { store in
                let rows = try await rows { try await store.sources(matching: filter, limit: 2, after: $0) }
                return Listed(
                    rows, id: \.id, \.ledger.recorded,
                    key: { filter.order == .newest ? -($0.heardMicroseconds ?? 0) : places[$0.id] ?? 0 })
            }
        }
        for id in [known.histories.first?.source.id ?? GUID(high: 1, low: 3), GUID(high: 1, low: 4)] {
            try await compare("source \(id)") { try await $0.source(id) }
        }
    }

    /// The rows of all pages.
    private func rows<Row>(_ page: (String?) async throws -> RecordPage<Row>) async throws -> [Row] {
        var rows: [Row] = []
        var cursor: String?
        for _ in 0..<10_000 {
            let page = try await page(cursor)
            rows += page.rows
            cursor = page.next
            if cursor == nil { return rows }
        }
        throw WaybillError(.store, "The pages have no end.")
    }

    // MARK: Questions

    private func queries(_ filters: inout FilterMaker, _ known: NaiveAnswers) -> [AnyQuestion] {
        var login = TransactionFilter()
        login.useCase = 3
        let names = Set(known.names.filter { $0.name.event != nil }.map(\.name.name)).sorted()
        let points =
            [TransactionPoint.begun, .finished, .event("event 0"), .event("event 2"), .event("no such")]
            + names.map { .event($0) }
        func point() -> TransactionPoint { points.randomElement(using: &filters.random) ?? .begun }
        func segmentation() -> Segmentation? {
            [nil, .appVersion, .app, .attribute("yes"), .attribute("none"), .hour].randomElement(using: &filters.random)
                ?? nil
        }
        let middle = known.runs.map(\.begun).sorted().dropFirst(known.runs.count / 2).first ?? 0
        let filter = filters.filter()
        return [
            .summary(SummaryQuestion(stepMicroseconds: 60_000_000)),
            .summary(SummaryQuestion(filter: filter, stepMicroseconds: 60_000_000)),
            .duration(DurationQuestion(filter: filter)), .transitions(TransitionsQuestion(filter: login)),
            .dropOff(DropOffQuestion(filter: login)),
            .legs(LegsQuestion(filter: TransactionFilter(), segmentation: segmentation())),
            .network(NetworkQuestion(filter: filters.exchangeFilter(), grouping: .method)),
            .network(NetworkQuestion(transactions: filter)),
            .compare(
                CompareQuestion(
                    filter: login, groups: .values(of: .appVersion, "1.0", "1.1"), from: point(), to: point(),
                    occurrence: .last)),
            .compare(CompareQuestion(filter: login, groups: .windows(0..<middle, middle..<4_000_000_000_000_000))),
        ]
            + (0..<4).map { _ in
                .duration(DurationQuestion(filter: login, from: point(), to: point(), segmentation: segmentation()))
            }
            + (0..<4).map { number in
                .funnel(
                    FunnelQuestion(
                        filter: login, steps: [point(), point()], windowMicroseconds: number == 0 ? 9_000 : nil,
                        isStrict: number.isMultiple(of: 2), segmentation: segmentation()))
            }
    }

    // MARK: Comparing

    /// Asks both, and throws the first difference. That both fail is none.
    private func compare<Value: Equatable>(
        _ call: String, _ ask: (any StoreUnderTest) async throws -> Value
    ) async throws(StoreConformance.Finding) {
        let expected = await result(reference, ask)
        let found = await result(store, ask)
        switch (expected, found) {
        case (.success(let expected), .success(let found)):
            guard expected != found else { return }
            throw finding(call, difference(expected, found))
        case (.success, .failure(let error)): throw finding(call, "it failed: \(error)")
        case (.failure(let error), .success): throw finding(call, "it should have failed: \(error)")
        case (.failure, .failure): return
        }
    }

    private func result<Value>(
        _ store: any StoreUnderTest, _ ask: (any StoreUnderTest) async throws -> Value
    ) async -> Result<Value, any Error> {
        do { return .success(try await ask(store)) } catch { return .failure(error) }
    }

    private func finding(_ call: String, _ detail: String) -> StoreConformance.Finding {
        StoreConformance.Finding(seed: seed, call: "step \(step), \(call)", detail: detail)
    }

    /// The first lines of one that the other lacks: what is in no order has no first difference.
    private func difference<Value>(_ expected: Value, _ found: Value) -> String {
        func lines(_ value: Value) -> [String] {
            var text = ""
            dump(value, to: &text)
            return text.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }.map(String.init)
        }
        let (expected, found) = (lines(expected), lines(found))
        func only(_ lines: [String], _ others: [String]) -> String {
            let others = Set(others)
            return lines.filter { !others.contains($0) }.prefix(4).joined(separator: " ")
        }
        let (missing, surplus) = (only(expected, found), only(found, expected))
        if missing.isEmpty, surplus.isEmpty { return "it is in another order, or the number of equal things differs" }
        return "“\(missing)” was expected, and “\(surplus)” found"
    }
}

/// A list with what it is sorted by. Those of one key stand in any order.
private struct Listed<Row: Equatable>: Equatable {
    var keys: [Int]
    var rows: [Row]

    init<ID: Comparable, Other: Comparable>(_ rows: [Row], id: (Row) -> ID, _ other: (Row) -> Other, key: (Row) -> Int) {
        keys = rows.map(key)
        self.rows = rows.sorted { (id($0), other($0)) < (id($1), other($1)) }
    }
}

/// What sets tell of one source.
private struct Exported: Equatable {
    var source: RecordedSource
    var clocks: [ClockAnchor]
    var hasEnded: Bool
    var names: Set<RecordedName>
    var recorded, refused: Int
    /// Each sequence with its reason.
    var dropped: Set<[String]>
    /// By sequence; one that is told twice counts twice.
    var facts: [Fact] = []
}

extension [TransactionSet] {
    /// Sources of which no fact is there are left out.
    fileprivate var bySource: [Exported] {
        var found: [GUID: Exported] = [:]
        for share in flatMap(\.sources) where !share.facts.isEmpty {
            var exported =
                found[share.source.id]
                ?? Exported(
                    source: share.source, clocks: share.clocks, hasEnded: share.hasEnded, names: Set(share.names),
                    recorded: share.ledger.recorded, refused: share.ledger.refused,
                    dropped: Set(
                        share.dropped.flatMap { range in
                            (range.first...range.last).map { ["\($0)", range.reason.rawValue] }
                        }))
            exported.facts = (exported.facts + share.facts).sorted { $0.sequence < $1.sequence }
            found[share.source.id] = exported
        }
        return found.values.sorted { $0.source.id < $1.source.id }
    }
}

extension AnyAnswer {
    /// Without the sentence that says why it is empty, which is for people.
    fileprivate var withoutReason: AnyAnswer {
        switch self {
        case .summary(let question, var answer):
            answer.whyEmpty = nil
            return .summary(question, answer)
        case .duration(let question, var answer):
            answer.whyEmpty = nil
            return .duration(question, answer)
        case .transitions(let question, var answer):
            answer.whyEmpty = nil
            return .transitions(question, answer)
        case .funnel(let question, var answer):
            answer.whyEmpty = nil
            return .funnel(question, answer)
        case .dropOff(let question, var answer):
            answer.whyEmpty = nil
            return .dropOff(question, answer)
        case .legs(let question, var answer):
            answer.whyEmpty = nil
            return .legs(question, answer)
        case .network(let question, var answer):
            answer.whyEmpty = nil
            return .network(question, answer)
        case .compare(let question, var answer):
            answer.whyEmpty = nil
            return .compare(question, answer)
        }
    }
}
