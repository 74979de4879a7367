package import WaybillCore
package import WaybillStore

extension StoreReader {
    /// With a budget, transactions with the text as ID or support code are first, and the page may end early.
    package func transactions(
        matching filter: TransactionFilter, limit: Int, after cursor: String?, now wall: Int64,
        budget: SearchBudget? = nil, in scope: ListQuery.Scope = .all
    ) throws(WaybillError) -> RecordPage<TransactionSummary> {
        let place = try cursor.map { (text) throws(WaybillError) in try ListCursor(text, of: filter.order) }
        let limit = min(max(1, limit), Int(Int32.max))
        return try read { () throws(WaybillError) in
            if budget != nil, place == nil, filter.isSearch,
                let page = try transactionsByID(matching: filter, limit: limit, now: wall)
            {
                return page
            }
            let found = try leaders(matching: filter, limit: limit, after: place, now: wall, budget, in: scope)
            var page = RecordPage(rows: try summaries(of: found.leaders, now: wall), next: found.next?.description)
            page.progress = found.progress
            return page
        }
    }

    /// Without a budget, the list is complete, or has `limit` rows.
    func leaders(
        matching filter: TransactionFilter, limit: Int, after cursor: ListCursor?, now wall: Int64,
        _ budget: SearchBudget?, in scope: ListQuery.Scope = .all
    ) throws(WaybillError) -> FoundLeaders {
        func page(_ found: [ListCursor]) -> FoundLeaders {
            FoundLeaders(leaders: Array(found.prefix(limit)), next: found.count > limit ? found[limit - 1] : nil)
        }
        guard let budget, filter.isSearch else {
            let query = ListQuery(filter, limit: limit + 1, after: cursor, now: wall, in: scope)
            return page(try leaders(query, filter.order))
        }
        var (place, lookedAt) = (cursor, 0)
        var found: [ListCursor] = []
        repeat {
            let milestone = ListQuery(filter.byIndex, limit: 1, after: place, skipping: budget.stretch - 1, now: wall)
            let end = try leaders(milestone, filter.order).first
            found += try leaders(
                ListQuery(filter, limit: limit + 1 - found.count, after: place, through: end, now: wall), filter.order)
            guard found.count <= limit, let end else { return page(found) }
            (place, lookedAt) = (end, lookedAt + budget.stretch)
        } while !budget.isOver()
        return FoundLeaders(
            leaders: found, next: place, progress: place.map { .lookedAt(lookedAt, through: $0.place) })
    }

    private func transactionsByID(
        matching filter: TransactionFilter, limit: Int, now wall: Int64
    ) throws(WaybillError) -> RecordPage<TransactionSummary>? {
        var named: [GUID] = []
        for text in filter.conditions.compactMap(\.text) {
            if let id = GUID(text) { named.append(id) }
            if let code = SupportCode(text) {
                named += try transactionIDs(with: code, limit: ListRequest.limits.upperBound)
            }
        }
        guard !named.isEmpty else { return nil }
        let found = try leaders(ListQuery(filter, limit: limit, after: nil, now: wall, in: .few(named)), filter.order)
        guard !found.isEmpty else { return nil }
        var page = RecordPage(
            rows: try summaries(of: found, now: wall), next: ListCursor.beginning(of: filter.order).description)
        page.progress = .foundByID
        return page
    }
}

struct FoundLeaders {
    var leaders: [ListCursor]
    var next: ListCursor?
    /// How far the search got; `nil` if it did not run out of time.
    var progress: SearchProgress?
}

extension TransactionFilter {
    var isSearch: Bool { self != byIndex }

    package var byIndex: TransactionFilter {
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
