#if ClickHouse
import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillStore

@testable import WaybillClickHouse

/// Questions answered from the rows of transactions.
@Suite(.timeLimit(.minutes(15)), .enabled(if: ClickHouseEngine.isThere)) struct RowTests {
    /// Breaks when questions do not read the rows, or do not also read later changes: then the loss of either table
    /// would make no difference.
    @Test(arguments: ["transactions", "changed"]) func bothTablesCount(table: String) async throws {
        let address = try await ClickHouseEngine.shared.database()
        let store = try await ClickHouseStore(address)
        var shop = Shop(seed: 13)
        for _ in 0..<5 { shop.buy() }
        let sets = shop.sets()
        let summary = AnyQuestion.summary(SummaryQuestion())
        var facts = store
        (facts.readsAll, facts.factsPerRange) = (true, 10)
        try await store.add([sets[0]])
        try await store.queue.keeper.run(isAlone: true)
        try await store.add([sets[1]])
        #expect(try await store.answerByRows(summary, where: []) == facts.answer(summary, where: []))
        try await store.queue.keeper.run(isAlone: true)
        #expect(try await store.answerByRows(summary, where: []) == facts.answer(summary, where: []))
        var later = shop
        later.buy()
        // Then the store does not make rows in the background.
        store.queue.keeper.isAwake.withLock { $0 = true }
        try await store.add(later.sets())
        try await ClickHouseClient(address).run("TRUNCATE TABLE \(table)")
        #expect(try await store.answerByRows(summary, where: []) != facts.answer(summary, where: []))
    }

    /// Breaks when a process that ends before it has made its rows leaves them wrong, or when no process makes them
    /// later.
    @Test func whatAProcessLeavesIsMadeByAnother() async throws {
        let address = try await ClickHouseEngine.shared.database()
        let store = try await ClickHouseStore(address)
        var shop = Shop(seed: 11)
        for _ in 0..<10 { shop.buy() }
        try await store.add(shop.sets())
        try await store.queue.keeper.run(isAlone: true)
        #expect(try await store.tables.changedTransactions(limit: 100).isEmpty)
        // Like a process that was killed between its claim and its rows.
        try await store.tables.insert([(place: 1 << 41, state: .begun, transactions: shop.transactions)])
        #expect(try await store.tables.changedTransactions(limit: 100) == Set(shop.transactions))
        let summary = AnyQuestion.summary(SummaryQuestion())
        var facts = store
        (facts.readsAll, facts.factsPerRange) = (true, 10)
        #expect(try await store.answer(summary, where: []) == facts.answer(summary, where: []))
        try await ClickHouseStore(address).queue.keeper.run()
        #expect(try await store.tables.changedTransactions(limit: 100).isEmpty)
        #expect(try await store.answer(summary, where: []) == facts.answer(summary, where: []))
    }

    /// Breaks when transactions that are too large together are not made one after the other, or when a single one that
    /// is too large keeps others from being made or is left out of answers.
    @Test(arguments: [(facts: 25, changed: 0), (facts: 0, changed: 6)])
    func largeTransactionsAreMadeInParts(limit: (facts: Int, changed: Int)) async throws {
        let store = try await ClickHouseStore(ClickHouseEngine.shared.database())
        store.queue.keeper.isAwake.withLock { $0 = true }
        var shop = Shop(seed: 14)
        for _ in 0..<6 { shop.buy() }
        try await store.add(shop.sets())
        let numbers = ArrivalNumbers()
        try await TransactionKeeper(store.tables, numbers, factLimit: limit.facts).run(isAlone: true)
        #expect(try await store.tables.changedTransactions(limit: 100).count == limit.changed)
        guard case .summary(_, let answer) = try await store.answer(.summary(SummaryQuestion()), where: []) else {
            return
        }
        #expect(answer.useCases.map(\.runs) == [6])
    }

    /// Breaks when changes are kept forever, or when changes with outdated rows are deleted.
    @Test func changesOfPastDaysAreDeleted() async throws {
        try await expectDeletion(in: ClickHouseEngine.shared.database())
    }

    /// Breaks when servers of 2018 do not delete these changes, or read nothing afterwards.
    @Test(.enabled(if: ClickHouseEngine.isClusterThere)) func changesOfPastDaysAreDeletedOnACluster() async throws {
        try await expectDeletion(in: ClickHouseEngine.cluster.database())
    }

    private func expectDeletion(in address: ClickHouseAddress) async throws {
        let tables = try await ClickHouseStore(address).tables
        let day = ClickHouseSchema.placesPerPartition
        for start in [5 * day, 6 * day, 7 * day] {
            try await tables.insert([
                (place: start, state: .written, transactions: [GUID()]), (place: start, state: .made, transactions: []),
            ])
            if start == 6 * day {
                try await tables.insert([(place: start + 1, state: .written, transactions: [GUID()])])
            }
        }
        try await tables.removeChanges(before: 7 * day)
        // Replicas catch up a moment later.
        try await eventually("all replicas have removed the first day") {
            let left = try await tables.client.rows("SELECT DISTINCT place FROM changed ORDER BY place") { row in
                try row.integer(Int64.self)
            }
            return left == [6 * day, 6 * day + 1, 7 * day]
        }
        #expect(try await tables.changedTransactions(limit: 10).count == 1)
    }

    /// Breaks when the data of an erased transaction stays in its row.
    @Test func rowsOfErasedTransactionsAreRemoved() async throws {
        let address = try await ClickHouseEngine.shared.database()
        let store = try await ClickHouseStore(address)
        var shop = Shop(seed: 12)
        for _ in 0..<4 { shop.buy() }
        try await store.add(shop.sets())
        try await store.queue.keeper.run(isAlone: true)
        _ = try await store.erase(.transactions([shop.transactions[1]]))
        try await store.queue.keeper.run(isAlone: true)
        let rows = try await store.tables.client.rows(
            "SELECT gone, length(sources) FROM transactions WHERE tx = \(ClickHouseTables.literal(shop.transactions[1]))"
        ) { row in "\(try row.integer(UInt8.self)), \(try row.integer(UInt64.self))" }
        #expect(Set(rows) == ["1, 0"])
        guard case .summary(_, let answer) = try await store.answer(.summary(SummaryQuestion()), where: []) else {
            return
        }
        #expect(answer.useCases.map(\.runs) == [3])
    }

    /// Breaks when transactions are left out because SQL cannot express all names of their events.
    @Test(arguments: [
        (filter: "event:sent", count: 1, isByRows: false), ("event:paid", 1, false), ("-event:paid", 114, false),
        ("event:opened", 111, true), ("event:closed", 110, false), ("event:aborted", 1, false), ("step", 1, true),
        ("part", 1, false),
    ]) func eventsAreFoundByEachOfTheirNames(filter: String, count: Int, isByRows: Bool) async throws {
        var store = try await ClickHouseStore(ClickHouseEngine.shared.database())
        func recorder(_ version: String, useCase: Int, _ codes: Int...) -> Recorder {
            var recorder = Recorder("shop", version: version, GUID())
            let part = recorder.add(.opened(Fact.Opened(transaction: GUID(), useCase: useCase)))
            for code in codes { recorder.add(.event(Fact.Event(code: code)), part: part) }
            return recorder
        }
        func share(_ recorder: Recorder, _ useCase: Int, _ names: [String]) -> TransactionSet.Share {
            var share = recorder.share(recorder.facts)
            share.names = names.enumerated().map { RecordedName(useCase: useCase, event: $0 + 1, name: $1) }
            return share
        }
        // Two launches of a version have different names, and very many versions the same ones.
        var shares = ["sent", "paid"].map { share(recorder("1", useCase: 1, 1), 1, [$0]) }
        for version in 0...110 {
            let names = ["opened", version == 0 ? "aborted" : "closed"]
            shares.append(share(recorder("2.\(version)", useCase: 2, 1, 2), 2, names))
        }
        shares.append(share(recorder("1", useCase: 3, 250), 3, (1...300).map { "step \($0)" }))
        shares.append(share(recorder("1", useCase: 4, 1_001), 4, (1...1_001).map { "part \($0)" }))
        try await store.add([TransactionSet(id: GUID(), sources: shares)])
        try await store.queue.keeper.run(isAlone: true)
        if isByRows { store.factLimit = 0 }
        #expect(try await store.transactions(ListRequest([.filter: filter, .limit: "500"])).rows.count == count)
    }

    /// Breaks when the index of events and outcomes omits one of a transaction.
    @Test(arguments: [
        ("serverRejected", "failed", 1), ("requestSent", "failed", 1), ("requestSent", "timed_out", 1),
        ("requestSent", "failed,cancelled", 1), ("requestSent", "succeeded", 0), ("requestSent", "cancelled", 0),
    ]) func eventsAreListedByOutcome(event: String, outcome: String, count: Int) async throws {
        var store = try await ClickHouseStore(ClickHouseEngine.shared.database())
        let login = LoginHistory()
        try await store.add([login.clientSet(), login.serverSet(), LoginHistory().clientSet(1...5)])
        try await store.queue.keeper.run(isAlone: true)
        store.factLimit = 0
        let request = ListRequest([.filter: "event:\(event) outcome:\(outcome)"])
        #expect(try await store.transactions(request).rows.count == count)
    }

    /// Breaks when rows that others insert during an erasure stay because an equal block was pushed before.
    @Test(.enabled(if: ClickHouseEngine.isClusterThere)) func laterRowsAreRemovedOnACluster() async throws {
        let tables = try await ClickHouseStore(ClickHouseEngine.cluster.database()).tables
        for id in [GUID(), GUID()] {
            try await tables.insert([(id: id, row: nil)], version: 1)
            try await tables.insert(ClickHouseTables.removals(ofRows: [id], before: 2), at: 1)
            try await tables.removeAll(at: 1)
        }
        #expect(try await tables.removals().isEmpty)
    }

    /// Breaks when a truncated row is read as a smaller transaction.
    @Test func aRowThatIsCutShortIsRefused() throws {
        var row = TransactionRow(id: GUID(), opening: FactID(source: GUID(), sequence: 1))
        row.sources = [row.opening.source, GUID()].map { id in
            var source = TransactionRow.Source(id: id)
            (source.app, source.clock) = ("shop", WallClock([ClockAnchor(atMicroseconds: 5, offsetMicroseconds: .min)]))
            return source
        }
        row.parts = [0, 1].map { TransactionRow.Part(source: $0, useCase: 3) }
        row.parts[1].cause = FactID(source: row.opening.source, sequence: .max)
        row.events = [.min, .max].map { TransactionRow.Event(part: 1, sequence: 2, at: $0, code: 70) }
        let (written, bytes) = (row, RowBinaryWriter { $0.timeline(row) }.bytes)
        func read(_ count: Int) throws -> TransactionRow {
            var (text, contents) = (RowBinaryWriter(), RowContents())
            text.string(bytes.prefix(count))
            (contents.codes, contents.readsExchanges) = (nil, true)
            var found = TransactionRow(id: written.id, opening: written.opening)
            try text.bytes.withUnsafeBytes { bytes in
                var reader = RowBinaryReader(bytes)
                try reader.nested(of: written.id) { try $0.timeline(of: &found, contents) }
            }
            return found
        }
        for count in bytes.indices { #expect(throws: WaybillError.self) { try read(count) } }
        let whole = try read(bytes.count)
        #expect(whole.events.map(\.at) == [.min, .max])
        #expect(whole.sources.map(\.clock) == written.sources.map(\.clock))
        #expect(whole.parts.map(\.cause) == written.parts.map(\.cause))

        let listed = RowBinaryWriter { $0.listed(written) }.bytes
        func list(_ count: Int) throws -> ListedRow {
            let text = RowBinaryWriter { writer in
                writer.guid(written.id)
                writer.string(listed.prefix(count))
            }
            return try text.bytes.withUnsafeBytes { bytes in
                var reader = RowBinaryReader(bytes)
                return try reader.listed(.longest, now: 0)
            }
        }
        for count in listed.indices { #expect(throws: WaybillError.self) { try list(count) } }
        let shown = try list(listed.count)
        #expect(shown.app == "shop" && shown.row.eventCount == 2 && shown.row.sourceCount == 2)
        #expect(shown.place.listed == ListCursor.places.lowerBound)
    }
}

extension RowBinaryWriter {
    fileprivate init(_ write: (inout RowBinaryWriter) -> Void) {
        self.init()
        write(&self)
    }
}
#endif
