import Foundation
package import WaybillCore
package import WaybillExport
package import WaybillQueries
import WaybillStore

/// A store in memory that examines every fact for every answer: slow and short, and the reference for other stores.
///
/// It exports only NDJSON, retires only by age, and does not say why a page or an answer is empty.
package final class NaiveStore: ExportingStore {
    private let clock: any TransactionClock
    private let books = Locked(NaiveBooks())

    /// Makes an empty store.
    ///
    /// - Parameter clock: Decides what has timed out, and how old something is.
    package init(clock: any TransactionClock) { self.clock = clock }

    /// Everything that readers can see now.
    var everything: NaiveAnswers { state.answers(now: clock.wallMicroseconds()) }

    private var state: NaiveBooks { books.withLock { $0 } }

    package func add(_ set: ReceivedSet) -> Receipt { books.withLock { $0.add(set.set, at: set.atMicroseconds) } }

    package func erase(_ scope: ErasureScope) -> Erasure { books.withLock { $0.erase(scope) } }

    package func retire(_ limits: RetirementLimits) throws(WaybillError) -> Int {
        guard limits.maximumByteCount == nil else { throw WaybillError(.setting, "A naive store has no size.") }
        guard limits.maximumTransactionCount == nil else {
            throw WaybillError(.setting, "A naive store retires by age alone.")
        }
        guard let age = limits.maximumAge else { return 0 }
        let cutoff = clock.wallMicroseconds() - age.microseconds
        return books.withLock { $0.retire(receivedBefore: cutoff) }
    }

    package func verify() -> StoreVerification {
        let entries = state.entries
        var verification = StoreVerification(ledgersOf: entries.map(\.record))
        verification.remarks = []
        verification.transactionCount = everything.runs.count
        verification.factCount = entries.reduce(0) { $0 + Int64($1.facts.count) }
        for (index, entry) in entries.enumerated() {
            verification.sources[index].rowCount = Int64(entry.facts.count)
            verification.sources[index].bookedCount = Int64(entry.received.count)
        }
        return verification
    }

    // MARK: Transactions

    package func transactions(_ request: ListRequest, within budget: Duration?) throws -> RecordPage<TransactionSummary>
    {
        let (books, answers) = (state, everything)
        let filter: TransactionFilter = try request.filter(names: names(), now: answers.now)
        func list(_ runs: [NaiveAnswers.Run]) throws -> RecordPage<TransactionSummary> {
            let found = runs.filter { answers.passes(filter, $0) }
                .sorted { (answers.key(filter.order, $0), $0.id) < (answers.key(filter.order, $1), $1.id) }
            return try page(found.map(answers.summary), request)
        }
        guard let position = request[.after] else { return try list(answers.runs) }
        let news = position == ListRequest.now ? [] : try books.facts(after: position)
        var changes = try list(answers.runs.filter { !news.isDisjoint(with: $0.facts) })
        changes.position = "\(books.lastArrival)"
        return changes
    }

    package func transaction(_ key: String) throws -> TransactionRecord {
        let answers = everything
        return try answers.record(found(answers.runs.first { $0.id.description == key }))
    }

    /// The transactions that the same source began just before and just after this one; `nil` for none.
    func neighbors(of transaction: GUID) -> [TransactionSummary?] {
        let answers = everything
        guard let run = answers.runs.first(where: { $0.id == transaction }) else { return [nil, nil] }
        let others = answers.runs
            .filter {
                $0.leader.source == run.leader.source && $0.leader.opened.isJoined == run.leader.opened.isJoined
            }
            .sorted { $0.leader.fact.sequence < $1.leader.fact.sequence }
        let before = others.last { $0.leader.fact.sequence < run.leader.fact.sequence }
        let after = others.first { $0.leader.fact.sequence > run.leader.fact.sequence }
        return [before, after].map { $0.map(answers.summary) }
    }

    // MARK: Exchanges and sources

    package func exchanges(_ request: ListRequest, within budget: Duration?) throws -> RecordPage<ExchangeRecord> {
        let answers = everything
        let filter: ExchangeFilter = try request.filter(names: names(), now: answers.now)
        let found = answers.exchanges.filter { answers.passes(filter, $0) }
            .sorted { (-$0.wall, $0.id.source, $0.id.sequence) < (-$1.wall, $1.id.source, $1.id.sequence) }
        return try page(found.map(answers.record), request)
    }

    package func exchange(_ key: String) throws -> ExchangeRecord {
        let answers = everything
        return try answers.record(found(answers.exchanges.first { $0.id.description == key }))
    }

    package func bodies(of exchanges: [FactID], limit: Int) -> (bodies: [FactID: ExchangeBodies], isCut: Bool) {
        ([:], false)
    }

    package func sources(_ request: ListRequest) throws -> RecordPage<SourceRecord> {
        let filter = try request.sourceFilter()
        let found = state.entries.map(\.record).filter { source in
            let words =
                "\(source.app) \(source.appVersion) \(source.device) \(source.os) \(source.osVersion) \(source.id)"
                .lowercased()
            return (filter.app.map { $0 == source.app } ?? true)
                && (filter.text ?? "").split(separator: " ").allSatisfy { words.contains($0.lowercased()) }
        }
        let heard = found.sorted { ($0.heardMicroseconds ?? 0, $0.id) > ($1.heardMicroseconds ?? 0, $1.id) }
        return try page(filter.order == .oldest ? found : heard, request)
    }

    func source(_ id: GUID) throws -> SourceRecord { try found(state.entries.first { $0.id == id }?.record) }

    /// When each version of an app was first started.
    var firstStarts: [AppVersion: Int64] {
        Dictionary(grouping: state.entries.map(\.record)) { AppVersion(app: $0.app, version: $0.appVersion) }
            .compactMapValues { $0.compactMap(\.startedMicroseconds).min() }
    }

    private func found<Record>(_ record: Record?) throws(QueryFailure) -> Record {
        guard let record else { throw .notFound("There is no such thing here.") }
        return record
    }

    /// Returns a page of rows. A cursor is the number of rows before it.
    private func page<Row>(_ rows: [Row], _ request: ListRequest) throws -> RecordPage<Row> {
        guard let start = request[.cursor].map({ Int($0) }) ?? 0 else {
            throw QueryFailure.parameter("cursor", "That is no cursor.")
        }
        let end = start + (try request.pageSize())
        return RecordPage(
            rows: Array(rows.dropFirst(start).prefix(end - start)), next: end < rows.count ? "\(end)" : nil)
    }

    // MARK: Names

    func names() -> [RecordedName] {
        Set(state.names.map(\.name)).sorted {
            ($0.useCase, $0.event ?? -1, $0.name) < ($1.useCase, $1.event ?? -1, $1.name)
        }
    }

    package func nameConflicts(_ request: ListRequest) throws -> RecordPage<NameConflict> {
        try page(nameConflicts(), request)
    }

    private func nameConflicts() -> [NameConflict] {
        let codes = Dictionary(grouping: state.names) {
            RecordedName(useCase: $0.name.useCase, event: $0.name.event, name: "")
        }
        return codes.filter { Set($0.value.map(\.name.name)).count > 1 }
            .sorted { ($0.key.useCase, $0.key.event ?? -1) < ($1.key.useCase, $1.key.event ?? -1) }
            .map { code, all in
                let uses = Dictionary(grouping: all) { [$0.app, $0.name.name] }.map { key, names in
                    NameConflict.Use(
                        name: key[1], app: key[0], versions: Set(names.map(\.version)).sorted(by: precedes))
                }
                return NameConflict(
                    useCase: code.useCase, event: code.event,
                    names: uses.sorted { left, right in
                        left.app == right.app ? precedes(left.versions[0], right.versions[0]) : left.app < right.app
                    })
            }
    }

    /// Whether a version is lower: `1.9` precedes `1.10`.
    private func precedes(_ left: String, _ right: String) -> Bool {
        left.compare(right, options: .numeric) == .orderedAscending
    }

    // MARK: Questions and exports

    package func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) throws -> AnyAnswer
    {
        let answers = everything
        var question = question
        if case .network(var network) = question, !parameters.isEmpty {
            network.transactions = nil
            network.filter = try ListRequest(conditions: parameters, about: .exchanges).filter(
                names: names(), now: answers.now)
            question = .network(network)
        } else if !parameters.isEmpty {
            let request = try ListRequest(conditions: parameters, about: .transactions)
            question = question.about(try request.filter(names: names(), now: answers.now))
        }
        do throws(WaybillError) { return try answers.answer(question) } catch {
            throw QueryFailure.question(error.message)
        }
    }

    package func export(_ facts: ExportedFacts, as format: TextFormat) throws -> ExportStream {
        guard format == .ndjson else { throw WaybillError(.setting, "A naive store exports NDJSON alone.") }
        let (books, answers) = (state, everything)
        let chosen: Set<FactID>
        switch facts {
        case .of(let request):
            var filter: TransactionFilter = try request.filter(names: names(), now: answers.now)
            filter.order = .newest
            let passing = answers.runs.filter { answers.passes(filter, $0) }
            chosen = filter == TransactionFilter() ? books.facts : Set(passing.flatMap(\.facts))
        case .some(let ids): chosen = Set(answers.runs.filter { ids.contains($0.id) }.flatMap(\.facts))
        case .after(let cursor): chosen = try books.facts(after: cursor)
        case .since(let time): chosen = books.facts(since: time.microseconds)
        }
        let piece = Locked<[UInt8]?>(try answers.lines(of: chosen))
        return ExportStream(cursor: "\(books.lastArrival)") {
            piece.withLock { $0.take() }.map { ExportStream.Piece(bytes: $0, factCount: chosen.count) }
        }
    }
}
