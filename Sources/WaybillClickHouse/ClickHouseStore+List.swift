#if ClickHouse
import WaybillCore
import WaybillExport
package import WaybillQueries
import WaybillStore

extension ClickHouseStore {
    /// A process without a copy reads the newest transactions until a page is full, or all, bucket by bucket.
    package func transactions(_ request: ListRequest, within budget: Duration?) async throws -> RecordPage<
        TransactionSummary
    > {
        if isReadInPieces(), let page = try await pageInMemory(request) { return page }
        return try await reading { try await $0.transactions(request, within: budget) }
    }

    /// - Returns: `nil` if only a copy can tell: for an empty page, ties, and too many changes.
    private func pageInMemory(_ request: ListRequest) async throws -> RecordPage<TransactionSummary>? {
        let now = clock.wallMicroseconds()
        let (filter, limit, conditions) = try await BucketReader.readNames(tables) { reader in
            let filter = try reader.filter(request, now: now) as TransactionFilter
            return (filter, try request.pageSize(), try RowConditions(of: [filter], reader, now: now))
        }
        if request[.after] != nil {
            let position = try request.position()
            return request[.cursor] == nil ? try await changes(after: position, filter, limit, now: now) : nil
        }
        let cursor = try request[.cursor].map { text in
            try QueryFailure.ofCursor { try ListCursor(text, of: filter.order) }
        }
        // A copy numbers sources in another way than each store in memory.
        guard cursor.map({ $0 == ListCursor(behind: $0.listed, in: filter.order) }) ?? true else { return nil }
        if let page = try await pageByRows(filter, conditions, limit, behind: cursor, now: now) { return page }
        if filter.order == .newest, let page = try await newest(filter, limit, behind: cursor, now: now) { return page }
        guard !answersOften else { return nil }
        return try await TransactionLoader.unlessTooMuch {
            try await page(filter, limit, behind: cursor, now: now)
        }
    }

    private func pageByRows(
        _ filter: TransactionFilter, _ conditions: RowConditions, _ limit: Int, behind cursor: ListCursor?, now: Int64
    ) async throws -> RecordPage<TransactionSummary>? {
        guard tables.keepsRows, readsRows, let condition = conditions.sql(filter) else { return nil }
        return try await TransactionLoader.unlessTooMuch {
            try await tables.untilComplete {
                let (store, changed) = try await memory(
                    listing: condition, filter.order, limit: limit + 1, behind: cursor)
                let rows = try await store.run(until: Interruption(after: readLimit, by: clock)) {
                    memory, interruption in
                    try memory.reader.reading(until: interruption) {
                        try memory.reader.transactions(
                            matching: filter, limit: limit + 1, after: cursor?.description, now: now)
                    }
                }.rows
                let values = rows.map { filter.order.value(of: $0) }
                if rows.isEmpty, cursor == nil {
                    guard let found = try await emptyReason(filter, conditions, besides: changed) else { return nil }
                    var page = RecordPage<TransactionSummary>(rows: [], next: nil)
                    page.whyEmpty = try await read(memory(of: changed)) { reader in
                        var reason = try EmptyReason(filter, found, reader)
                        reason.merge(try reader.emptyReason(filter, now: now, isPartial: true))
                        return reason.sentence
                    }
                    return page
                }
                // Ties are in the order of sources.
                guard filter.order == .newest || Set(values).count == values.count
                else { return nil }
                guard rows.count > limit else { return RecordPage(rows: rows, next: nil) }
                guard values[limit] != values[limit - 1] else { return nil }
                let next = ListCursor(behind: values[limit - 1], in: filter.order)
                return RecordPage(rows: Array(rows.prefix(limit)), next: next.description)
            }
        }
    }

    private func page(
        _ filter: TransactionFilter, _ limit: Int, behind cursor: ListCursor?, now: Int64
    ) async throws -> RecordPage<TransactionSummary>? {
        guard !filter.looksAtFamilies else { return nil }
        let interruption = Interruption(after: readLimit, by: clock)
        @Sendable func read(_ reader: StoreReader) throws(WaybillError) -> [TransactionSummary] {
            try reader.transactions(matching: filter, limit: limit + 1, after: cursor?.description, now: now).rows
        }
        return try await tables.untilComplete {
            var buckets = try await BucketReader(tables, factsEach: factsPerBucket, of: AnyQuestion.Scope(filter))
            var first: [(value: Int64, id: GUID)] = []
            while let rows = try await buckets.next(until: interruption, { reader in try read(reader) }) {
                first += rows.map { (filter.order.value(of: $0), $0.id) }
                first.sort { filter.order.isDescending ? $0.value > $1.value : $0.value < $1.value }
                first = Array(first.prefix(limit + 1))
            }
            // Ties are in the order of sources.
            guard !first.isEmpty, Set(first.map(\.value)).count == first.count else { return nil }
            // A row tells of children, which may be in other buckets.
            var loader = try await TransactionLoader(tables)
            let store = try await loader.store(listing: Set(first.map(\.id)))
            let rows = try await store.run(until: interruption) { memory, interruption in
                try memory.reader.reading(until: interruption) { try read(memory.reader) }
            }
            let next =
                rows.count > limit
                ? ListCursor(behind: filter.order.value(of: rows[limit - 1]), in: filter.order) : nil
            return RecordPage(rows: Array(rows.prefix(limit)), next: next?.description)
        }
    }

    private func changes(
        after position: ExportCursor?, _ filter: TransactionFilter, _ limit: Int, now: Int64
    ) async throws -> RecordPage<TransactionSummary>? {
        guard !filter.looksAtFamilies else { return nil }
        return try await TransactionLoader.unlessTooMuch {
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
        }
    }

    /// - Returns: `nil` if too many transactions don't match.
    private func newest(
        _ filter: TransactionFilter, _ limit: Int, behind cursor: ListCursor?, now: Int64
    ) async throws -> RecordPage<TransactionSummary>? {
        try await TransactionLoader.unlessTooMuch {
            try await tables.untilComplete {
                var (loader, count) = (try await TransactionLoader(tables), 2 * limit + 2)
                while true {
                    let page = try await newest(filter, limit, behind: cursor, among: count, &loader, now: now)
                    if let page { return page.rows.isEmpty && cursor == nil ? nil : page }
                    count *= 8
                }
            }
        }
    }

    /// - Returns: `nil` if more transactions are needed.
    private func newest(
        _ filter: TransactionFilter, _ limit: Int, behind cursor: ListCursor?, among count: Int,
        _ loader: inout TransactionLoader, now: Int64
    ) async throws -> RecordPage<TransactionSummary>? {
        let places = try await tables.begun(before: cursor?.listed ?? .max, limit: count)
        // All that began after this are among them.
        let bound = places.count < count ? Int64.min : places.last?.at ?? .min
        let store = try await loader.store(listing: Set(places.map(\.transaction)))
        let found = try await store.run(until: Interruption(after: readLimit, by: clock)) { memory, interruption in
            try memory.reader.reading(until: interruption) {
                try memory.reader.transactions(matching: filter, limit: limit + 1, after: cursor?.description, now: now)
            }
        }
        let rows = found.rows.prefix { $0.begunMicroseconds > bound }
        if rows.count <= limit { return bound == .min ? RecordPage(rows: Array(rows), next: nil) : nil }
        let (last, next) = (rows[limit - 1].begunMicroseconds, rows[limit].begunMicroseconds)
        // A cursor between transactions of the same microsecond would have to name a source.
        guard next < last else { throw TransactionLoader.TooMuch() }
        return RecordPage(rows: Array(rows.prefix(limit)), next: ListCursor(behind: last, in: .newest).description)
    }
}

extension TransactionFilter.Order {
    /// SQL for the listed value.
    var sql: String {
        switch self {
        case .newest, .oldest: "begun_us"
        case .longest: "if(closed = 0, toInt64(\(ListCursor.places.lowerBound)), closed_at_us - at_us)"
        case .shortest: "if(closed = 0, toInt64(\(ListCursor.places.upperBound)), closed_at_us - at_us)"
        }
    }

    /// Transactions that have not ended are last.
    fileprivate func value(of row: TransactionSummary) -> Int64 {
        switch self {
        case .newest, .oldest: row.begunMicroseconds
        case .longest: row.durationMicroseconds ?? ListCursor.places.lowerBound
        case .shortest: row.durationMicroseconds ?? ListCursor.places.upperBound
        }
    }
}
#endif
