import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillTesting

@testable import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The app's hook is asked about every exchange, however it is captured. It changes the record, not the request.
@Suite(.timeLimit(.minutes(5))) struct HookedExchangeTests {
    /// Breaks when one way of capturing records data that the app has taken out for all others.
    @Test(arguments: WayIn.all) func everyWayOfCapturingAsks(way: WayIn) async throws {
        let server = try LoopbackServer { _ in .init(headers: [("X-Answer", "private")], body: Data("hello".utf8)) }
        let drafts = Locked<[RecordingDraft]>([])
        let tx = TransactionManager.hooked { draft in
            drafts.withLock { $0.append(draft) }
            switch draft {
            case .exchangeOpened(var request):
                request.url = request.url.replacing("private", with: "changed")
                return .exchangeOpened(request)
            case .exchangeClosed(var response):
                response.headerFields.removeAll { $0.name.lowercased() == "x-answer" }
                return .exchangeClosed(response)
            case .opened, .event, .attributesSet, .closed, .body: return draft
            }
        }
        try await tx.perform(Login.self) { _ in
            _ = try await way.send(WayIn.Call(request: URLRequest(url: server.url("/a?b=private"))), tx)
        }
        #expect(server.requests.map(\.path) == ["/a?b=private"], "what is sent is not changed")
        // Some ways report the end after the caller has its answer.
        try await eventually("the exchange is over") { try tx.allRecords().flatMap(\.exchanges).first?.status == 200 }
        let records = try tx.allRecords().flatMap(\.exchanges)
        #expect(!"\(records)".contains("private") && records.map(\.url).allSatisfy { $0.hasSuffix("/a?b=changed") })
        // Passive capture also asks about the requests of concurrent tests.
        let address = server.url("/").absoluteString
        let closed = drafts.withLock { $0 }.compactMap { draft in
            if case .exchangeClosed(let closed) = draft, closed.request.url.hasPrefix(address) { closed } else { nil }
        }
        #expect(closed.count == 1)
        #expect(closed.first?.request.url.hasSuffix("/a?b=changed") == true, "the end knows its request")
        #expect(closed.first?.status == 200)
    }

    /// Breaks when a server records data that its app takes out.
    @Test func aServersExchangeIsAsked() throws {
        let asked = Locked<RecordingDraft.ExchangeOpened?>(nil)
        let tx = TransactionManager.hooked { draft in
            guard case .exchangeOpened(var request) = draft else { return draft }
            asked.withLock { $0 = request }
            request.url = request.url.replacing("/patients/17", with: "/patients/*")
            return .exchangeOpened(request)
        }
        let login = tx.begin(Login.self)
        let exchange = tx.openServerExchange(
            method: "GET", authority: "api.example.com:8080", target: "/patients/17?step=1", in: login)
        exchange.finish()
        let request = try #require(asked.withLock { $0 })
        #expect(request.role == .server && request.transaction == login.id)
        #expect(request.url == "//api.example.com:8080/patients/17?step=1")
        #expect(try tx.exchanges.map(\.url) == ["api.example.com:8080/patients/*?step=1"])
    }

    @Test func aRequestThatIsWithheldIsSentWithTheHeaderFieldWithoutANumber() throws {
        let tx = TransactionManager.hooked { draft in if case .exchangeOpened = draft { nil } else { draft } }
        let login = tx.begin(Login.self)
        let exchange = tx.openExchange(try ExchangeRequest.correlated(), in: login)
        let told = try #require(exchange.headers["Waybill-Transaction"].flatMap { TransactionHeader(parsing: $0) })
        #expect(told.transaction == login.id && told.exchange == nil)
        exchange.finish()
        #expect(try tx.exchanges.isEmpty && tx.health.withheld == 1)
    }
}
