import Foundation
import StoreConformance
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import WaybillQueries
@testable import WaybillStore

/// Erasing in a store that receives facts from other sources.
@Suite(.timeLimit(.minutes(5))) struct RefusalTests {
    private let store: Store
    private let place: ResolvedLocation
    private let installation = GUID()
    private let transaction = GUID()
    private let client = FactWriter("client")
    private let server = FactWriter("server")

    init() throws {
        (store, place) = try Store.inMemory()
        client.source.installation = installation
        server.source.installation = GUID()
        client.close(client.open(transaction), .succeeded)
        let part = server.open(transaction, joined: true)
        server.event(1, part: part)
        server.open(GUID())
    }

    private func expectSound() throws { #expect(try StoreReader(place).verify().problems == []) }
    private func count(_ sql: String) throws -> Int { try store.connection.integer(sql) }

    /// Breaks when any data of the installation stays, or when other sources keep their part of its transactions or
    /// lose other facts.
    @Test func anInstallationGoesEntirelyAndTakesItsTransactionsAlong() throws {
        try store.ingest(client.set())
        try store.ingest(server.set())
        #expect(try store.erase(.installation(installation), at: 0) == Erasure(transactionCount: 1, factCount: 4))
        let sources = try StoreReader(place).sources()
        #expect(sources.map(\.id) == [server.id])
        #expect(sources.first?.ledger == Ledger(recorded: 3, delivered: 1, dropped: ["erased": 2]))
        for table in Tables.bySource {
            #expect(try count("SELECT count(*) FROM \(table) WHERE source <> 2") == 0, "\(table)")
        }
        try expectSound()
    }

    /// Breaks when erased data comes back with the next set, in either order.
    @Test(arguments: [true, false])
    func whatComesOfAnErasedInstallationIsRefused(serverFirst: Bool) throws {
        _ = try store.erase(.installation(installation), at: 0)
        for writer in serverFirst ? [server, client] : [client, server] { try store.ingest(writer.set()) }
        let receipts = [try store.ingest(client.set()), try store.ingest(server.set())]
        #expect(receipts.map { $0.rejections.map(\.reason) } == [["erased", "erased"], ["erased", "erased"]])
        #expect(receipts.map(\.knownCount) == [0, 1])
        #expect(try StoreReader(place).sources().map(\.id) == [server.id])
        #expect(try StoreReader(place).transaction(transaction, now: 0) == nil)
        try expectSound()
    }

    /// Breaks when a fact that never arrived is booked as erased, together with the closing that did arrive.
    @Test func ofAnExchangeWithoutItsOpeningOnlyTheClosingGoes() throws {
        let writer = FactWriter()
        let part = writer.open(GUID())
        let exchange = writer.openExchange(part: part)
        writer.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: part)
        var share = writer.share(dropped: [DroppedRange(first: exchange, last: exchange, reason: .damaged)])
        share.facts.removeAll { $0.sequence == exchange }
        try store.ingest(TransactionSet(id: GUID(), sources: [share]))
        #expect(try store.erase(.all, at: 0) == Erasure(transactionCount: 1, factCount: 2))
        let ledger = try #require(try StoreReader(place).source(writer.id)).ledger
        #expect(ledger == Ledger(recorded: 3, dropped: ["erased": 2, "damaged": 1]))
    }

    /// Breaks when the clock of another source decides when an exchange outside of any transaction began.
    @Test func whatBeganBeforeATimeGoesByTheClockOfItsOwnSource() throws {
        for hour: Int64 in [0, 2, 4] {
            let writer = FactWriter(wall: FactWriter.wall + hour * 3_600_000_000)
            writer.openExchange(part: 0)
            try store.ingest(writer.set())
        }
        #expect(
            try store.erase(.begunBefore(Date(microseconds: FactWriter.wall + 3 * 3_600_000_000)), at: 0).factCount == 2
        )
        #expect(try count("SELECT count(*) FROM exchanges") == 1)
    }

    /// Breaks when erasing one device, here a server, removes transactions that others began because it took part in
    /// them.
    @Test func theTransactionsThatOthersBeganStay() throws {
        try store.ingest(client.set())
        try store.ingest(server.set())
        _ = try store.erase(.installation(try #require(server.source.installation)), at: 0)
        let record = try #require(try StoreReader(place).transaction(transaction, now: 0))
        #expect(record.parts.map(\.id.source) == [client.id])
        #expect(try store.ingest(server.set()).rejections.count == 3)
        try expectSound()
    }

    /// Breaks when a later fact of an erased part makes a part without a beginning, or appears as a gap.
    @Test func whatComesLaterOfAnErasedTransactionIsRefused() throws {
        try store.ingest(client.set(1...1))
        _ = try store.erase(.transactions([transaction]), at: 0)
        let receipt = try store.ingest(client.set(1...2))
        #expect(receipt.rejections.map(\.reason) == ["erased", "erased"] && receipt.acceptedCount == 0)
        #expect(try StoreReader(place).sources().first?.ledger == Ledger(recorded: 2, dropped: ["erased": 2]))
        #expect(try StoreReader(place).sources().first?.gaps == [])
        #expect(try count("SELECT count(*) FROM parts") == 0)
        try expectSound()
    }

    /// Breaks when the facts of a part stay because they arrived before the opening that names their transaction.
    @Test func whatCameBeforeItsOpeningIsErasedWhenThatComes() throws {
        _ = try store.erase(.transactions([transaction]), at: 0)
        #expect(try store.ingest(server.set(2...2)).acceptedCount == 1)
        #expect(try store.ingest(server.set(1...1)).rejections.map(\.reason) == ["erased"])
        #expect(try store.facts(of: server.id) == [])
        #expect(try store.ingest(server.set()).acceptedCount == 1)
        try expectSound()
    }

    /// Breaks when a device's user erases facts that are being delivered, and the collector keeps them.
    @Test func whatADeviceErasedWhileItWasOnItsWayIsErasedHereToo() throws {
        let (device, _) = try Store.inMemory()
        try client.record(into: device)
        let lost = try #require(try device.lease())
        #expect(try store.ingest(lost).acceptedCount == 2)
        _ = try device.erase(.all, at: 0)
        let told = try #require(try device.lease())
        try store.ingest(told)
        #expect(try StoreReader(place).all() == [])
        #expect(try StoreReader(place).sources().map(\.ledger) == [Ledger(recorded: 2, dropped: ["erased": 2])])
        #expect(try device.settle(told.id, rejections: [], at: 0))
        #expect(try store.ingest(lost).rejections.count == 2)
        try expectSound()
    }

    /// Breaks when a remaining row still contains something about a fact that its source has erased.
    @Test func ofAPartThatStaysTheErasedFactsGo() throws {
        let writer = FactWriter()
        let part = writer.open(GUID())
        writer.event(1, part: part)
        let exchange = writer.openExchange(part: part)
        writer.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed), part: part)
        writer.close(part, .failed, error: RecordedError(code: 7))
        try store.ingest(writer.set())
        try store.ingest(writer.set(1...1, dropped: [DroppedRange(first: 4, last: 5, reason: .erased)]))
        #expect(try store.facts(of: writer.id) == Array(writer.facts[..<3]))
        let summary = try #require(try StoreReader(place).all().first)
        #expect(summary.outcome == .open && summary.error == nil && summary.durationMicroseconds == nil)
        #expect(try count("SELECT last FROM parts") == 3 && count("SELECT last_at_us FROM parts") == 3_000_000)
        try expectSound()
    }

    /// Breaks when the rows depend on whether facts arrived before or after the erasure, or on their order.
    @Test(arguments: seeds(0..<200))
    func theSameRowsWheneverItIsErased(seed: Int) throws {
        var maker = HistoryMaker(seed: seed)
        var histories = maker.histories()
        beginOnce(&histories)
        var scopes: [ErasureScope] = []
        if let id = histories.compactMap(\.source.installation).randomElement(using: &maker.random) {
            scopes.append(.installation(id))
        }
        let transactions = histories.flatMap(\.facts).compactMap { fact -> GUID? in
            if case .opened(let content) = fact.content { content.transaction } else { nil }
        }
        if let id = transactions.randomElement(using: &maker.random) { scopes.append(.transactions([id])) }
        var cutter = SetMaker(random: maker.random)
        let dumps = try (0..<3).map { _ in
            let (store, place) = try Store.inMemory()
            var steps: [Step] = cutter.sets(of: histories).map { .set($0) }
            for scope in scopes {
                steps.insert(.erasure(scope), at: Int.random(in: 0...steps.count, using: &maker.random))
            }
            for step in steps {
                switch step {
                case .set(let set): _ = try store.ingest(try TransactionSet.decode(set.encoded()), receivedAt: 5)
                case .erasure(let scope): _ = try store.erase(scope, at: 5)
                }
            }
            #expect(try StoreReader(place).verify().problems == [], "seed \(seed)")
            // Names are an app version's labels for its codes. They reveal nothing about an installation, and stay.
            return try store.dump().filter { !$0.hasPrefix("names ") }
        }
        #expect(dumps[0] == dumps[1] && dumps[1] == dumps[2], "seed \(seed)")
    }

    /// Makes the first source that begins a transaction its only beginner. If two installations began one transaction,
    /// its joined parts would stay or be erased depending on the order of arrival.
    private func beginOnce(_ histories: inout [SourceHistory]) {
        var beginners: [GUID: Int] = [:]
        for (source, history) in histories.enumerated() {
            for (index, fact) in history.facts.enumerated() {
                guard case .opened(var opened) = fact.content, !opened.isJoined else { continue }
                let beginner = beginners[opened.transaction] ?? source
                beginners[opened.transaction] = beginner
                opened.isJoined = beginner != source
                histories[source].facts[index].content = .opened(opened)
            }
        }
    }

    private enum Step {
        case set(TransactionSet)
        case erasure(ErasureScope)
    }
}
