#if Collector
import Foundation
import TestSupport
import Testing
import Waybill
@testable import WaybillCollector
import WaybillCore
import WaybillLegacy
import WaybillQueries
import WaybillTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A fleet that is half on the first framework: client and server must record one transaction, whichever of them is the
/// old one.
@Suite(.timeLimit(.minutes(5))) struct LegacyFleetTests {
    private enum Login: Int, UseCase {
        static let code = 17
        case requestSent = 1, serverStarted = 10
    }

    /// The header field that both halves are configured with.
    private static let field = "fp-apptxn-id"

    private func manager(delivery: Delivery) -> TransactionManager {
        TransactionManager.testing(delivery: delivery, correlatedHosts: ["127.0.0.1"]) { options in
            options.diagnostics = { _ in }
            options.header = .legacy(name: Self.field)
        }
    }

    /// Starts a server that joins incoming transactions.
    private func newServer(_ transactions: TransactionManager) throws -> LoopbackServer {
        try LoopbackServer { request in
            transactions.join(Login.self) { request.header($0) }.perform { $0.log(.serverStarted) }
            return .text("welcome")
        }
    }

    @Test func anOldClientAndANewServerTellOneStory() async throws {
        let folder = try TemporaryDirectory()
        let id = "TXN17-586AB00B-F16E-4AE6-8A91-0210264925C7"
        try await CollectorServer.run(try Collector(folder: folder.url)) { collector async throws in
            let address = try #require(URL(string: "http://127.0.0.1:\(collector.port)"))
            let transactions = manager(delivery: .collector(address))
            let server = try newServer(transactions)
            // The old client's own request, followed by its set at the next tick of its timer.
            let answer = try await RawClient.send(
                "POST", "/login", to: server.port, headers: [Self.field: id], body: Data())
            #expect(answer.status == 200)
            let set =
                #"{"apptxns":[{"apptxn/id":"\#(id)","apptxn/usecase":17,"apptxn/logs":[{"apptxnlog/usecase-event":1,"apptxnlog/timestamp":"Fri, 06 Feb 2015 00:59:27 EST","apptxnlog/in-ctx-err-code":null}]}]}"#
            let type = "application/vnd.fp.apptxnset-v0.0.1+json;charset=UTF-8"
            #expect(try await collector.post(Data(set.utf8), type: type).status == 202)
            #expect(await transactions.flush() == FlushReport(delivered: 3))
            #expect(transactions.health.malformedHeaders == 0)

            let record: TransactionRecord = try await collector.value(
                "/v1/transactions/586ab00b-f16e-4ae6-8a91-0210264925c7")
            #expect(record.summary.useCase == 17 && !record.summary.isWaitingForBeginner)
            #expect(
                record.parts.map(\.isJoined).sorted { !$0 && $1 } == [false, true],
                "the client began it, the server joined")
            #expect(Set(record.timeline.filter { $0.kind == .event }.map(\.code)) == [1, 10])
        }
    }

    /// The old server took the parent of its logs from the field, and looked it up when the client's set arrived.
    @Test func aNewClientAndAnOldServerTellOneStory() async throws {
        let parents = Locked<[String]>([])
        let server = try LoopbackServer { request in
            guard request.path == "/sets" else {
                parents.withLock { $0 += [request.header(Self.field)].compactMap(\.self) }
                return .text("welcome")
            }
            return .init(status: 202)
        }
        let transactions = manager(
            delivery: .collector(
                server.url("/sets"), token: "t",
                format: .v0_0_1(prefix: "vnd.fp.", scheme: "fp-auth", parameter: "fp-token")))
        let login = transactions.begin(Login.self)
        _ = try await transactions.session.data(for: URLRequest(url: server.url("/login")), in: login)
        login.log(.requestSent)
        await transactions.flush()

        let parent = try #require(parents.withLock { $0 }.first)
        #expect(parent == "TXN17-\(login.id.description.uppercased())")
        #expect(login.headers(for: server.url())[Self.field] == parent)
        let set = try #require(server.requests.last)
        #expect(
            set.path == "/sets" && set.header(Self.field) == nil, "the flush's own request is none of a transaction's")
        #expect(String(decoding: set.body, as: UTF8.self).contains("\"apptxn/id\":\"\(parent)\""))
    }

    /// Breaks when a half-migrated fleet loses which exchange caused which part, although both ends are new.
    @Test func twoNewHalvesLoseNothingByTheOldForm() async throws {
        let place = try #require(URL(string: "http://127.0.0.1:9"))
        let (client, transactions) = (manager(delivery: .collector(place)), manager(delivery: .collector(place)))
        let server = try newServer(transactions)
        try await client.perform(Login.self) { _ in
            _ = try await client.session.data(for: URLRequest(url: server.url("/login")))
        }
        let (told, joined) = (
            try #require(client.transactions(Login.self).first),
            try #require(transactions.transactions(Login.self).first)
        )
        #expect(joined.summary.id == told.summary.id)
        #expect(joined.parts.map(\.cause) == told.exchanges.map(\.id))
    }

    @Test func aRequestThatNamesItsOwnTransactionKeepsIt() async throws {
        let transactions = manager(delivery: .collector(try #require(URL(string: "http://127.0.0.1:9"))))
        let server = try LoopbackServer { _ in .text("welcome") }
        var request = URLRequest(url: server.url("/login"))
        request.setValue("TXN1-586AB00B-F16E-4AE6-8A91-0210264925C7", forHTTPHeaderField: Self.field)
        _ = try await transactions.session.data(for: request, in: transactions.begin(Login.self))
        let sent = try #require(server.requests.first)
        #expect(sent.header(Self.field) == "TXN1-586AB00B-F16E-4AE6-8A91-0210264925C7")
        #expect(sent.header(TransactionHeader.fieldName) == nil)
    }
}
#endif
