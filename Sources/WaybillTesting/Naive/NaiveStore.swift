import Foundation
package import WaybillAnalysis
package import WaybillCore
package import WaybillReading
import WaybillStore

/// A store in memory that answers everything by looking at every fact: slow, short, and what others are compared with.
package final class NaiveStore: StoreUnderTest {
    private let books = Locked(NaiveBooks())

    /// Makes an empty one.
    package init() {}

    /// All that can be seen of it.
    func everything(now: Int) -> NaiveAnswers { state.answers(now: now) }

    private var state: NaiveBooks { books.withLock { $0 } }

    package func add(_ set: TransactionSet, at time: Int) -> Receipt {
        books.withLock { $0.add(DecodedSet(set: set), at: time) }
    }

    package func erase(_ scope: ErasureScope, at time: Int) -> Erasure { books.withLock { $0.erase(scope) } }

    package func retire(receivedBefore time: Int) -> Int { books.withLock { $0.retire(receivedBefore: time) } }

    // MARK: Transactions

    package func transactions(
        matching filter: TransactionFilter, limit: Int, after cursor: String?, now: Int
    ) throws(WaybillError) -> RecordPage<TransactionSummary> {
        let answers = state.answers(now: now)
        return try page(list(answers.runs, filter, answers), limit: limit, after: cursor)
    }

    private func list(_ runs: [NaiveAnswers.Run], _ filter: TransactionFilter, _ answers: NaiveAnswers)
        -> [TransactionSummary]
    {
        runs.filter { answers.passes(filter, $0) }
            .sorted { (answers.key(filter.order, $0), $0.id) < (answers.key(filter.order, $1), $1.id) }.map(
                answers.summary)
    }

    package func changes(
        after position: String?, matching filter: TransactionFilter, limit: Int, after cursor: String?, now: Int
    ) throws(WaybillError) -> RecordPage<TransactionSummary> {
        let (books, answers) = (state, state.answers(now: now))
        var page = RecordPage<TransactionSummary>(rows: [], next: nil)
        if let position {
            guard let number = Int(position), number <= books.lastArrival else {
                throw WaybillError(.format, "That is no position.")
            }
            let news = books.arrivals.filter { $0.number > number }
            let changed = answers.runs.filter { run in
                run.parts.contains { part in
                    part.facts.contains { fact in
                        news.contains { $0.source == part.id.source && $0.sequences.contains(fact.sequence) }
                    }
                }
            }
            page = try self.page(list(changed, filter, answers), limit: limit, after: cursor)
        }
        page.position = "\(books.lastArrival)"
        return page
    }

    package func transaction(_ id: GUID, now: Int) -> TransactionRecord? {
        let answers = state.answers(now: now)
        return answers.runs.first { $0.id == id }.map(answers.record)
    }

    package func counts(now: Int) -> TransactionCounts {
        let runs = state.answers(now: now).runs
        return TransactionCounts(open: runs.count { $0.outcome == .open }, failed: runs.count { $0.outcome == .failed })
    }

    // MARK: Exchanges and sources

    package func exchanges(
        matching filter: ExchangeFilter, limit: Int, after cursor: String?, now: Int
    ) throws(WaybillError) -> RecordPage<ExchangeRecord> {
        let answers = state.answers(now: now)
        let found = answers.exchanges.filter { answers.passes(filter, $0) }
            .sorted { (-$0.wall, $0.id.source, $0.id.sequence) < (-$1.wall, $1.id.source, $1.id.sequence) }
        return try page(found.map(answers.record), limit: limit, after: cursor)
    }

    package func exchange(_ id: Fact.ID) -> ExchangeRecord? {
        let answers = state.answers(now: 0)
        return answers.exchanges.first { $0.id == id }.map(answers.record)
    }

    package func sources(matching filter: SourceFilter, limit: Int, after cursor: String?) throws(WaybillError)
        -> RecordPage<SourceRecord>
    {
        let found = state.entries.map(\.record).filter { source in
            let words =
                "\(source.app) \(source.appVersion) \(source.device) \(source.os) \(source.osVersion) \(source.id)"
                .lowercased()
            return (filter.app.map { $0 == source.app } ?? true)
                && (filter.text ?? "").split(separator: " ").allSatisfy { words.contains($0.lowercased()) }
        }
        let heard = found.sorted { ($0.heardMicroseconds ?? 0, $0.id) > ($1.heardMicroseconds ?? 0, $1.id) }
        return try page(filter.order == .oldest ? found : heard, limit: limit, after: cursor)
    }

    package func source(_ id: GUID) -> SourceRecord? { state.entries.first { $0.id == id }?.record }

    /// A cursor is the number of rows before.
    private func page<Row>(_ rows: [Row], limit: Int, after cursor: String?) throws(WaybillError) -> RecordPage<Row> {
        guard let start = cursor.map({ Int($0) }) ?? 0 else { throw WaybillError(.format, "That is no cursor.") }
        let end = start + max(1, limit)
        return RecordPage(
            rows: Array(rows.dropFirst(start).prefix(max(1, limit))), next: end < rows.count ? "\(end)" : nil)
    }

    // MARK: Names

    package func names() -> [RecordedName] {
        Set(state.names.map(\.name)).sorted {
            ($0.useCase, $0.event ?? -1, $0.name) < ($1.useCase, $1.event ?? -1, $1.name)
        }
    }

    package func nameConflicts() -> [NameConflict] {
        let codes = Dictionary(grouping: state.names) {
            RecordedName(useCase: $0.name.useCase, event: $0.name.event, name: "")
        }
        return codes.filter { Set($0.value.map(\.name.name)).count > 1 }
            .sorted { ($0.key.useCase, $0.key.event ?? -1) < ($1.key.useCase, $1.key.event ?? -1) }
            .map { code, all in
                let uses = Dictionary(grouping: all) { [$0.app, $0.name.name] }.map { key, names in
                    NameConflict.Use(name: key[1], app: key[0], versions: names.map(\.version).sorted(by: precedes))
                }
                return NameConflict(
                    useCase: code.useCase, event: code.event,
                    names: uses.sorted { left, right in
                        left.app == right.app ? precedes(left.versions[0], right.versions[0]) : left.app < right.app
                    })
            }
    }

    /// `1.9` before `1.10`.
    private func precedes(_ left: String, _ right: String) -> Bool {
        left.compare(right, options: .numeric) == .orderedAscending
    }

    // MARK: Facts

    package func facts(matching filter: TransactionFilter?, now: Int) -> [TransactionSet] {
        let (books, answers, redactor) = (state, state.answers(now: now), Redactor())
        let chosen = filter.map { filter in
            answers.runs.filter { answers.passes(filter, $0) }.flatMap(\.parts).map(\.id)
        }
        return books.entries.map { entry in
            let facts = entry.facts.filter { fact in
                chosen?.contains(Fact.ID(source: entry.id, sequence: fact.part)) ?? true
            }
            let source = entry.history.source
            let share = TransactionSet.Share(
                source: redactor.source(source), clocks: entry.history.clocks, hasEnded: entry.history.hasEnded,
                names: books.names.filter { $0.app == source.app && $0.version == source.appVersion }.map(\.name),
                ledger: Ledger(recorded: entry.recorded, refused: entry.history.refused),
                dropped: entry.dropped.map { DroppedRange(first: $0.key, last: $0.key, reason: $0.value) },
                facts: facts.map(redactor.fact))
            return TransactionSet(id: GUID(), sources: [share])
        }
    }

    package func verification() -> (problems: [String], transactionCount: Int, factCount: Int) {
        let books = state
        return ([], books.answers(now: 0).runs.count, books.entries.reduce(0) { $0 + $1.facts.count })
    }

    package func answer(_ query: AnyQuestion, now: Int) throws(WaybillError) -> AnyAnswer {
        try state.answers(now: now).answer(query)
    }
}
