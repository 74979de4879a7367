#if ClickHouse
import WaybillCore
package import WaybillQueries
import WaybillStore

extension ClickHouseStore {
    package func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws
        -> AnyAnswer
    {
        if usesRows, let answer = try await answerByRows(question, where: parameters) { return answer }
        return try await reading { try await $0.answer(question, where: parameters) }
    }

    /// - Returns: `nil` if too much is outdated.
    func answerByRows(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws
        -> AnyAnswer?
    {
        let now = clock.wallMicroseconds()
        let names = try await tables.nameStore()
        let meant = try await read(names) { reader in
            try question.meant(by: parameters, reader, now: now)
        }
        func answer(looksForAttribute: Bool) async throws -> AnyAnswer? {
            try await unlessTooMuch {
                let current = try await currentRows(
                    meant.rowSelection.filters, withFamilies: meant.looksAtFamilies, names, now: now)
                return try await self.answer(RowReading(meant, current, looksForAttribute: looksForAttribute))
            }
        }
        do { return try await answer(looksForAttribute: false) } catch let failure as QueryFailure {
            // Only transactions that don't count may have the attribute.
            guard meant.namesAttribute else { throw failure }
            return try await answer(looksForAttribute: true)
        }
    }

    private func answer(_ reading: RowReading) async throws -> AnyAnswer {
        let (question, current, now) = (reading.question, reading.current, reading.current.now)
        // A certified answer counts what each source owes.
        let sources = question.isCertified ? try await tables.allSources() : []
        let thread = try await memory(of: current.changed, besides: sources)
        let elsewhere = try await knownElsewhere(reading)
        let interruption = Interruption(after: readLimit, by: clock)
        @Sendable func partial(_ reader: StoreReader, of rows: [TransactionRow]?) throws -> PartialAnswer {
            try QueryFailure.ofQuestion {
                try question.partial(from: reader, of: rows, besides: elsewhere, now: now)
            }
        }
        func partial(from thread: StoreThread<MemoryStore>, of rows: [TransactionRow]?) async throws -> PartialAnswer {
            try await thread.run(until: interruption) { memory, interruption in
                try memory.reader.reading(until: interruption) { try partial(memory.reader, of: rows) }
            }
        }
        var all = try await partial(from: thread, of: nil)
        let contents = try await thread.run { (memory) throws in try question.rowContents(memory.reader) }
        func add(_ rows: [TransactionRow]) async throws { try all.merge(try await partial(from: thread, of: rows)) }
        if let exchanges = reading.exchanges {
            try await tables.exchanges(where: reading.condition, exchanges, eachGroup: add)
        } else {
            try await tables.transactions(
                where: reading.condition, first: reading.first, reading: contents, isChosen: reading.isChosen,
                now: now, eachGroup: add)
        }
        let selection = question.rowSelection
        if case .exchangesOutsideTransactions = selection.others, try await tables.hasFactsOutsideTransactions() {
            var outside = try await FactRangeReader(tables, factsEach: factsPerRange, isWhole: false)
            let names = outside.books.names
            while let (facts, spans) = try await outside.next() {
                let some = try await MemoryStore.thread(with: names)
                try await some.replay(facts, spans)
                try all.merge(try await partial(from: some, of: nil))
            }
        }
        let answer = try QueryFailure.ofQuestion { try all.answer() }
        guard answer.whyEmpty != nil else { return answer }
        let reason = try await emptyReason(selection.transactions, current)
        var exchangeCount = reading.exchanges == nil ? 0 : try await tables.exchangeCount(current)
        if case .network = question, case .none = selection.others {
            exchangeCount &+= try await exchangeCountOutside()
        }
        all.add(reason, exchangeCount: exchangeCount)
        return try QueryFailure.ofQuestion { try all.answer() }
    }

    private func knownElsewhere(_ reading: RowReading) async throws -> KnownElsewhere {
        var known = KnownElsewhere()
        let (question, current) = (reading.question, reading.current)
        if reading.looksForAttribute {
            var begun = TransactionFilter()
            begun.beginner = question.rowSelection.transactions.beginner
            known.attributes = try await tables.attributes(where: current.sql(begun))
        }
        if question.isCertified { known.open = try await tables.openTransactions(where: "1\(current.areCurrent)") }
        if let (time, beginner) = question.knownErrors {
            var earlier = TransactionFilter([.untilMicroseconds(time)])
            earlier.beginner = beginner
            known.errors = try await tables.errors(where: current.sql(earlier))
        }
        return known
    }

    /// Counts the rows that pass more and more of a filter.
    ///
    /// - Parameter isNone: Whether no row is known to pass the whole filter.
    func emptyReason(
        _ filter: TransactionFilter, _ current: CurrentRows, isNone: Bool = false
    ) async throws -> EmptyReason {
        let near = try await tables.endOfNear(.newest, behind: nil)
        func latest(_ limit: Int, of filter: TransactionFilter) async throws -> [GUID] {
            try await tables.transactions(
                where: current.sql(filter), .newest, limit: limit, behind: nil, near: near)
        }
        var (everywhere, joined) = (TransactionFilter(), filter)
        (everywhere.beginner, joined.beginner) = (.any, .unknown)
        var found = EmptyReason(filter)
        let filters = found.filters
        for (index, passed) in filters.enumerated() {
            let isAny = isNone && index == filters.count - 1 ? false : try await !latest(1, of: passed).isEmpty
            found.passing.append(isAny ? 1 : 0)
            guard isAny else { break }
        }
        // Most take long to count, and a sentence has only the last number.
        if let last = found.passing.lastIndex(of: 1) {
            found.passing[last] = try await latest(EmptyReason.countLimit + 1, of: filters[last]).count
            found.isAny = true
        } else {
            found.isAny = try await !latest(1, of: everywhere).isEmpty
        }
        if filter.beginner == .known { found.areJoined = try await !latest(1, of: joined).isEmpty }
        if let before = found.filterBeforeTimes, let newest = try await latest(1, of: before).first {
            let its = "tx = \(ClickHouseTables.literal(newest))"
            found.newest =
                try await tables.rows("max(begun_us)", where: its) { row in try row.integer(Int64.self) }.first ?? .min
        }
        for case .attribute(let name, _) in filter.terms {
            everywhere.conditions = [.attribute(name, value: nil)]
            if try await !latest(1, of: everywhere).isEmpty { found.attributes.insert(name) }
        }
        if filter.useCase != nil, found.passing.count == 2 {
            found.useCases = Set(try await tables.useCases(where: current.sql(filters[0])))
        }
        if let (name, before) = found.attribute, found.attributes.contains(name) {
            var here = before
            here.conditions.append(.attribute(name, value: nil))
            found.values = try await tables.values(of: name, in: latest(EmptyReason.countLimit, of: here))
        }
        let reason = found
        return try await read(current.names) { reader in
            var named = reason
            try named.addNames(from: reader)
            return named
        }
    }
}

extension ClickHouseTables {
    fileprivate func rows<Value>(
        _ columns: String, where clauses: String, _ row: (inout RowBinaryReader) throws -> Value
    ) async throws(WaybillError) -> [Value] {
        try await client.rows("SELECT \(columns) FROM transactions FINAL WHERE gone = 0 AND \(clauses)", reading, row)
    }

    func exchangeCount(_ current: CurrentRows) async throws(WaybillError) -> Int {
        let count = "toInt64(sum(length(exchange_parts)))"
        return try await rows(count, where: "1\(current.areCurrent)") { row in
            Int(clamping: try row.integer(Int64.self))
        }.first ?? 0
    }

    fileprivate func allSources() async throws(WaybillError) -> Set<GUID> {
        Set(try await ids("SELECT DISTINCT source FROM books WHERE \(Self.isOfASource)"))
    }

    fileprivate func attributes(where condition: String) async throws(WaybillError) -> Set<String> {
        Set(try await rows("DISTINCT arrayJoin(attribute_names)", where: condition) { row in try row.text() })
    }

    fileprivate func openTransactions(where condition: String) async throws(WaybillError) -> [GUID: Int64] {
        let open = "\(condition) AND outcome = \(TransactionOutcome.open.rawValue) GROUP BY source"
        let counts = try await rows("source, toInt64(count())", where: open) { row in
            (try row.guid(), try row.integer(Int64.self))
        }
        return Dictionary(counts) { first, _ in first }
    }

    fileprivate func errors(where condition: String) async throws(WaybillError) -> Set<RecordedError> {
        let failed = "\(condition) AND has_error = 1 GROUP BY error_identity"
        let errors = try await rows("any(error_code), any(error)", where: failed) { row in
            let code: Int64 = try row.integer()
            return DetailColumn(try row.text()).error(code: code)?.identity
        }
        return Set(errors.compactMap(\.self))
    }

    fileprivate func useCases(where condition: String) async throws(WaybillError) -> [Int] {
        let first = "\(condition) ORDER BY use_case LIMIT \(EmptyReason.namedUseCases)"
        return try await rows("DISTINCT use_case", where: first) { row in Int(try row.integer(Int64.self)) }
    }

    /// Counts the latest values of an attribute in some transactions; `nil` without any.
    fileprivate func values(of name: String, in transactions: [GUID]) async throws(WaybillError) -> [String: Int]? {
        let value = "attribute_values[indexOf(attribute_names, \(Self.literal(name)))]"
        let found = try await rows(
            "SELECT \(value) FROM transactions FINAL WHERE gone = 0 AND tx IN (?)", of: transactions
        ) { row in Attributes(columnText: try row.text())[""].map { "\($0)".prefix(40).description } }
        guard !found.isEmpty else { return nil }
        return found.compactMap(\.self).reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
}

private struct RowReading: Sendable {
    let question: AnyQuestion
    let current: CurrentRows
    let looksForAttribute: Bool
    var condition: String
    var first: String?
    var isChosen = "1"
    var exchanges: String?

    init(_ question: AnyQuestion, _ current: CurrentRows, looksForAttribute: Bool) {
        (self.question, self.current, self.looksForAttribute) = (question, current, looksForAttribute)
        let (selection, conditions) = (question.rowSelection, current.conditions)
        condition = conditions.sql(selection.transactions)
        switch selection.others {
        case .none, .exchangesOutsideTransactions: first = RowConditions.sample(of: selection.transactions)
        case .matching(let filter):
            isChosen = "toUInt8(\(condition))"
            condition = conditions.sql(filter)
            first = RowConditions.sample(of: filter)
        case .withExchanges:
            isChosen = "toUInt8(\(condition))"
            condition = "(\(condition) OR notEmpty(exchange_parts))"
        }
        condition += current.areCurrent
        exchanges = selection.exchanges.map { conditions.sql($0, about: .exchanges) }
    }
}

extension RowConditions {
    /// - Throws: ``WorkingSet/TooMuch`` if SQL can't express the names in the filters.
    init(of filters: [TransactionFilter], _ reader: StoreReader, now: Int64) throws {
        self.now = now
        for name in filters.flatMap(\.events) {
            guard let meanings = try reader.meanings(ofEvent: name) else { throw WorkingSet.TooMuch() }
            events[name] = meanings
        }
        for text in filters.flatMap(\.texts) {
            guard let codes = try reader.codes(mentioning: text) else { throw WorkingSet.TooMuch() }
            mentions[text] = codes
        }
    }
}
#endif
