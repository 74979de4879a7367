import Foundation
import TestSupport
import Testing
import Waybill
import WaybillLegacy
import WaybillQueries

/// The snippets of the guide for apps with the first framework, as they appear there.
@Suite(.timeLimit(.minutes(5))) struct MoveFromPELFTests {
    @Test func theOldServerFirstThenACollectorThenBoth() async throws {
        let server = try LegacyServer()
        let (storeURI, token) = (server.server.url("/store/uri"), "old")
        let (collector, newToken) = (try refusedURL("/"), "new")

        #expect(
            TransactionManager(store: .inMemory) { options in
                options.header = .legacy(name: "fp-apptxn-id")
            }.health.isGood)

        let transactions = TransactionManager(
            store: .inMemory,
            delivery: .collector(
                storeURI, token: token, format: .v0_0_1(prefix: "vnd.fp.", scheme: "fp-auth", parameter: "fp-token")))
        transactions.perform(Login.self) { $0.log(.requestSent) }
        #expect(await transactions.flush().rejected == 1, "how it ended")
        #expect(server.server.requests.map { $0.header("Authorization") } == [#"fp-auth fp-token="old""#])

        transactions.delivery = .collector(collector, token: newToken)
        try await transactions.resendQuarantined()
        #expect(await transactions.flush().pending == 1, "The collector is not there.")

        let old = URLSessionTransport(
            collector: storeURI, token: token,
            format: .v0_0_1(prefix: "vnd.fp.", scheme: "fp-auth", parameter: "fp-token"))
        transactions.delivery = .transport(
            TwoPlaces(main: URLSessionTransport(collector: collector, token: newToken), copy: old))
        #expect(await transactions.flush().delivered == 0, "Both have to have it.")
    }
}
