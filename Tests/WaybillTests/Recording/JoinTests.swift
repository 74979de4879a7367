import Foundation
import Testing
import Waybill
import WaybillTesting

/// A header field ties a server's part to the client's transaction; what comes in is not trusted.
@Suite(.timeLimit(.minutes(5))) struct JoinTests {
    let client = TransactionManager.testing(correlatedHosts: ["api.example.com"])
    let server = TransactionManager.testing()

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
        #expect(server.transactions(Login.self).first?.parts.map(\.isJoined) == [false])
        #expect(server.health.malformedHeaders == 0)
        #expect(server.join(header: { _ in nil }) == nil, "a request that names nothing leaves no trace")
    }

    @Test(arguments: [
        "", "nonsense", "\"not-a-guid\";u=1", "\"01890a5d-ac96-774b-bcce-b302099a8057\"",
        String(repeating: "x", count: 10_000),
    ])
    func aMalformedHeaderIsIgnoredAndCounted(_ value: String) {
        #expect(server.join(header: { _ in value }) == nil)
        let own = server.join(Login.self) { _ in value }
        own.finish()
        #expect(server.health.malformedHeaders == 2)
        #expect(server.transactions(Login.self).count == 1)
    }

    @Test func theServersUseCaseWinsOverTheHeaders() throws {
        let login = client.begin(Login.self)
        let fields = try header(of: login)
        server.join(Purchase.self) { fields[$0] }.finish()
        #expect(server.transactions(Purchase.self).map(\.summary.id) == [login.id])
        #expect(server.health.mismatchedUseCases == 1)
    }

    @Test func anUntypedJoinIsCurrentUnderItsType() async throws {
        let fields = try header(of: client.begin(Login.self))
        let joined = try #require(server.join(header: { fields[$0] }))
        joined.perform { _ in
            #expect(Purchase.current == nil)
            Login.current?.log(.serverAccepted)
        }
        #expect(server.events(Login.self) == [.serverAccepted])
        #expect(server.transactions(Login.self).first?.summary.useCaseName == "login")
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
