import Foundation
import Testing
import WaybillCore

@testable import WaybillQueries
@testable import WaybillStore

/// The published schema, the views for people, and how statements find their rows.
@Suite(.timeLimit(.minutes(5))) struct SchemaTests {
    private let store: Store
    private let place: ResolvedLocation

    init() throws {
        (store, place) = try Store.inMemory()
        // As in a person's shell. Our own connections don't let views call functions.
        try store.connection.execute("PRAGMA trusted_schema = ON")
    }

    // MARK: Schemas/store.sql

    /// Breaks when the published schema differs from the library's. `RENEW_SCHEMA=1 swift test --filter SchemaTests`
    /// writes it anew.
    @Test func thePublishedSchemaIsWhatAFreshStoreHas() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Schemas/store.sql")
            .standardizedFileURL
        let statements = try store.connection.statement(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"
        ).rows { row in
            row.text(0)
        }
        let header = """
            -- A Waybill store, version \(try store.connection.integer("PRAGMA user_version")): one schema for an app's, a server's and a collector's.
            -- SQLite 3.38 or later. Made by the library; a test keeps this page equal to it.
            -- To look at one: sqlite3 -readonly -box waybill.sqlite 'SELECT * FROM transactions ORDER BY begun_us DESC LIMIT 20'
            PRAGMA application_id = \(try store.connection.integer("PRAGMA application_id")); -- 'WBIL'
            PRAGMA user_version = \(try store.connection.integer("PRAGMA user_version"));


            """
        let made = header + statements.map { $0 + ";\n" }.joined(separator: "\n")
        if ProcessInfo.processInfo.environment["RENEW_SCHEMA"] != nil { try Data(made.utf8).write(to: file) }
        let published = try? String(contentsOf: file, encoding: .utf8)
        #expect(
            published == made,
            "Schemas/store.sql is out of date. Renew it: RENEW_SCHEMA=1 swift test --filter SchemaTests")
    }

    // MARK: Views

    private func rows(_ sql: String) throws -> [String] {
        try store.connection.statement(sql).rows { row in row.text(0) }
    }

    private func fill() throws -> (id: GUID, client: FactWriter, server: FactWriter) {
        let id = GUID()
        let client = FactWriter("shop")
        client.names = [
            RecordedName(useCase: 0, name: "login"), RecordedName(useCase: 0, event: 1, name: "requestSent"),
        ]
        let part = client.open(id, attributes: ["variant": "B"], at: 0)
        client.event(1, part: part, at: 1)
        let exchange = client.openExchange(
            Fact.ExchangeOpened(
                method: "POST", scheme: "https", host: "api.example.com", port: 8443, path: "/login", query: "a=1"),
            part: part, at: 2)
        let server = FactWriter("accounts")
        let joined = server.open(id, joined: true, at: 3)
        server.event(9, part: joined, at: 4)
        client.closeExchange(Fact.ExchangeClosed(exchange: exchange, state: .completed, status: 401), part: part, at: 5)
        client.close(part, .failed, error: RecordedError(domain: "HTTP", code: 401), at: 6)
        client.event(1, part: part, at: 7)
        client.openExchange(Fact.ExchangeOpened(method: "GET", path: "/health"), part: 0, at: 8)
        try store.ingest(client.set())
        try store.ingest(server.set())
        return (id, client, server)
    }

    /// Breaks when a person in the shell sees codes, blobs or numbers instead of words, IDs and dates.
    @Test func theTransactionsViewSaysItInWords() throws {
        let (id, client, _) = try fill()
        let row = try rows(
            """
            SELECT id || ' ' || use_case_name || ' ' || outcome || ' ' || begun || ' ' || duration_us || ' ' || error_domain || ' ' || error_code
              || ' ' || attributes || ' ' || waiting_for_beginner || ' ' || app || ' ' || sources || events || exchanges || ' ' || source
            FROM transactions
            """)
        #expect(
            row == [
                "\(id) login failed 2025-10-09T08:53:20.000000Z 6000000 HTTP 401 {\"variant\":\"B\"} 0 shop 231 \(client.id)"
            ])
    }

    /// Breaks when the shell finds nothing for a code that a user reads out.
    @Test func theTransactionsViewHasTheCodeThatPeopleReadOut() throws {
        let writer = FactWriter()
        let ids =
            [GUID(high: 0, low: 0), GUID(high: 0, low: .max), GUID(high: 7, low: 0x01_2345_6789)]
            + (0..<200).map { _ in GUID() }
        for id in ids { writer.open(id) }
        try store.ingest(writer.set())
        let rows = try rows("SELECT id || ' ' || support_code FROM transactions")
        #expect(Set(rows) == Set(ids.map { "\($0) \($0.supportCode)" }))
    }

    /// Breaks when a derived outcome has no word, or the wrong one. The view reads the clock itself.
    @Test func theViewDerivesInterruptedAndTimedOut() throws {
        let now = SystemClock().wallMicroseconds()
        let writer = FactWriter(wall: now - 100_000_000)
        writer.open(GUID(), timeout: 50_000_000, at: 1)
        writer.open(GUID(), timeout: 3_600_000_000, at: 2)
        writer.close(writer.open(GUID(), at: 3), .abandoned)
        // A time far ahead of its arrival is not trusted.
        _ = try store.ingest(writer.set(), receivedAt: now)
        #expect(try rows("SELECT outcome FROM transactions ORDER BY begun_us") == ["timed_out", "open", "abandoned"])
        _ = try store.ingest(writer.set(ended: true), receivedAt: now)
        #expect(
            try rows("SELECT outcome FROM transactions ORDER BY begun_us") == [
                "interrupted", "interrupted", "abandoned",
            ])
    }

    /// Breaks when the view and the library show different timelines of one transaction.
    @Test func theTimelineViewIsTheTimelineOfTheLibrary() throws {
        let (id, _, _) = try fill()
        let record = try #require(try StoreReader(place).transaction(id, now: FactWriter.wall))
        let shown = try rows(
            "SELECT label || ' ' || kind || ' ' || time_us || ' ' || source || ' ' || sequence || ' ' || late FROM timeline WHERE transaction_id = '\(id)' ORDER BY time_us"
        )
        #expect(
            shown
                == record.timeline.map {
                    "\($0.label) \($0.kind.rawValue) \($0.timeMicroseconds) \($0.id.source) \($0.id.sequence) \($0.isLate ? 1 : 0)"
                })
        #expect(
            try rows("SELECT time FROM timeline WHERE label = 'requestSent' AND NOT late") == [
                "2025-10-09T08:53:21.000000Z"
            ])
    }

    /// Breaks when an exchange outside any transaction is left out, or one in progress looks complete.
    @Test func theExchangesViewShowsThemAll() throws {
        let (id, client, _) = try fill()
        let sql =
            "SELECT ifnull(transaction_id, '-') || ' ' || role || ' ' || url || ' ' || state || ' ' || ifnull(status, '-') || ' ' || ifnull(duration_us, '-') FROM network ORDER BY time_us"
        let first = "\(id) client https://api.example.com:8443/login?a=1 completed 401 3000000"
        #expect(try rows(sql) == [first, "- client /health in_progress - -"])
        try store.ingest(client.set(ended: true))
        #expect(try rows(sql) == [first, "- client /health interrupted - -"])
    }

    /// Breaks when the ledger of the view differs from the library's.
    @Test func theLedgersViewBalances() throws {
        _ = try fill()
        let own = FactWriter("own")
        let part = own.open(GUID())
        for _ in 0..<5 { own.event(1, part: part) }
        try own.record(into: store)
        try store.connection.execute("DELETE FROM events WHERE source = 3 AND sequence = 2")
        let set = try #require(try store.lease(LeaseLimit(factCount: 3)))
        _ = try store.settle(
            set.id, rejections: [Receipt.Rejection(source: own.id, sequence: 1, index: 0, reason: "no")], at: 0)
        for record in try StoreReader(place).sources() {
            let ledger = record.ledger
            let dropped = ledger.dropped.values.reduce(0, +)
            let expected =
                "\(record.heardMicroseconds == nil ? "recorded here" : "received") \(ledger.recorded) \(ledger.delivered) \(ledger.quarantined) \(dropped) \(ledger.pending)"
            #expect(
                try rows(
                    """
                    SELECT origin || ' ' || recorded || ' ' || delivered || ' ' || quarantined || ' ' || dropped || ' ' || pending
                    FROM ledgers WHERE source = '\(record.id)' AND started = '2025-10-09T08:53:20.000000Z'
                    """) == [expected])
        }
    }

    // MARK: Query plans

    private func plan(_ sql: String) throws -> [String] {
        try store.connection.statement("EXPLAIN QUERY PLAN " + sql).rows { row in row.text(3) }
    }

    /// Breaks when a list sorts or scans instead of walking an index. It would take seconds with a million
    /// transactions.
    @Test(
        arguments: [(nil, []), (3, []), (nil, [.failed]), (3, [.failed, .cancelled])]
            as [(Int?, Set<TransactionOutcome>)])
    func listsWalkAnIndex(useCase: Int?, outcomes: Set<TransactionOutcome>) throws {
        let filter = TransactionFilter(
            (useCase.map { [.useCase($0)] } ?? []) + [.outcome(outcomes), .sinceMicroseconds(1)])
        let query = ListQuery(filter, limit: 50, after: ListCursor(listed: 1, source: 1, sequence: 1), now: 1)
        let plan = try plan(query.sql)
        let searches = plan.filter { $0.hasPrefix("SEARCH") || $0.hasPrefix("SCAN") }
        let index =
            useCase == nil
            ? "parts_by_outcome (joined=? AND outcome=? AND listed_us>"
            : "parts_by_use_case (use_case=? AND joined=? AND outcome=? AND listed_us>"
        #expect(searches.count == (outcomes.isEmpty ? 6 : outcomes.count))
        #expect(
            searches.allSatisfy { $0.contains("USING COVERING INDEX \(index)") || $0.contains("USING INDEX \(index)") },
            "\(plan)")
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
    }

    /// Breaks when a lease finds its facts by anything but unsettled parts or keys.
    @Test func leasesReadByUnsettledPartsAndKeys() throws {
        for (sql, _) in PendingFacts.queries {
            let plan = try plan(sql)
            #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan)")
            #expect(
                plan.first.map {
                    $0.contains("parts_unsettled") || $0.contains("exchanges_by_closing")
                        || $0.contains("PRIMARY KEY")
                }
                    == true, "\(plan)")
        }
    }

    /// Breaks when finding the events of a window reads all of their part. A part that lives for days has a hundred
    /// thousand.
    @Test func theEventsOfAWindowAreFoundByTheirKey() throws {
        let statements = PendingFacts.queries.map(\.0).filter { $0.contains("JOIN events") } + [FactScan.selectEvents]
        #expect(statements.count == 2)
        for sql in statements {
            let plan = try plan(sql)
            #expect(plan.contains { $0.contains("(source=? AND part=? AND after>? AND after<?)") }, "\(plan)")
            #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
        }
    }

    /// Breaks when each exchange of a list is compared with all transactions of its use case. A page took minutes with
    /// a million of them.
    @Test func theTransactionOfAnExchangeIsLookedUpByItsID() throws {
        let filter = ExchangeFilter([.useCase(3), .outcome([.failed])])
        let conditions = ConditionSQL(filter, isChosen: false, now: 0)
        let plan = try plan("SELECT 1 FROM \(ConditionSQL.exchanges) WHERE l.source = 1 AND \(conditions.sql)")
        #expect(plan.contains("SEARCH t USING INDEX parts_by_guid (guid=?)"), "\(plan)")
    }
}
