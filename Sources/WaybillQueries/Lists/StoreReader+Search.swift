package import WaybillCore
package import WaybillStore

extension StoreReader {
    /// Transactions with the text as ID or support code are first.
    package func transactions(
        matching filter: TransactionFilter, limit: Int, after cursor: String?, now wall: Int64, budget: SearchBudget
    ) throws(WaybillError) -> (page: RecordPage<TransactionSummary>, progress: SearchProgress?) {
        guard filter.isSearch else {
            return (try transactions(matching: filter, limit: limit, after: cursor, now: wall), nil)
        }
        let place = try cursor.map { (text) throws(WaybillError) in try ListCursor(text, of: filter.order) }
        return try read { () throws(WaybillError) in
            if place == nil, let page = try transactionsByID(matching: filter, limit: limit, now: wall) {
                return (page, .foundByID)
            }
            return try search(filter, limit: min(max(1, limit), Int(Int32.max)), after: place, now: wall, budget)
        }
    }

    private func search(
        _ filter: TransactionFilter, limit: Int, after cursor: ListCursor?, now wall: Int64, _ budget: SearchBudget
    ) throws(WaybillError) -> (RecordPage<TransactionSummary>, SearchProgress?) {
        var (place, lookedAt) = (cursor, 0)
        var found: [ListCursor] = []
        repeat {
            let milestone = ListQuery(filter.byIndex, limit: 1, after: place, skipping: budget.stretch - 1, now: wall)
            let end = try leaders(milestone, filter.order).first
            found += try leaders(
                ListQuery(filter, limit: limit + 1 - found.count, after: place, through: end, now: wall), filter.order)
            guard found.count <= limit, let end else {
                let next = found.count > limit ? found[limit - 1].description : nil
                return (RecordPage(rows: try summaries(of: found.prefix(limit), now: wall), next: next), nil)
            }
            (place, lookedAt) = (end, lookedAt + budget.stretch)
        } while !budget.isOver()
        let page = RecordPage(rows: try summaries(of: found, now: wall), next: place?.description)
        return (page, place.map { .lookedAt(lookedAt, through: $0.place) })
    }

    private func transactionsByID(
        matching filter: TransactionFilter, limit: Int, now wall: Int64
    ) throws(WaybillError) -> RecordPage<TransactionSummary>? {
        var named: [GUID] = []
        for text in filter.texts {
            if let id = GUID(text) { named.append(id) }
            if let code = SupportCode(text) {
                named += try transactionIDs(with: code, limit: ListRequest.limits.upperBound)
            }
        }
        guard !named.isEmpty else { return nil }
        let found = try leaders(ListQuery(filter, limit: limit, after: nil, now: wall, in: .few(named)), filter.order)
        guard !found.isEmpty else { return nil }
        return RecordPage(
            rows: try summaries(of: found, now: wall), next: ListCursor.beginning(of: filter.order).description)
    }
}

extension StoreReader {
    package func exchanges(
        matching filter: ExchangeFilter, limit: Int, after cursor: String?, now wall: Int64, budget: SearchBudget
    ) throws(WaybillError) -> (page: RecordPage<ExchangeRecord>, progress: SearchProgress?) {
        let place = try cursor.map { (text) throws(WaybillError) in try ListCursor(text) }
        let limit = min(max(1, limit), Int(Int32.max))
        return try read { () throws(WaybillError) in
            let (found, lookedAt) = try ExchangeList(filter, now: wall, newest: newestExchanges, connection).keys(
                limit: limit + 1, after: place, budget: budget)
            let rows = ExchangeRows(connection)
            var records: [ExchangeRecord] = []
            for key in found.prefix(limit) { if let record = try rows.record(at: key) { records.append(record) } }
            if found.count > limit {
                let last = found[limit - 1]
                let next = ListCursor(listed: last.opened, source: last.source, sequence: last.sequence).description
                return (RecordPage(rows: records, next: next), nil)
            }
            let last = ListCursor.places.upperBound
            let next = lookedAt.map { ListCursor(listed: $0.from - 1, source: last, sequence: last).description }
            return (
                RecordPage(rows: records, next: next), lookedAt.map { .lookedAt($0.count, through: .time($0.from)) }
            )
        }
    }
}

extension TransactionFilter {
    fileprivate var isSearch: Bool { self != byIndex }

    fileprivate var byIndex: TransactionFilter {
        var filter = self
        filter.isFolded = false
        filter.conditions = conditions.compactMap { condition in
            guard case .outcome(var outcomes) = condition else {
                return condition.isIndexed && (order == .newest || order == .oldest) ? condition : nil
            }
            // The index does not know whether an open transaction timed out.
            if !outcomes.isDisjoint(with: [.open, .timedOut]) { outcomes.formUnion([.open, .timedOut]) }
            return .outcome(outcomes)
        }
        return filter
    }

    fileprivate var texts: [String] {
        conditions.compactMap { condition in if case .text(let text) = condition { text } else { nil } }
    }
}

extension ListCursor {
    fileprivate var place: SearchProgress.Place {
        switch order {
        case .newest, .oldest: .time(listed)
        case .longest, .shortest:
            .duration(Self.places.lowerBound < listed && listed < Self.places.upperBound ? listed : nil)
        }
    }

    fileprivate static func beginning(of order: TransactionFilter.Order) -> ListCursor {
        let place = order.isDescending ? places.upperBound : places.lowerBound
        return ListCursor(order: order, listed: place, source: place, sequence: place)
    }
}
