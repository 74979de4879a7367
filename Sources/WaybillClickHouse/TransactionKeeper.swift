#if ClickHouse
import Foundation
import WaybillCore
import WaybillQueries
import WaybillStore

/// Keeps the table `transactions` up to date.
///
/// Writers note transactions in `changed` before the change counts. Until rows are made, questions read facts.
///
/// If two processes make the same row, the larger version may lack facts. So each process first notes its claim. After its
/// insert, it reads the transactions of other new claims again. A later claim takes a larger version.
final class TransactionKeeper: Sendable {
    private let tables: ClickHouseTables
    private let numbers: ArrivalNumbers
    private let turns = FairLock()
    /// Whether the background task starts soon.
    let isAwake = Locked(false)

    private static let (changeLimit, groupSize) = (200_000, 2_000)
    private static let attempts = 10
    private let lastTidy = Locked(Int64.min)
    private let factLimit: Int

    init(_ tables: ClickHouseTables, _ numbers: ArrivalNumbers, factLimit: Int = WorkingSet.factLimit) {
        (self.tables, self.numbers, self.factLimit) = (tables, numbers, factLimit)
    }

    /// Makes rows in the background.
    func wake() {
        guard tables.keepsRows, !isAwake.withLock({ exchange(&$0, with: true) }) else { return }
        Task.detached {
            // Rows for more changes at once take less.
            try? await Task.sleep(for: .milliseconds(200))
            self.isAwake.withLock { $0 = false }
            // After an error, the next change does it.
            try? await self.run()
        }
    }

    /// - Parameter isAlone: Whether to include the latest changes of other processes.
    func run(isAlone: Bool = false) async throws {
        guard tables.keepsRows else { return }
        try await turns.run {
            numbers.follow(try await tables.lastPlaces(behind: numbers.recently))
            var memory: StoreThread<MemoryStore>?
            while true {
                let others = isAlone ? Int64.max : numbers.next(1) - ArrivalPlace.perHour / 120
                let (places, transactions) = try await tables.pendingChanges(
                    of: numbers.writer, orBefore: others, now: numbers.next(1), limit: Self.changeLimit)
                guard !places.isEmpty else { return try await tidy() }
                for group in transactions.inChunks(of: Self.groupSize) { try await make(Array(group), in: &memory) }
                try await tables.insert(places.map { (place: $0, state: .made, transactions: []) })
            }
        }
    }

    private func tidy() async throws {
        let now = numbers.next(1)
        guard
            lastTidy.withLock({ last in
                defer { last = max(last, now - ArrivalPlace.perHour + 1) }
                return last <= now - ArrivalPlace.perHour
            })
        else { return }
        try await tables.removeChanges(before: now - 2 * ClickHouseSchema.placesPerPartition)
    }

    private func make(_ transactions: [GUID], in memory: inout StoreThread<MemoryStore>?) async throws {
        let claim = numbers.next(1)
        try await tables.insert([(place: claim, state: .begun, transactions: transactions)])
        var (left, unsettled) = (transactions, [GUID]())
        for _ in 0..<Self.attempts where !left.isEmpty {
            let before = try await tables.places(behind: claim - ArrivalPlace.perHour)
            let newest = try await tables.lastVersion(of: left)
            let (rows, tooLarge) = try await rows(of: left, in: &memory)
            // After an hour, another process takes the claim over.
            guard numbers.next(1) - claim < ArrivalPlace.perHour / 2 else { throw CancellationError() }
            try await tables.insert(
                left.filter { !tooLarge.contains($0) }.map { ($0, rows[$0]) }, version: max(claim, newest + 1))
            unsettled += rows.values.filter(\.isUnsettled).map(\.id) + tooLarge
            let since = try await tables.places(behind: claim - ArrivalPlace.perHour).subtracting(before)
            let others = try await tables.transactions(changedAt: since.subtracting([claim]))
            left = left.filter(others.contains)
        }
        // The rest keeps changing, and stays outdated.
        guard left.isEmpty else { return }
        if !unsettled.isEmpty {
            try await tables.insert([(place: numbers.next(1), state: .unsettled, transactions: unsettled)])
        }
        try await tables.insert([(place: claim, state: .made, transactions: [])])
    }

    private func rows(
        of transactions: [GUID], in memory: inout StoreThread<MemoryStore>?
    ) async throws -> (rows: [GUID: TransactionRow], tooLarge: Set<GUID>) {
        var (rows, tooLarge, groups) = ([GUID: TransactionRow](), Set<GUID>(), [transactions])
        while let group = groups.popLast() {
            do {
                try await memory?.run { memory throws(WaybillError) in try memory.empty() }
                let set = try await WorkingSet(tables, factLimit: factLimit, withNames: false) {
                    try await $0.load(Set(group))
                }
                let thread = try await set.memory(in: memory)
                memory = thread
                for row in try await thread.run({ memory throws(WaybillError) in try memory.transactionRows() }) {
                    rows[row.id] = row
                }
            } catch is WorkingSet.TooMuch {
                if group.count == 1 { tooLarge.formUnion(group) }
                groups += group.count == 1 ? [] : group.inChunks(of: (group.count + 1) / 2).map(Array.init)
            }
        }
        return (rows, tooLarge)
    }
}

extension ClickHouseTables {
    /// - Parameter known: The sources before; `nil` if their clocks and ends are the same.
    func transactions(changedBy changes: StoreChanges, known: [GUID: TransactionSet.Share]?)
        async throws(WaybillError) -> Set<GUID>
    {
        guard keepsRows else { return [] }
        var changed = Set(changes.tombstones.filter { !$0.isWithInstallation }.map(\.id))
        for books in changes.books {
            for fact in books.share.facts {
                if let part = books.transactions[fact.part] { changed.insert(part.transaction) }
            }
        }
        return changed.union(try await transactions(elsewhereChangedBy: changes, known: known))
    }

    /// Returns those that are changed by a clock, by the end of a source, or by facts that are gone.
    func transactions(elsewhereChangedBy changes: StoreChanges, known: [GUID: TransactionSet.Share]?)
        async throws(WaybillError) -> Set<GUID>
    {
        guard keepsRows else { return [] }
        var (conditions, ended) = (changes.removedSources.map { "source = \(Self.literal($0))" }, [String]())
        for books in changes.books {
            let share = books.share
            if !books.gone.isEmpty { conditions.append(Self.condition(share.source.id, books.gone)) }
            guard let known else { continue }
            let (source, before) = ("source = \(Self.literal(share.source.id))", known[share.source.id])
            if let start = share.firstRedated(since: before?.clocks ?? []) {
                conditions.append("\(source) AND at_us >= \(start)")
            }
            if share.hasEnded, before?.hasEnded != true || before?.endedBy != share.endedBy { ended.append(source) }
        }
        var changed: Set<GUID> = []
        for some in conditions.inChunks(of: Self.idsPerStatement) {
            let condition = some.map { "(\($0))" }.joined(separator: " OR ")
            changed.formUnion(try await transactions(of: condition))
        }
        for some in ended.inChunks(of: Self.idsPerStatement) {
            try await client.forEachRow(
                """
                SELECT tx FROM by_source WHERE \(some.joined(separator: " OR ")) GROUP BY source, tx \
                HAVING uniqExactIf(sequence, kind = 1) > uniqExactIf(sequence, kind = 4) \
                OR uniqExactIf(sequence, kind = 5) > uniqExactIf(sequence, kind = 6)
                """, reading
            ) { row in changed.insert(try row.guid()) }
        }
        // Facts from before their opening are stored without a transaction.
        if changed.remove(Self.none) != nil || !ended.isEmpty {
            let sources = Set(changes.books.map(\.share.source.id))
            changed.formUnion(try await strandedParts(of: sources).map(\.transaction))
        }
        return changed
    }

    /// Without a quorum, a server may lack facts unnoticed.
    var keepsRows: Bool { cluster == nil || client.address.quorum > 1 }

    enum ChangeState: UInt8 {
        case begun, written, made, unsettled
    }

    func insert(_ changes: [(place: Int64, state: ChangeState, transactions: [GUID])]) async throws(WaybillError) {
        try await insert("changed(place, state, transactions)", of: changes) { rows, change in
            rows.integer(change.place)
            rows.integer(change.state.rawValue)
            rows.array(change.transactions) { $0.guid($1) }
        }
    }

    /// SQL for changes by all rows of their place. Servers find the few by their key.
    private static func places(having condition: String) -> String {
        "place IN (SELECT place FROM changed GROUP BY place HAVING \(condition))"
    }

    private static let isUnmade = "countIf(state = \(ChangeState.made.rawValue)) = 0"

    static let outdated = "SELECT DISTINCT arrayJoin(transactions) FROM changed WHERE \(places(having: isUnmade))"

    /// Returns the transactions with outdated rows.
    ///
    /// - Throws: ``WorkingSet/TooMuch`` above the limit.
    func changedTransactions(limit: Int) async throws -> Set<GUID> {
        let changed = try await ids("\(Self.outdated) LIMIT \(limit + 1)")
        guard changed.count <= limit else { throw WorkingSet.TooMuch() }
        return Set(changed)
    }

    /// Returns changes whose rows are to be made: those of a writer, older ones of all, after an hour also unfinished ones,
    /// and after a day those with a clock far ahead. Their transactions are sorted, as servers store facts.
    fileprivate func pendingChanges(of writer: Int64, orBefore others: Int64, now: Int64, limit: Int)
        async throws(WaybillError) -> (places: Set<Int64>, transactions: [GUID])
    {
        // A set for each change would take several times the memory.
        var (places, transactions) = (Set<Int64>(), [GUID]())
        let isReady = """
            (place < \(now - ArrivalPlace.perHour) OR countIf(state = \(ChangeState.written.rawValue)) > 0 \
            AND (place % \(ArrivalPlace.writerCount) = \(writer) OR place < \(others)))
            """
        let isSettled = """
            (place <= \(now - 24 * ArrivalPlace.perHour) OR countIf(state = \(ChangeState.unsettled.rawValue)) = 0)
            """
        let pending = Self.places(having: "\(Self.isUnmade) AND \(isReady) AND \(isSettled)")
        try await client.forEachRow(
            "SELECT place, transactions FROM changed WHERE \(pending) ORDER BY place", reading
        ) { row in
            let (place, some) = (try row.integer(Int64.self), try row.array { try $0.guid() })
            guard transactions.count < limit || places.contains(place) else { return }
            places.insert(place)
            transactions += some
        }
        return (places, Set(transactions).sorted())
    }

    /// Drops days without an outdated row.
    func removeChanges(before place: Int64) async throws(WaybillError) {
        let days = try await client.rows(
            """
            SELECT intDiv(place, \(ClickHouseSchema.placesPerPartition)) AS day FROM changed \
            WHERE place < \(place) GROUP BY day HAVING countIf(place NOT IN \
            (SELECT place FROM changed WHERE state = \(ChangeState.made.rawValue))) = 0
            """, reading
        ) { row in try row.integer(Int64.self) }
        guard isCurrent else {
            guard !days.isEmpty else { return }
            let list = days.map { "\($0)" }.joined(separator: ", ")
            return try await client.run(
                "ALTER TABLE changed DELETE WHERE intDiv(place, \(ClickHouseSchema.placesPerPartition)) IN (\(list))")
        }
        for day in days { try await client.run("ALTER TABLE changed DROP PARTITION \(day)") }
    }

    fileprivate func places(behind place: Int64) async throws(WaybillError) -> Set<Int64> {
        Set(
            try await client.rows("SELECT place FROM changed WHERE place > \(place) AND state < 2", reading) { row in
                try row.integer(Int64.self)
            })
    }

    fileprivate func transactions(changedAt places: Set<Int64>) async throws(WaybillError) -> Set<GUID> {
        var transactions: Set<GUID> = []
        for some in Array(places).inChunks(of: Self.idsPerStatement) {
            let list = some.map { "\($0)" }.joined(separator: ", ")
            try await client.forEachRow(
                "SELECT DISTINCT arrayJoin(transactions) FROM changed WHERE place IN (\(list))", reading
            ) { row in transactions.insert(try row.guid()) }
        }
        return transactions
    }
}
#endif
