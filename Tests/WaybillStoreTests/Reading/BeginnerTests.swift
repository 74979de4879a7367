import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// Anyone can make up a header field. A transaction with only joined parts is not counted until its beginner is known.
@Suite(.timeLimit(.minutes(5))) struct BeginnerTests {
    private let store: Store
    private let reader: StoreReader
    private let client = FactWriter("client")
    private let server = FactWriter("server")
    private let begun = GUID()
    private let madeUp = GUID()

    init() throws {
        let place: ResolvedLocation
        (store, place) = try Store.inMemory()
        reader = try StoreReader(place)
        client.close(client.open(begun), .failed)
        for (number, transaction) in [begun, madeUp, GUID()].enumerated() {
            let attributes: Attributes = transaction == begun ? [:] : ["by": "server"]
            let part = server.open(transaction, useCase: number, joined: true, attributes: attributes)
            server.openExchange(Fact.ExchangeOpened(role: .server, method: "GET", path: "/\(number)"), part: part)
            if number < 2 { server.close(part, .failed) }
        }
    }

    private func filter(_ beginner: TransactionFilter.Beginner) -> TransactionFilter {
        var filter = TransactionFilter()
        filter.beginner = beginner
        return filter
    }

    private func runs(_ beginner: TransactionFilter.Beginner) throws -> [Int] {
        try reader.answer(SummaryQuestion(filter: filter(beginner)), now: FactWriter.wall).useCases.map(\.useCase)
    }

    /// Breaks when a made-up transaction appears in a list, a number or an answer that does not ask for such
    /// transactions.
    @Test func theyStayOutOfListsTotalsAndAnswers() throws {
        try store.ingest(client.set())
        try store.ingest(server.set())
        #expect(try reader.all(TransactionFilter()).map(\.id) == [begun])
        #expect(try reader.count(TransactionFilter(), now: FactWriter.wall) == 1)
        #expect(try reader.counts(now: FactWriter.wall) == TransactionCounts(open: 0, failed: 1))
        #expect(try runs(.known) == [0])
        let seen = try reader.seenValues(TransactionFilter(), limit: 9, now: FactWriter.wall)
        #expect(seen.attributes == [], "the server's are of no transaction that is listed")
        #expect(throws: WaybillError.self) {
            let question = DurationQuestion(filter: TransactionFilter(), segmentation: .attribute("by"))
            return try reader.answer(question, now: FactWriter.wall)
        }
        for order in TransactionFilter.Order.allCases {
            var filter = TransactionFilter()
            filter.order = order
            #expect(try reader.all(filter).count == 1)
        }
    }

    /// Breaks when a later part represents a transaction without a beginner. Its time and its use case would be wrong.
    @Test(arguments: [true, false]) func theEarliestJoinedPartRepresentsATransaction(arrivesFirst: Bool) throws {
        let transaction = GUID()
        let (early, late) = (FactWriter("early"), FactWriter("late"))
        late.open(transaction, useCase: 8, joined: true, at: 60)
        early.open(transaction, useCase: 7, joined: true, at: 1)
        for writer in arrivesFirst ? [early, late] : [late, early] { try store.ingest(writer.set()) }
        let rows = try reader.all(filter(.unknown))
        #expect(rows.map(\.useCase) == [7])
    }

    /// Breaks when those who ask for such transactions can't see them.
    @Test func aFilterAsksForThem() throws {
        try store.ingest(client.set())
        try store.ingest(server.set())
        #expect(try reader.all(filter(.unknown)).count == 2 && reader.all(filter(.any)).count == 3)
        #expect(try runs(.unknown) == [1, 2] && runs(.any) == [0, 1, 2])
        #expect(try reader.transaction(madeUp, now: FactWriter.wall)?.exchanges.count == 1, "its ID is enough")
        let page = try reader.exchanges(matching: ExchangeFilter(), limit: 9, after: nil, now: FactWriter.wall)
        #expect(page.rows.count == 3, "exchanges are shown, with their transactions")
        let ofUseCase = ExchangeFilter([.not(.useCase(0))])
        let others = try reader.exchanges(matching: ofUseCase, limit: 9, after: nil, now: FactWriter.wall)
        #expect(others.rows.compactMap(\.transaction).contains(madeUp))
    }

    /// Breaks when a client that arrives later than its server is not listed, or not reported as a change.
    @Test func theyAreThereOnceTheirBeginnerCame() throws {
        try store.ingest(server.set())
        #expect(try reader.all(TransactionFilter()).isEmpty)
        let before = try reader.changes(
            after: nil, matching: TransactionFilter(), limit: 9, after: nil, now: FactWriter.wall
        ).position
        try store.ingest(client.set())
        #expect(try reader.all(TransactionFilter()).map(\.sourceCount) == [2])
        #expect(try reader.all(filter(.unknown)).count == 2)
        let changes = try reader.changes(
            after: ExportCursor(try #require(before)), matching: TransactionFilter(), limit: 9, after: nil,
            now: FactWriter.wall)
        #expect(changes.rows.map(\.id) == [begun])
    }

    /// Breaks when the neighbor of a transaction with a beginner is a made-up one.
    @Test func neighborsAreOfTheirKind() throws {
        let own = FactWriter("both")
        let ids = (0..<6).map { _ in GUID() }
        for (number, id) in ids.enumerated() { own.open(id, joined: number % 2 == 1) }
        try store.ingest(own.set())
        for (id, others) in [(ids[2], (ids[0], ids[4])), (ids[3], (ids[1], ids[5]))] {
            let found = try reader.neighbors(of: id, now: FactWriter.wall)
            #expect(found.before?.id == others.0 && found.after?.id == others.1)
        }
    }

    /// Breaks when anyone who knows the ID of a transaction can make lists show their part in place of the beginner's,
    /// or when the order of arrival decides.
    @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    func ofSeveralWhoSayTheyBeganItTheOneThatCalledOthersLeads(order: [Int]) throws {
        let (shared, other) = (GUID(), GUID())
        let writers = (0..<3).map { _ in FactWriter() }.sorted { $0.id < $1.id }
        let (impostor, client, server) = (writers[0], writers[1], writers[2])
        for transaction in [shared, other] {
            client.open(transaction, attributes: ["by": "client"])
            impostor.open(transaction, attributes: ["by": "impostor"])
        }
        server.open(shared, joined: true, cause: FactID(source: client.id, sequence: 7))
        server.open(other, joined: true)
        // A source's claims about itself prove nothing.
        impostor.open(shared, joined: true, cause: FactID(source: impostor.id, sequence: 7))
        for index in order { try store.ingest([client, impostor, server][index].set()) }
        func leader(_ id: GUID) throws -> AttributeValue? {
            try reader.all(TransactionFilter()).first { $0.id == id }?.attributes["by"]
        }
        #expect(try leader(shared) == "client")
        #expect(try leader(other) == "impostor", "where nobody was called, the lower ID decides in any order")
        let record = try #require(try reader.transaction(shared, now: FactWriter.wall))
        #expect(record.parts.filter { !$0.isJoined }.map(\.id.source) == [client.id, impostor.id])
    }
}
