import Foundation
import Testing
import Waybill
import WaybillQueries
import WaybillTesting

/// A header field links a server's part to the client's transaction. Servers don't trust incoming fields.
@Suite(.timeLimit(.minutes(5))) struct JoinTests {
    let client = TransactionManager.testing(correlatedHosts: ["api.example.com"])
    let server = TransactionManager.testing(joining: [Login.code])

    private func header(of login: UseCaseTransaction<Login>) throws -> [String: String] {
        login.headers(for: try #require(URL(string: "https://API.example.com:8443/login")))
    }

    @Test func aJoinedPartHasTheTransactionOfTheHeader() throws {
        let login = client.begin(Login.self)
        let fields = try header(of: login)
        let joined = server.join(Login.self) { fields[$0] }
        joined.log(.serverStarted)
        joined.finish()
        #expect(joined.id == login.id)
        let record = try #require(server.transactions(Login.self).first)
        #expect(record.parts.map(\.isJoined) == [true])
        #expect(record.summary.isWaitingForBeginner)
    }

    @Test func withoutAHeaderTheServerBeginsItsOwn() throws {
        let own = server.join(Login.self) { _ in nil }
        own.finish()
        #expect(try server.transactions(Login.self).first?.parts.map(\.isJoined) == [false])
        #expect(server.health.malformedHeaders == 0)
        #expect(server.join(header: { _ in nil }) == nil, "a request that names nothing leaves no trace")
    }

    @Test(arguments: [
        "", "nonsense", "\"not-a-guid\";u=1", "\"01890a5d-ac96-774b-bcce-b302099a8057\"",
        String(repeating: "x", count: 10_000),
    ])
    func aMalformedHeaderIsIgnoredAndCounted(_ value: String) throws {
        #expect(server.join(header: { _ in value }) == nil)
        let own = server.join(Login.self) { _ in value }
        own.finish()
        #expect(server.health.malformedHeaders == 2)
        #expect(try server.transactions(Login.self).count == 1)
    }

    @Test func theServersUseCaseWinsOverTheHeaders() throws {
        let login = client.begin(Login.self)
        let fields = try header(of: login)
        server.join(Purchase.self) { fields[$0] }.finish()
        #expect(try server.transactions(Purchase.self).map(\.summary.id) == [login.id])
        #expect(server.health.mismatchedUseCases == 1)
    }

    @Test func anUntypedJoinIsCurrentUnderItsType() async throws {
        let fields = try header(of: client.begin(Login.self))
        let joined = try #require(server.join(header: { fields[$0] }))
        joined.perform { _ in
            #expect(Purchase.current == nil)
            Login.current?.log(.serverAccepted)
        }
        #expect(try server.transactions(Login.self).flatMap { $0.events.map(\.event) } == [.serverAccepted])
        #expect(try server.transactions(Login.self).first?.summary.useCaseName == "login")
    }

    /// Breaks when a framework's middleware and ours, one around the other, make two parts of one request.
    @Test func whatIsJoinedTwiceForTheSameRequestIsOnePart() async throws {
        let login = client.begin(Login.self)
        let url = try #require(URL(string: "https://api.example.com/login"))
        let fields = client.openExchange(ExchangeRequest(url: url), in: login).headers
        let outer = try #require(server.join(header: { fields[$0] }))
        try await outer.withCurrent {
            let inner = try #require(server.join(attributes: ["route": "/login"], header: { fields[$0] }))
            #expect(server.openServerExchange(method: "GET", target: "/login", in: inner).isRecorded)
            await inner.withCurrent {
                let typed = server.join(Login.self) { fields[$0] }
                typed.log(.serverStarted)
                #expect(!server.openServerExchange(method: "GET", target: "/login", in: typed).isRecorded)
            }
        }
        outer.finish()
        let record = try #require(server.transactions(Login.self).first)
        #expect(record.parts.count == 1 && record.exchanges.count == 1)
        #expect(record.parts.first?.attributes == ["route": "/login"], "what the inner one says is not lost")
        #expect(try server.transactions(Login.self).flatMap { $0.events.map(\.event) } == [.serverStarted])
    }

    /// The opposite case: parallel requests of one transaction, and a request inside another one.
    @Test func anotherRequestOfTheSameTransactionIsAPartOfItsOwn() throws {
        let login = client.begin(Login.self)
        let url = try #require(URL(string: "https://api.example.com/login"))
        let fields = (0..<2).map { _ in client.openExchange(ExchangeRequest(url: url), in: login).headers }
        let outer = try #require(server.join(header: { fields[0][$0] }))
        outer.perform { _ in
            server.join(header: { fields[1][$0] })?.finish()
            server.join(Purchase.self) { fields[0][$0] }.finish()
        }
        server.join(header: { fields[0][$0] })?.finish()
        #expect(try server.allRecords().map(\.parts.count).reduce(0, +) == 4)
    }

    // MARK: Invented header fields

    private func field(_ transaction: GUID = GUID(), useCase: Int) -> (String) -> String? {
        { _ in TransactionHeader(transaction: transaction, useCase: useCase).description }
    }

    /// Breaks when senders of requests decide what a server records: 40,000 invented use cases in header fields made as
    /// many rows, and a page of 31 MB.
    @Test func useCasesThatTheServerDoesNotHaveAreCountedAndNotRecorded() throws {
        for number in 0..<40_000 {
            #expect(server.join(header: field(useCase: 1_000 + number)) == nil)
        }
        #expect(try server.allRecords().isEmpty)
        #expect(server.health.unknownUseCases == 40_000 && server.health.refusedJoins == 0)
        #expect(server.health.isGood, "it is nothing that the server could do better")
        #expect(server.health.hints.contains { $0.contains("options.server.accepting") }, "or could it?")
        #expect(server.join(header: field(useCase: Login.code)) != nil)
    }

    @Test func aServerThatNamesNoUseCaseBelievesNone() {
        #expect(TransactionManager.testing().join(header: field(useCase: Login.code)) == nil)
        #expect(TransactionManager.testing(joining: nil).join(header: field(useCase: 4711)) != nil, "unless asked to")
    }

    /// The limits of the header field: no name, one code, and only the first 512 bytes.
    @Test(arguments: [
        "u=1234567890123456", "u=-1", "u=1.5", "u=\"login\"", "u=login",
        "u=7;x=\"\(String(repeating: "y", count: 500))\"",
    ])
    func aUseCaseThatIsNoCodeIsMalformed(_ parameters: String) {
        let server = TransactionManager.testing(joining: nil)
        #expect(server.join(header: { _ in "\"\(GUID())\";\(parameters)" }) == nil)
        #expect(server.health.malformedHeaders == 1)
    }

    /// Breaks when header fields fill a server's store as fast as requests arrive.
    @Test(arguments: [true, false]) func transactionsThatAreNotKnownHaveARate(isTyped: Bool) throws {
        let clock = ManualClock()
        let server = TransactionManager.testing(joining: [Login.code], perMinute: 600, clock: clock)
        let recorded = Locked(0)
        func join(_ transaction: GUID = GUID()) {
            let field = field(transaction, useCase: Login.code)
            let joined = isTyped ? server.join(Login.self, header: field).id : server.join(header: field)?.id
            #expect(!isTyped || joined == transaction, "a handler has its handle, whatever is recorded")
            recorded.withLock { $0 += 1 }
        }
        let early = GUID()
        join(early)
        for _ in 1..<40_000 { join() }
        #expect(server.health.refusedJoins == 39_400)
        #expect(try server.allRecords().count == 600)
        join(early)
        #expect(server.health.refusedJoins == 39_400, "one that was there before goes on")
        clock.advance(by: .seconds(1))
        for _ in 0..<20 { join() }
        #expect(server.health.refusedJoins == 39_410, "a second later there is room for ten more")
        #expect(try server.allRecords().count == 610)
        #expect(recorded.withLock { $0 } == 40_021, "no request waited, and none failed")
    }

    @Test func whatIsNotRecordedIsRefusedByItsHandle() throws {
        let server = TransactionManager.testing(joining: [Login.code], perMinute: 0)
        let login = server.join(Login.self, header: field(useCase: Login.code))
        #expect(login.log(.serverStarted) == .refused)
        let exchange = server.openServerExchange(method: "GET", target: "/", in: login)
        exchange.finish()
        login.finish()
        #expect(try server.transactions(Login.self).isEmpty)
        #expect(try server.exchanges.isEmpty)
        let own = server.join(Login.self) { _ in nil }
        #expect(own.log(.serverStarted) != .refused, "what the server begins is its own")
    }

    /// Breaks when one known transaction makes a store grow without end.
    @Test func oneTransactionHasAThousandRequests() throws {
        let transaction = GUID()
        for _ in 0..<1_010 { server.join(header: field(transaction, useCase: Login.code))?.finish() }
        #expect(server.health.refusedJoins == 10)
        #expect(try server.allRecords().map(\.parts.count) == [1_000])
    }

    @Test func noFieldGoesToAHostThatIsNotOnTheList() throws {
        let login = client.begin(Login.self)
        for address in [
            "https://example.com/", "https://evil.com/api.example.com", "https://api.example.com.evil.com/",
            "file:///x",
        ] {
            #expect(login.headers(for: try #require(URL(string: address))).isEmpty, "\(address)")
        }
    }
}
