package import WaybillCore
import WaybillStore

/// The number of a list's rows in steps of time, by outcome.
///
/// An exchange counts as failed with an error status, too.
package struct ListVolume: Hashable, Sendable {
    /// The first and the last time of the list's rows, in microseconds since 1970.
    package var times: ClosedRange<Int64>
    package var borders: [Int64]
    /// The numbers of each step; `nil` for the oldest steps if counting all would take too long.
    package var counts: [[TransactionOutcome: Int]?]
}

extension BrowsableStore {
    package func volume(
        _ request: ListRequest, of subject: ListRequest.Subject, within budget: Duration,
        borders: @escaping @Sendable (ClosedRange<Int64>) -> [Int64]
    ) async throws -> ListVolume? {
        let now = clock.wallMicroseconds()
        return try await read { reader in
            try reader.volume(request, of: subject, now: now, .lasting(budget), borders)
        }
    }
}

extension StoreReader {
    package func volume(
        _ request: ListRequest, of subject: ListRequest.Subject, now wall: Int64, _ budget: SearchBudget,
        _ borders: (ClosedRange<Int64>) -> [Int64]
    ) throws -> ListVolume? {
        subject == .exchanges
            ? try volume(filter(request, now: wall) as ExchangeFilter, now: wall, budget, borders)
            : try volume(filter(request, now: wall) as TransactionFilter, now: wall, budget, borders)
    }

    private func volume(
        _ filter: TransactionFilter, now wall: Int64, _ budget: SearchBudget,
        _ borders: (ClosedRange<Int64>) -> [Int64]
    ) throws(WaybillError) -> ListVolume? {
        func end(_ order: TransactionFilter.Order) throws(WaybillError) -> Int64? {
            var filter = filter
            filter.order = order
            return try leaders(ListQuery(filter.byIndex, limit: 1, after: nil, now: wall), order).first?.listed
        }
        return try read { () throws(WaybillError) -> ListVolume? in
            guard let first = try end(.oldest), let last = try end(.newest) else { return nil }
            var volume = ListVolume(first...max(first, last), borders)
            guard !volume.counts.isEmpty else { return volume }
            if filter.isSearch {
                try countFound(filter, now: wall, budget, in: &volume)
            } else {
                try volume.count(filter, now: wall, budget, connection)
            }
            return volume
        }
    }

    /// A search reads each transaction, so one pass over all of them serves all steps.
    private func countFound(
        _ filter: TransactionFilter, now wall: Int64, _ budget: SearchBudget, in volume: inout ListVolume
    ) throws(WaybillError) {
        var filter = filter
        filter.order = .newest
        let found = try leaders(matching: filter, limit: ListTotal.limit, after: nil, now: wall, budget)
        // The steps after this time are complete.
        let complete = found.next.map { $0.listed.adding(1) } ?? .min
        for step in volume.counts.indices where volume.borders[step] >= complete { volume.counts[step] = [:] }
        let outcome = try connection.statement(
            "SELECT \(SQL.outcome("p", now: "?")) FROM parts p WHERE p.source = ? AND p.sequence = ?")
        for leader in found.leaders {
            guard let step = volume.borders.dropLast().lastIndex(where: { $0 <= leader.listed }),
                volume.counts[step] != nil
            else { continue }
            let stored: Int? = try outcome.first(wall, leader.source, leader.sequence) { row in row.int(0) }
            volume.counts[step]?[stored.flatMap(TransactionOutcome.init(rawValue:)) ?? .open, default: 0] += 1
        }
    }

    private func volume(
        _ filter: ExchangeFilter, now wall: Int64, _ budget: SearchBudget,
        _ borders: (ClosedRange<Int64>) -> [Int64]
    ) throws(WaybillError) -> ListVolume? {
        try read { () throws(WaybillError) -> ListVolume? in
            let byTime = try ExchangeList(filter.byTime, now: wall, newest: newestExchanges, connection)
            guard let times = try byTime.times(budget) else { return nil }
            var volume = ListVolume(times, borders)
            guard !volume.counts.isEmpty else { return volume }
            let list = try ExchangeList(
                filter, now: wall, newest: newestExchanges, bodyLimit: BodySearch.pageLimit, connection)
            try volume.count(list, list.spans(after: nil), budget)
            return volume
        }
    }
}

extension ListVolume {
    /// Counts nothing yet.
    package init(_ times: ClosedRange<Int64>, _ borders: (ClosedRange<Int64>) -> [Int64]) {
        self.times = times
        self.borders = borders(times)
        counts = Array(repeating: nil, count: max(0, self.borders.count - 1))
    }

    fileprivate mutating func count(
        _ filter: TransactionFilter, now wall: Int64, _ budget: SearchBudget, _ connection: Connection
    ) throws(WaybillError) {
        for index in counts.indices.reversed() where borders[index] < borders[index + 1] {
            guard !budget.isOver() else { return }
            let query = ListQuery(countingByOutcome: filter, in: borders[index]..<borders[index + 1], now: wall)
            var numbers: [TransactionOutcome: Int] = [:]
            try connection.statement(query.sql).forEachRow(arguments: query.arguments) { row in
                let count: Int = row.int(1)
                guard count > 0 else { return }
                numbers[TransactionOutcome(rawValue: row.int(0)) ?? .open, default: 0] += count
            }
            counts[index] = numbers
        }
    }
}

extension ListVolume {
    /// Few sources cost few queries, so steps are counted one by one. Many sources share a query for several steps.
    private static let queryCount = 1_000

    fileprivate mutating func count(
        _ list: ExchangeList, _ spans: [ExchangeSpan], _ budget: SearchBudget
    ) throws(WaybillError) {
        let size = max(1, min(counts.count, counts.count * spans.count / Self.queryCount))
        var end = counts.count
        while end > 0 {
            let steps = max(0, end - size)..<end
            var numbers = [[TransactionOutcome: Int]](repeating: [:], count: steps.count)
            // The steps after this time are complete.
            var complete = borders[steps.lowerBound]
            for span in spans {
                guard let span = span.clamped(since: borders[steps.lowerBound], until: borders[end]) else { continue }
                let isWhole = try list.forOutcomes(in: span, budget) { time, outcome in
                    guard let step = steps.last(where: { borders[$0] <= time }) else { return }
                    numbers[step - steps.lowerBound][outcome, default: 0] += 1
                }
                guard isWhole else {
                    complete = span.newest.adding(1)
                    break
                }
            }
            for step in steps where borders[step] >= complete { counts[step] = numbers[step - steps.lowerBound] }
            guard complete == borders[steps.lowerBound] else { return }
            end = steps.lowerBound
        }
    }
}

extension ExchangeFilter {
    package var byTime: ExchangeFilter {
        ExchangeFilter(conditions.filter { $0.isIndexed && !$0.isOfTransaction })
    }
}

extension ExchangeList {
    fileprivate func times(_ budget: SearchBudget) throws(WaybillError) -> ClosedRange<Int64>? {
        var times: ClosedRange<Int64>?
        for span in try spans(after: nil) {
            guard let first = try value("min(at_us)", in: span), let last = try value("max(at_us)", in: span) else {
                continue
            }
            let (least, greatest) = (first.adding(span.offset), last.adding(span.offset))
            times = min(times?.lowerBound ?? least, least)...max(times?.upperBound ?? greatest, greatest)
            if budget.isOver() { break }
        }
        return times
    }

    /// Returns whether there was time for all exchanges.
    fileprivate func forOutcomes(
        in span: ExchangeSpan, _ budget: SearchBudget, _ body: (_ time: Int64, TransactionOutcome) -> Void
    ) throws(WaybillError) -> Bool {
        var conditions = conditions
        let outcome = """
            CASE WHEN \(SQL.hasFailed("l")) THEN \(TransactionOutcome.failed.rawValue) \
            WHEN l.state = \(ExchangeState.completed.rawValue) THEN \(TransactionOutcome.succeeded.rawValue) \
            WHEN l.state = \(ExchangeState.cancelled.rawValue) THEN \(TransactionOutcome.cancelled.rawValue) \
            WHEN s.ended THEN \(TransactionOutcome.interrupted.rawValue) ELSE \(TransactionOutcome.open.rawValue) END
            """
        let place = """
            l.source = \(conditions.argument(span.source)) AND l.at_us >= \(conditions.argument(span.times.lowerBound)) \
            AND l.at_us < \(conditions.argument(span.times.upperBound))
            """
        var (count, isWhole) = (0, !budget.isOver())
        guard isWhole else { return false }
        try connection.statement(
            "SELECT l.at_us, \(outcome) FROM \(ConditionSQL.exchanges) WHERE \(conditions.sql) AND \(place)"
        ).forRows(arguments: conditions.arguments) { row in
            body(row.int(0).adding(span.offset), TransactionOutcome(rawValue: row.int(1)) ?? .open)
            count += 1
            isWhole = !count.isMultiple(of: 500) || !budget.isOver()
            return isWhole
        }
        return isWhole
    }
}
