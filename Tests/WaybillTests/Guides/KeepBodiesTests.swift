import Foundation
import Testing
import Waybill
import WaybillCore
import WaybillQueries
import WaybillTesting

/// The snippets of the guide on bodies, compiled and run as they stand there.
@Suite(.timeLimit(.minutes(5))) struct KeepBodiesTests {
    @Test func bodiesAreKeptWhereTheyWereAskedFor() async throws {
        var options = TransactionManager.Options()
        options.network.bodies = BodyPolicy(hosts: ["api.example.com"], paths: [.glob("/v1/*")])
        options.network.bodies?.maximumByteCount = 64 << 10
        options.network.bodies?.sample = 0.1
        options.network.bodies?.maximumStoreByteCount = 8 << 20
        #expect(TransactionManager.testing { $0 = options }.health.isGood)

        options.network.bodies?.sample = 1
        let transactions = TransactionManager.testing { $0 = options }
        let login = transactions.begin(Login.self)
        let url = try #require(URL(string: "https://api.example.com/v1/login"))
        let open = transactions.openExchange(ExchangeRequest(url: url), in: login)
        open.responded(
            ExchangeResponse(
                status: 200, headerFields: [HeaderField(name: "Content-Type", value: "application/json")]))
        open.received(Data(#"{"token":"x"}"#.utf8))
        open.finish()
        let exchange = try #require(transactions.exchanges.first)
        let body = try await transactions.body(of: exchange.id, .response)
        #expect(body.map { String(decoding: $0.bytes, as: UTF8.self) } == #"{"token":"[redacted]"}"#)
    }
}
