#if ClickHouse
import WaybillCore
import WaybillExport
package import WaybillQueries
import WaybillStore

extension ClickHouseStore {
    /// A process without a copy reads the newest transactions of a large database, until a page is full.
    package func transactions(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<
        TransactionSummary
    > {
        if try await isReadInPieces(), let page = try await newest(request) { return page }
        return try await reading { try await $0.transactions(request, within: budget) }
    }

    /// - Returns: `nil` if only a copy can tell: for other orders, an empty page, and too many transactions.
    private func newest(_ request: ListRequest) async throws -> RecordPage<TransactionSummary>? {
        let now = clock.wallMicroseconds()
        let (filter, limit) = try await BucketReader.readNames(tables) { reader in
            (try reader.filter(request, now: now) as TransactionFilter, try request.pageSize())
        }
        guard filter.order == .newest else { return nil }
        if request[.after] != nil {
            let position = try request.position()
            return request[.cursor] == nil ? try await changes(after: position, filter, limit, now: now) : nil
        }
        let cursor = try request[.cursor].map { text in try QueryFailure.ofCursor { try ListCursor(text, of: .newest) }
        }
        // A copy numbers sources in another way than each store in memory.
        guard cursor?.source ?? 0 == 0 else { return nil }
        do {
            return try await tables.untilComplete {
                var (loader, count) = (try await TransactionLoader(tables), 2 * limit + 2)
                while true {
                    let page = try await newest(filter, limit, before: cursor?.listed, among: count, &loader, now: now)
                    if let page { return page.rows.isEmpty && cursor == nil ? nil : page }
                    count *= 8
                }
            }
        } catch is TransactionLoader.TooMuch {
            return nil
        }
    }

    private func changes(
        after position: ExportCursor?, _ filter: TransactionFilter, _ limit: Int, now: Int64
    ) async throws -> RecordPage<TransactionSummary>? {
        guard !AnyQuestion.summary(SummaryQuestion(filter: filter)).looksAtFamilies else { return nil }
        do {
            let found = try await tables.untilComplete {
                // Without a position, only the next one is asked for.
                let facts = position.map { .after($0.description) } ?? ExportedFacts.transaction(ClickHouseTables.none)
                return try await WorkingSet(exporting: facts, tables, withChildren: true)
            }
            let page = try await found?.thread.run(until: Interruption(after: readLimit, by: clock)) {
                memory, interruption in
                try memory.reader.reading(until: interruption) {
                    try memory.reader.changes(after: position, matching: filter, limit: limit, after: nil, now: now)
                }
            }
            return page?.next == nil ? page : nil
        } catch is TransactionLoader.TooMuch {
            return nil
        }
    }

    /// - Returns: `nil` if more transactions are needed.
    private func newest(
        _ filter: TransactionFilter, _ limit: Int, before time: Int64?, among count: Int,
        _ loader: inout TransactionLoader, now: Int64
    ) async throws -> RecordPage<TransactionSummary>? {
        let places = try await tables.begun(before: time ?? .max, limit: count)
        // All that began after this are among them.
        let bound = places.count < count ? Int64.min : places.last?.at ?? .min
        let start = time.map { ListCursor(before: $0).description }
        let store = try await loader.store(listing: Set(places.map(\.transaction)))
        let found = try await store.run(until: Interruption(after: readLimit, by: clock)) { memory, interruption in
            try memory.reader.reading(until: interruption) {
                try memory.reader.transactions(matching: filter, limit: limit + 1, after: start, now: now)
            }
        }
        let rows = found.rows.prefix { $0.begunMicroseconds > bound }
        if rows.count <= limit { return bound == .min ? RecordPage(rows: Array(rows), next: nil) : nil }
        let (last, next) = (rows[limit - 1].begunMicroseconds, rows[limit].begunMicroseconds)
        // A cursor between transactions of the same microsecond would have to name a source.
        guard next < last else { throw TransactionLoader.TooMuch() }
        return RecordPage(rows: Array(rows.prefix(limit)), next: ListCursor(before: last).description)
    }
}
#endif
