#if ClickHouse
import WaybillCore
import WaybillQueries
import WaybillStore

extension ClickHouseStore {
    /// With more outdated rows, buckets are cheaper.
    private static let changedLimit = 10_000

    /// - Returns: `nil` if the question needs more than rows, or its attribute may be unknown.
    func answerByRows(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws
        -> AnyAnswer?
    {
        guard tables.keepsRows, readsRows else { return nil }
        let now = clock.wallMicroseconds()
        let found = try await BucketReader.readNames(tables) { reader in
            let meant = try question.meant(by: parameters, reader, now: now)
            guard let selection = meant.rowSelection else { return nil as RowReading? }
            return try RowReading(meant, selection, RowConditions(of: selection.filters, reader, now: now), now: now)
        }
        guard let found, !found.question.isCertified else { return nil }
        return try await TransactionLoader.unlessTooMuch {
            do {
                return try await tables.untilComplete { try await self.answer(found) }
            } catch let failure as QueryFailure {
                // All names of events are known, but not all attributes.
                guard found.question.namesNoAttribute else { return nil }
                throw failure
            }
        }
    }

    private func answer(_ reading: RowReading) async throws -> AnyAnswer {
        // Read first, because rows may be made meanwhile.
        let changed = try await tables.changedTransactions(limit: Self.changedLimit)
        if answersOften, !changed.isEmpty { queue.keeper.wake() }
        let thread = try await memory(of: changed)
        let (interruption, question, now) = (Interruption(after: readLimit, by: clock), reading.question, reading.now)
        @Sendable func partial(_ reader: StoreReader, of rows: [TransactionRow]?) throws -> PartialAnswer {
            try QueryFailure.ofQuestion { try question.partial(from: reader, of: rows, now: now) }
        }
        func partial(of rows: [TransactionRow]?) async throws -> PartialAnswer {
            try await thread.run(until: interruption) { memory, interruption in
                try memory.reader.reading(until: interruption) { try partial(memory.reader, of: rows) }
            }
        }
        var all = try await partial(of: nil)
        let contents = try await thread.run { (memory) throws in try question.rowContents(memory.reader) }
        func add(_ rows: [TransactionRow]) async throws {
            try all.merge(try await partial(of: rows.filter { !changed.contains($0.id) }))
        }
        if let exchanges = reading.exchanges {
            try await tables.exchanges(where: reading.condition, exchanges, eachGroup: add)
        } else {
            try await tables.transactions(
                where: reading.condition, reading: contents, isChosen: reading.isChosen, now: now, eachGroup: add)
        }
        if case .exchangesOutsideTransactions = reading.others,
            try await !tables.bucketsOutsideTransactions(ofAbout: factsPerBucket).isEmpty
        {
            var outside = try await BucketReader(tables, factsEach: factsPerBucket, of: nil)
            while let some = try await outside.next(until: interruption, { reader in try partial(reader, of: nil) }) {
                try all.merge(some)
            }
        }
        let answer = try QueryFailure.ofQuestion { try all.answer() }
        guard answer.whyEmpty != nil else { return answer }
        // The reason counts all exchanges.
        if case .network(let network) = question, network.transactions == nil, case .none = reading.others {
            throw TransactionLoader.TooMuch()
        }
        guard let empty = try await emptyReason(reading.filter, reading.conditions, besides: changed) else {
            throw TransactionLoader.TooMuch()
        }
        let exchangeCount = reading.exchanges == nil ? 0 : try await tables.exchangeCount(besides: changed)
        let (filter, found) = (reading.filter, empty)
        let reason = try await thread.run { (memory) throws in try EmptyReason(filter, found, memory.reader) }
        all.add(reason, exchangeCount: exchangeCount)
        return try QueryFailure.ofQuestion { try all.answer() }
    }

    /// Counts the rows that pass more and more of a filter.
    ///
    /// - Returns: `nil` if rows lack a property in the filter.
    func emptyReason(
        _ filter: TransactionFilter, _ conditions: RowConditions, besides changed: Set<GUID>
    ) async throws -> EmptyReason.Found? {
        // Statements have at most 256 KB.
        guard changed.count <= Self.changedInLists else { throw TransactionLoader.TooMuch() }
        var others = filter
        others.beginner = .unknown
        let attributes = filter.terms.compactMap { if case .attribute(let name, _) = $0 { name } else { nil } }
        var everywhere = TransactionFilter()
        everywhere.beginner = .any
        let before = EmptyReason.filterBeforeTimes(filter) ?? everywhere
        let filters = EmptyReason.filters(of: filter)
        var asked = filters + [everywhere, others]
        for name in attributes {
            everywhere.conditions = [.attribute(name, value: nil)]
            asked.append(everywhere)
        }
        var counts: [String] = []
        for filter in asked {
            guard let sql = conditions.sql(filter) else { return nil }
            counts.append("countIf(\(sql))")
        }
        guard let timed = conditions.sql(before) else { return nil }
        let among = "gone = 0\(ClickHouseTables.notAmong(changed))"
        var found = EmptyReason.Found()
        let row = try await tables.numbers(
            counts.map { "toInt64(\($0))" } + ["maxIf(begun_us, \(timed))"], where: among)
        let numbers = row.map { Int(clamping: $0) }
        found.passing = Array(numbers.prefix(filters.count))
        (found.isAny, found.areJoined) = (numbers[filters.count] > 0, false)
        if filter.beginner == .known { found.areJoined = numbers[filters.count + 1] > 0 }
        for (name, count) in zip(attributes, numbers.dropFirst(filters.count + 2)) where count > 0 {
            found.attributes.insert(name)
        }
        if let last = row.last, numbers[filters.count] > 0 { found.newest = last }
        if filter.useCase != nil, let first = conditions.sql(filters[0]) {
            found.useCases = Set(try await tables.useCases(where: "\(among) AND \(first)"))
        }
        if let (name, before) = EmptyReason.attribute(filter, passing: found.passing) {
            var here = before
            here.conditions.append(.attribute(name, value: nil))
            guard let sql = conditions.sql(here) else { return nil }
            found.values = try await tables.values(of: name, where: "\(among) AND \(sql)")
        }
        return found
    }
}

extension ClickHouseTables {
    static func notAmong(_ changed: Set<GUID>) -> String {
        changed.isEmpty ? "" : " AND tx NOT IN (\(list(changed)))"
    }

    fileprivate func numbers(_ columns: [String], where condition: String) async throws(WaybillError) -> [Int64] {
        try await client.rows(
            "SELECT \(columns.joined(separator: ", ")) FROM transactions FINAL WHERE \(condition)", reading
        ) { row in
            var numbers: [Int64] = []
            for _ in columns { numbers.append(try row.integer()) }
            return numbers
        }.first ?? columns.map { _ in 0 }
    }

    func exchangeCount(besides changed: Set<GUID>) async throws(WaybillError) -> Int {
        let among = "gone = 0\(Self.notAmong(changed))"
        return Int(clamping: try await numbers(["toInt64(sum(length(exchange_parts)))"], where: among).first ?? 0)
    }

    fileprivate func useCases(where condition: String) async throws(WaybillError) -> [Int] {
        try await client.rows(
            "SELECT DISTINCT use_case FROM transactions FINAL WHERE \(condition) ORDER BY use_case LIMIT \(EmptyReason.namedUseCases)",
            reading
        ) { row in Int(try row.integer(Int64.self)) }
    }

    /// Returns the latest values of an attribute in some transactions; `nil` without any.
    fileprivate func values(of name: String, where condition: String) async throws(WaybillError) -> [String: Int]? {
        let value = "attribute_values[indexOf(attribute_names, \(Self.literal(name)))]"
        var values: [String: Int]?
        try await client.forEachRow(
            "SELECT \(value) FROM transactions FINAL WHERE \(condition) LIMIT 1000", reading
        ) { row in
            var more = values ?? [:]
            if let said = Attributes(columnText: try row.text())[""] {
                more["\(said)".prefix(40).description, default: 0] += 1
            }
            values = more
        }
        return values
    }
}

/// A question with its rows in SQL.
private struct RowReading: Sendable {
    var question: AnyQuestion
    var now: Int64
    var condition: String
    var isChosen = "1"
    var exchanges: String?
    var others: RowSelection.Others
    var filter: TransactionFilter
    var conditions: RowConditions

    /// Returns `nil` if rows lack a property in the filters.
    init?(_ question: AnyQuestion, _ selection: RowSelection, _ conditions: RowConditions, now: Int64) {
        guard let chosen = conditions.sql(selection.transactions) else { return nil }
        (self.question, self.now, condition, others) = (question, now, chosen, selection.others)
        (filter, self.conditions) = (selection.transactions, conditions)
        switch selection.others {
        case .none, .exchangesOutsideTransactions: break
        case .matching(let filter):
            guard let all = conditions.sql(filter) else { return nil }
            (condition, isChosen) = (all, "toUInt8(\(chosen))")
        case .withExchanges: (condition, isChosen) = ("(\(chosen) OR notEmpty(exchange_parts))", "toUInt8(\(chosen))")
        }
        if let conditionsOfExchanges = selection.exchanges {
            guard let sql = conditions.sql(conditionsOfExchanges, about: .exchanges) else { return nil }
            exchanges = sql
        }
    }
}

extension RowConditions {
    init(of filters: [TransactionFilter], _ reader: StoreReader, now: Int64) throws(WaybillError) {
        self.now = now
        for name in filters.flatMap(\.events) { events[name] = try reader.meanings(ofEvent: name) }
        for text in filters.flatMap(\.texts) { mentions[text] = try reader.codes(mentioning: text) }
    }
}
#endif
