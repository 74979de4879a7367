import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

@Suite(.timeLimit(.minutes(5))) struct IngestTests {
    private let store: Store
    private let place: ResolvedLocation
    private let client = FactWriter()

    init() throws { (store, place) = try Store.inMemory() }

    private func dump(_ table: String) throws -> [String] { try store.dump().filter { $0.hasPrefix(table + " ") } }

    /// Breaks when a repetition is counted or stored again.
    @Test func theSameSetPostedTwiceIsKnown() throws {
        client.close(client.open(GUID()), .succeeded)
        let set = client.set()
        #expect(try store.ingest(set) == Receipt(set: set.id, acceptedCount: 2))
        let before = try store.dump()
        #expect(try store.ingest(set) == Receipt(set: set.id, acceptedCount: 0, knownCount: 2))
        #expect(try store.dump() == before)
    }

    /// Breaks when a fact in two sets is stored twice, or its neighbors are not stored.
    @Test func ofOverlappingSetsOnlyTheNewIsAccepted() throws {
        let part = client.open(GUID())
        for code in 1...9 { client.event(code, part: part) }
        let counts = try [4...6, 1...5, 6...10, 1...10].map { try store.ingest(client.set($0)) }.map {
            [$0.acceptedCount, $0.knownCount]
        }
        #expect(counts == [[3, 0], [3, 2], [4, 1], [0, 10]])
        #expect(try dump("ranges").count == 1)
        #expect(try store.facts(of: client.id) == client.facts)
    }

    /// Breaks when the facts of a cloned process are counted as known and disappear.
    @Test func anotherFactWithAKnownSequenceIsRejected() throws {
        let (part, transaction) = (client.open(GUID()), GUID())
        client.event(1, part: part)
        let exchange = client.openExchange(part: part)
        client.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 200), part: part)
        client.close(part, .succeeded)
        try store.ingest(client.set())
        let before = try store.dump()

        let others: [(sequence: Int64, part: Int64, at: Int64, content: Fact.Content)] = [
            (1, 1, 1_000_000, .opened(Fact.Opened(transaction: transaction, useCase: 0))),
            (2, 1, 2_000_001, .event(Fact.Event(code: 1))),
            (2, 1, 2_000_000, .event(Fact.Event(code: 2))),
            (2, 2, 2_000_000, .opened(Fact.Opened(transaction: transaction, useCase: 0))),
            (3, 1, 3_000_001, .exchangeOpened(Fact.ExchangeOpened(method: "GET", path: "/"))),
            (4, 1, 4_000_001, .exchangeClosed(Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 200))),
            (5, 1, 5_000_001, .closed(Fact.Closed(outcome: .succeeded))),
            (5, .min, 5_000_000, .event(Fact.Event(code: 1))),
        ]
        for (sequence, part, at, content) in others {
            var share = client.share()
            share.facts = [Fact(sequence: sequence, part: part, atMicroseconds: at, content: content)]
            let receipt = try store.ingest(TransactionSet(id: GUID(), sources: [share]))
            #expect(receipt.rejections.map(\.reason) == [Receipt.Rejection.sequenceIsTaken], "\(content)")
        }
        #expect(try store.dump() == before)
        #expect(try store.ingest(client.set()).knownCount == 5)
    }

    /// Breaks when a collector with new redaction rules mistakes an honest repetition for another fact.
    @Test func aFactThatIsRedactedOtherwiseIsKnown() throws {
        let transaction = GUID()
        let part = client.open(transaction, attributes: ["plan": "gold"])
        client.event(1, part: part, attributes: ["card": "visa"])
        try store.ingest(client.set())
        var share = client.share()
        share.facts = [
            Fact(
                sequence: 1, part: 1, atMicroseconds: 1_000_000,
                content: .opened(
                    Fact.Opened(transaction: transaction, useCase: 0, attributes: ["plan": "[redacted]"]))),
            Fact(sequence: 2, part: 1, atMicroseconds: 2_000_000, content: .event(Fact.Event(code: 1))),
        ]
        let receipt = try store.ingest(TransactionSet(id: GUID(), sources: [share]))
        #expect(receipt.knownCount == 2 && receipt.rejections.isEmpty)
    }

    /// Breaks when a rejected fact is counted as received. It could never be sent again.
    @Test func aRejectedFactDoesNotEnterTheRangesAndCanBeSentAgain() throws {
        let part = client.open(GUID())
        client.close(part, .succeeded)
        client.close(part, .failed)
        client.event(1, part: part)
        let receipt = try store.ingest(client.set())
        #expect(receipt.acceptedCount == 3)
        #expect(
            receipt.rejections == [
                Receipt.Rejection(
                    source: client.id, sequence: 3, index: 2, reason: "the part is closed already by another fact")
            ])
        #expect(try StoreReader(place).sources().first?.gaps == [SourceRecord.Gap(first: 3, last: 3)])
        #expect(try StoreReader(place).all().map(\.outcome) == [.succeeded])

        // The corrected fact is accepted.
        var again = client.share(3...3)
        again.facts = [Fact(sequence: 3, part: part, atMicroseconds: 5, content: .event(Fact.Event(code: 7)))]
        #expect(try store.ingest(TransactionSet(id: GUID(), sources: [again])).acceptedCount == 1)
        #expect(try StoreReader(place).sources().first?.gaps == [])
    }

    /// Breaks when a second ending overwrites the first, or is accepted silently.
    @Test func anExchangeIsClosedOnce() throws {
        let exchange = client.openExchange(part: 0)
        client.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 200), part: 0)
        client.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .failed), part: 0)
        let receipt = try store.ingest(client.set())
        #expect(receipt.rejections.map(\.sequence) == [3])
        #expect(try store.facts(of: client.id) == Array(client.facts.prefix(2)))
    }

    /// Breaks when the indexes of rejections do not count unreadable facts, which are not among the decoded ones.
    @Test func rejectionsGiveThePlaceInTheSetAsItWasSent() throws {
        let part = client.open(GUID())
        client.close(part, .succeeded)
        client.close(part, .failed)
        var set = client.set()
        set.rejections = [
            Receipt.Rejection(source: client.id, sequence: nil, index: 0, reason: "no fact"),
            Receipt.Rejection(source: client.id, sequence: 9, index: 3, reason: "no fact"),
        ]
        let receipt = try store.ingest(set)
        #expect(receipt.rejections.map(\.index).sorted() == [0, 3, 4])
        #expect(receipt.factCount == 5)
    }

    /// Breaks when the order of arrival determines the transaction.
    @Test func aPartMayBeClosedBeforeItIsOpened() throws {
        let transaction = GUID()
        let part = client.open(transaction)
        client.event(1, part: part)
        client.close(part, .failed, error: RecordedError(code: 401))
        try store.ingest(client.set(3...3))
        #expect(try StoreReader(place).all() == [])
        try store.ingest(client.set(2...2))
        try store.ingest(client.set(1...1))
        let summary = try #require(try StoreReader(place).all().first)
        #expect(summary.id == transaction && summary.outcome == .failed && summary.error == RecordedError(code: 401))
        #expect(summary.eventCount == 1 && summary.durationMicroseconds == 2_000_000)
    }

    /// Breaks when a source's own rows can be changed from outside, or when a fact that exists nowhere is called known.
    @Test func aSetOfASourceThatRecordsHereChangesNothing() throws {
        let part = client.open(GUID())
        client.event(1, part: part)
        try client.record(into: store)
        client.close(part, .failed)
        let before = try store.dump()
        let receipt = try store.ingest(client.set(ended: true))
        #expect(receipt.knownCount == 2 && receipt.acceptedCount == 0 && receipt.rejections.map(\.sequence) == [3])
        #expect(try store.dump() == before)
        #expect(try store.pendingCount() == 2)
    }

    /// Breaks when a fact that has arrived is also counted as dropped, in one of the two orders.
    @Test(arguments: [true, false])
    func aFactThatArrivesInSpiteOfBeingDroppedIsThere(droppedFirst: Bool) throws {
        let part = client.open(GUID())
        for code in 1...5 { client.event(code, part: part) }
        let telling = client.set(6...6, dropped: [DroppedRange(first: 2, last: 4, reason: .quota)])
        let late = client.set(3...3)
        for set in droppedFirst ? [telling, late] : [late, telling] { try store.ingest(set) }
        try store.ingest(client.set(1...1))
        let record = try #require(try StoreReader(place).sources().first)
        #expect(record.ledger == Ledger(recorded: 6, delivered: 3, dropped: ["quota": 2], pending: 1))
        #expect(record.gaps == [SourceRecord.Gap(first: 5, last: 5)])
        #expect(try StoreReader(place).verify().problems == [])
    }

    // MARK: The leading part

    /// Breaks when a transaction is listed twice, or under the time of a part that only joined.
    @Test func theBeginnerTakesOverFromTheJoinedPartThatStoodIn() throws {
        let transaction = GUID()
        let server = FactWriter("server", wall: FactWriter.wall - 60_000_000)
        server.open(transaction, joined: true, at: 1)
        client.close(client.open(transaction, at: 10), .succeeded, at: 11)
        try store.ingest(server.set())
        var listed = try StoreReader(place).all()
        #expect(
            listed.map(\.isWaitingForBeginner) == [true]
                && listed.map(\.begunMicroseconds) == [FactWriter.wall - 59_000_000])
        try store.ingest(client.set())
        listed = try StoreReader(place).all()
        #expect(
            listed.map(\.isWaitingForBeginner) == [false]
                && listed.map(\.begunMicroseconds) == [FactWriter.wall + 10_000_000])
        #expect(listed.map(\.sourceCount) == [2] && listed.map(\.outcome) == [.succeeded])
    }

    /// Breaks when another joined part than the first represents the transaction. Clocks decide which is first, not
    /// IDs.
    @Test(arguments: [true, false])
    func theJoinedPartThatBeganFirstStandsIn(isTurned: Bool) throws {
        let transaction = GUID()
        let servers = [FactWriter("a"), FactWriter("b")].sorted { $0.id < $1.id }
        servers[0].open(transaction, joined: true, at: isTurned ? 2 : 7)
        servers[1].open(transaction, joined: true, at: isTurned ? 7 : 2)
        for server in servers { try store.ingest(server.set()) }
        #expect(try StoreReader(place).all().map(\.begunMicroseconds) == [FactWriter.wall + 2_000_000])
    }

    /// Breaks when two beginnings of one transaction make two lines, or the line depends on the order of arrival.
    @Test(arguments: [true, false])
    func ofTwoBeginningsTheOneOfTheLesserSourceLeads(isTurned: Bool) throws {
        let transaction = GUID()
        let sources = [FactWriter("a"), FactWriter("b")].sorted { $0.id < $1.id }
        sources[0].open(transaction, at: 9)
        sources[1].open(transaction, at: 1)
        for writer in isTurned ? sources.reversed() : sources { try store.ingest(writer.set()) }
        #expect(try StoreReader(place).all().map(\.begunMicroseconds) == [FactWriter.wall + 9_000_000])
    }

    /// Breaks when the time of a stored beginning still follows the old anchors.
    @Test func anAnchorThatComesLaterMovesTheBeginning() throws {
        client.open(GUID(), at: 100)
        try store.ingest(client.set())
        client.clocks.append(ClockAnchor(atMicroseconds: 50_000_000, offsetMicroseconds: FactWriter.wall + 3_000_000))
        try store.ingest(client.set())
        #expect(try StoreReader(place).all().map(\.begunMicroseconds) == [FactWriter.wall + 103_000_000])
    }

    /// Breaks when an ended source's open part counts as open, or a closing that arrives afterwards does not count.
    @Test func whatAnEndedSourceLeftOpenIsInterruptedUntilItsClosingArrives() throws {
        let part = client.open(GUID())
        client.close(part, .succeeded)
        try store.ingest(client.set(1...1))
        #expect(try StoreReader(place).all().map(\.outcome) == [.open])
        try store.ingest(client.set(1...1, ended: true))
        #expect(try StoreReader(place).all().map(\.outcome) == [.interrupted])
        try store.ingest(client.set(2...2))
        #expect(try StoreReader(place).all().map(\.outcome) == [.succeeded])
    }

    /// Breaks when a damaged store's source numbers are read differently than they were written, and each launch traps.
    @Test(arguments: [Int64(Int32.max), Limits.largestInteger, .max])
    func behindTheGreatestNumberOfASourceIsTheFirstFree(
        id: Int64
    ) throws {
        for _ in 0..<2 { try store.register(FactWriter().source) }
        let other = id == .max ? id - 1 : id + 1
        try store.connection.execute("UPDATE sources SET id = CASE id WHEN 1 THEN \(id) ELSE \(other) END")
        client.open(GUID())
        try store.ingest(client.set())
        #expect(try StoreReader(place).sources().map(\.id).contains(client.id))
        #expect(try store.facts(of: client.id) == client.facts)
        #expect(try store.connection.integer("SELECT id FROM sources WHERE uuid = ?", client.id) == 1)
        _ = try RetentionSweep(store.connection, budget: 10)
    }

    /// Breaks when one phone whose clock says 2255 is at the top of every list, and within each last day.
    @Test func aTimeMoreThanADayAheadOfItsArrivalCountsAsTheArrival() throws {
        let (near, far) = (FactWriter("near", wall: FactWriter.wall + 86_400_000_000 - 2_000_000), FactWriter("far"))
        far.clocks = [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: Limits.largestInteger)]
        let logins = [near, far].map { writer in
            let login = GUID()
            let part = writer.open(login)
            writer.closeExchange(
                Fact.ExchangeClosed(exchange: writer.openExchange(part: part), state: .completed), part: part)
            writer.close(part, .succeeded)
            return login
        }
        try store.ingest(near.set())
        try store.ingest(far.set())
        let reader = try StoreReader(place)
        let rows = try reader.all()
        #expect(rows.map(\.id) == logins)
        #expect(rows.map(\.begunMicroseconds) == [FactWriter.wall + 86_399_000_000, FactWriter.wall])
        let exchanges = try reader.exchanges(matching: ExchangeFilter(), limit: 10, after: nil, now: FactWriter.wall)
            .rows
        #expect(exchanges.map(\.transaction) == logins)
        // The time is trusted once it has come.
        let late = FactWriter("late", wall: FactWriter.wall + 3 * 86_400_000_000)
        late.open(GUID())
        _ = try store.ingest(late.set(1...1), receivedAt: FactWriter.wall)
        late.open(GUID())
        _ = try store.ingest(late.set(2...2), receivedAt: FactWriter.wall + 3 * 86_400_000_000)
        #expect(
            try reader.all().filter { ![near.id, far.id].contains($0.id) }.map(\.begunMicroseconds).contains(
                FactWriter.wall + 3 * 86_400_000_000 + 2_000_000))
    }
}
