import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillTesting

@testable import Waybill

/// A collector whose certificate is not trusted, like that of a man in the middle.
@Suite(.timeLimit(.minutes(5))) struct UntrustedCollectorTests {
    @Test func aCertificateThatIsNotTrustedIsToldAndNothingIsSentOrLost() async throws {
        let root = try TemporaryDirectory()
        let server = try Nginx(serving: root.url, authority: CertificateAuthority())
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)"))
        let transactions = TransactionManager.testing(delivery: .collector(url, token: "hunter22"))
        transactions.perform(Login.self) { login in login.log(.requestSent) }

        let report = await transactions.flush()
        #expect(report.delivered == 0 && report.pending == 3)
        #expect(report.error?.code == .transport)
        #expect(
            report.error?.message.contains("no secure connection came about, see its certificate") == true, "\(report)")
        #expect(try server.stop().isEmpty, "Neither facts nor the token have left.")

        let transport = InMemoryTransport()
        transactions.delivery = .transport(transport)
        #expect(await transactions.flush().delivered == 3)
        #expect(transport.transactionSets.flatMap { $0.sources.flatMap { $0.facts.map(\.sequence) } } == [1, 2, 3])
    }
}
