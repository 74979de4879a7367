#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import TestSupport
import Testing
import Waybill
import WaybillAsyncHTTPClient
import WaybillQueries
import WaybillTesting

/// The lines of the guide, compiled and run unchanged.
@Suite(.timeLimit(.minutes(5))) struct GuideTests {
    @Test func theGuidesClientCarriesTheField() async throws {
        let server = try LoopbackServer { _ in .text("hello") }
        let (transactions, request) = (TransactionManager.capturing(), HTTPClientRequest(server.url()))
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        try await transactions.perform(Login.self) { _ in
            let response = try await client.execute(request, timeout: .seconds(10), in: transactions)
            _ = try await response.body.collect(upTo: 100)
        }
        try await client.shutdown()
        #expect(server.requests.first?.told != nil)
        #expect(try transactions.exchange?.state == .completed)
    }
}
#endif
