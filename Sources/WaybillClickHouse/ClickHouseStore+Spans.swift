#if ClickHouse
package import WaybillCore
package import WaybillStore

/// OTLP spans and sets of version 0.0.1. Each process has its own sources for them, because it numbers their facts.
extension ClickHouseStore {
    /// Writes what `body` writes into a store of some transactions and sources.
    package func write<Value: Sendable>(
        besides transactions: Set<GUID>, _ sources: Set<GUID>, at wall: Int64,
        _ body: @escaping @Sendable (Store) throws(WaybillError) -> (Value, [TransactionSet.Share])
    ) async throws -> Value {
        try await queue.write(besides: transactions, sources, at: wall, body)
    }

    // MARK: Spans

    package func spanWriter() async throws -> (key: [UInt8], number: UInt64) {
        if let key = queue.spans.key { return (key, queue.spans.number) }
        if try await tables.installations([ClickHouseTables.none]).isEmpty {
            let secret = Array("\(GUID())\(GUID())".utf8)
            try await tables.insert(installations: [ClickHouseTables.none: secret], queue.place())
        }
        // Of two processes, the first one's counts.
        guard let key = try await tables.installations([ClickHouseTables.none])[ClickHouseTables.none] else {
            throw tables.incomplete
        }
        queue.spans.key = key
        return (key, queue.spans.number)
    }

    /// After an hour, these include spans of processes that have ended.
    package func waitingSpans(since wall: Int64, limit: Int) async throws -> [SpanPlace] {
        let hour: Int64 = 3_600_000_000
        let now = clock.wallMicroseconds()
        var places = queue.spans.waiting(since: wall, now: now)
        if queue.spans.looksForOthers(at: now) { places += try await tables.waitingSpans(since: now - hour) }
        return Array(places.prefix(limit))
    }

    package func endWait(at place: SpanPlace) { queue.spans.endWait(at: place) }

    // MARK: Sets of version 0.0.1

    package var legacySource: GUID { queue.legacySource }

    package func knowsLegacySet(_ digest: [UInt8], since wall: Int64) async throws -> Bool {
        try await tables.knowsLegacySet(digest, since: wall)
    }

    package func note(_ receipt: Receipt, ofLegacySet digest: [UInt8], at wall: Int64) async throws {
        try await tables.insert(legacySet: digest, at: wall)
        queue.committed([.success(receipt)])
    }
}

package struct SpanPlace: Hashable, Sendable {
    package var transaction: GUID
    package var source: GUID
}

final class SpanPlaces: Sendable {
    private struct State {
        var key: [UInt8]?
        var number = UInt64.random(in: 1...UInt64.max)
        var waiting: [SpanPlace: Int64] = [:]
        var nextLook = Int64.min
    }

    private let state = Locked(State())
    private static let limit = 20_000
    private static let longest: Int64 = 1_800_000_000

    var key: [UInt8]? {
        get { state.withLock(\.key) }
        set { state.withLock { $0.key = newValue } }
    }

    var number: UInt64 { state.withLock(\.number) }

    func note(_ spans: [PlacedSpan]) {
        state.withLock { state in
            for span in spans where span.span.waiting != nil {
                let place = SpanPlace(transaction: span.transaction, source: span.source)
                state.waiting[place] = min(state.waiting[place] ?? .max, span.received)
            }
        }
    }

    func waiting(since wall: Int64, now: Int64) -> [SpanPlace] {
        state.withLock { state in
            let sorted = state.waiting.sorted { $0.value < $1.value }
            if let first = sorted.first, first.value < now - Self.longest {
                // The process stood still, and others may continue its sources.
                (state.waiting, state.number) = ([:], UInt64.random(in: 1...UInt64.max))
                return []
            }
            let excess = sorted.count - Self.limit
            return sorted.enumerated().filter { $0.offset < excess || $0.element.value < wall }.map(\.element.key)
        }
    }

    func endWait(at place: SpanPlace) { state.withLock { $0.waiting[place] = nil } }

    func looksForOthers(at now: Int64) -> Bool {
        state.withLock { state in
            guard now >= state.nextLook else { return false }
            state.nextLook = now + 2 * Self.longest
            return true
        }
    }
}

extension [PlacedSpan] {
    /// Returns the last row of each span that counts.
    func counted(_ sources: [GUID: DatabaseBooks.Source]) -> [PlacedSpan] {
        var spans: [[UInt64]: PlacedSpan] = [:]
        for row in self {
            let key = [
                row.transaction.high, row.transaction.low, row.source.high, row.source.low, row.span.id.rawValue,
            ]
            if row.isGone {
                spans[key] = nil
            } else if let fact = row.span.fact {
                // Its facts count once books name them.
                if sources[row.source]?.expected.contains(fact) == true { spans[key] = row }
            } else {
                spans[key] = row
            }
        }
        return Array(spans.values)
    }
}

extension ClickHouseTables {
    private enum SpanState: UInt8 {
        case waiting, placed, over, gone

        init(_ span: PlacedSpan) { self = span.isGone ? .gone : span.span.fact == nil ? .waiting : .placed }
    }

    func insert(_ spans: [PlacedSpan], _ version: Int64, areOver: Bool = false) async throws(WaybillError) {
        let columns = "tx, source, span, version, state, parent, kind, part, fact, received_us, waiting, original"
        try await insert("spans(\(columns))", of: spans) { rows, placed in
            let (span, state) = (placed.span, areOver ? SpanState.over : SpanState(placed))
            rows.guid(placed.transaction)
            rows.guid(placed.source)
            rows.integer(span.id.rawValue)
            rows.integer(version)
            rows.integer(state.rawValue)
            rows.integer(span.parent?.rawValue ?? 0)
            rows.integer(UInt8(clamping: span.kind))
            rows.integer(span.part ?? 0)
            rows.integer(span.fact ?? 0)
            rows.integer(placed.received)
            rows.string(areOver ? [] : span.waiting ?? [])
            rows.string(areOver ? [] : span.original ?? [])
        }
    }

    func spans(of transactions: Set<GUID>) async throws(WaybillError) -> [PlacedSpan] {
        // Without spans, this is faster.
        if transactions.count > 50, try await ids("SELECT tx FROM spans LIMIT 1").isEmpty { return [] }
        var spans: [PlacedSpan] = []
        for some in Array(transactions).inChunks(of: Self.idsPerStatement) {
            spans += try await self.spans(where: "tx IN (\(Self.list(some)))")
        }
        return spans
    }

    func spans(where condition: String) async throws(WaybillError) -> [PlacedSpan] {
        try await client.rows(
            """
            SELECT tx, source, span, state, parent, kind, part, fact, received_us, waiting, original FROM spans \
            WHERE \(Self.isOfASource) AND state != \(SpanState.over.rawValue) AND (\(condition)) \
            ORDER BY tx, source, span, version
            """, reading
        ) { row in
            func known<Value: FixedWidthInteger>(_ value: Value) -> Value? { value == 0 ? nil : value }
            let (transaction, source) = (try row.guid(), try row.guid())
            guard let id = SpanID(rawValue: try row.integer(UInt64.self)) else { throw Self.damagedSpan }
            let state = try row.integer(UInt8.self)
            let parent = known(try row.integer(UInt64.self)).flatMap { SpanID(rawValue: $0) }
            var span = SpanRows.Span(id: id, parent: parent, kind: Int(try row.integer(UInt8.self)))
            (span.part, span.fact) = (known(try row.integer()), known(try row.integer()))
            span.isUncaused = span.fact != nil && span.fact == span.part && parent != nil
            let received: Int64 = try row.integer()
            let waiting = try row.string()
            span.waiting = state == SpanState.waiting.rawValue ? waiting : nil
            span.original = try row.optionalString()
            var placed = PlacedSpan(transaction: transaction, source: source, span: span, received: received)
            placed.isGone = state == SpanState.gone.rawValue
            return placed
        }
    }

    private static var damagedSpan: WaybillError {
        WaybillError(.damaged, "A row of the table spans can't be read.")
    }

    fileprivate func waitingSpans(since wall: Int64) async throws(WaybillError) -> [SpanPlace] {
        try await client.rows(
            """
            SELECT tx, source FROM (SELECT tx, source, span FROM spans WHERE \(Self.isOfASource) GROUP BY tx, source, span \
            HAVING min(state) = 0 AND max(state) < \(SpanState.over.rawValue) AND max(received_us) < \(wall)) \
            GROUP BY tx, source ORDER BY source, tx
            """, reading
        ) { row in SpanPlace(transaction: try row.guid(), source: try row.guid()) }
    }

    fileprivate func knowsLegacySet(_ digest: [UInt8], since wall: Int64) async throws(WaybillError) -> Bool {
        let found = try await client.rows(
            "SELECT count() FROM legacy_sets WHERE digest = \(Self.literal(bytes: digest)) AND received_us > \(wall)",
            reading
        ) { row in try row.integer(UInt64.self) }
        return found != [0]
    }

    fileprivate func insert(legacySet digest: [UInt8], at wall: Int64) async throws(WaybillError) {
        var rows = RowBinaryWriter()
        for byte in digest { rows.integer(byte) }
        rows.integer(wall)
        try await insert("legacy_sets(digest, received_us)", rows)
    }
}
#endif
