#if Collector
import Foundation
import TestSupport
import Testing
import Waybill
@testable import WaybillCollector
import WaybillCore
@testable import WaybillLegacy
import WaybillQueries
import WaybillTesting

/// A manager that writes sets 0.0.1 and a collector that reads them, over a real socket.
@Suite(.timeLimit(.minutes(5))) struct LegacyDeliveryTests {
    private enum Login: Int, UseCase {
        static let code = 17
        case requestSent = 1, refused = 2
    }

    @Test func whatAManagerWritesInThatVersionArrivesAtACollector() async throws {
        let folder = try TemporaryDirectory()
        let token = try TokenFile(folder: folder.url).add(role: .ingest, project: .standard).secret.text
        let reading = try TokenFile(folder: folder.url).add(role: .read, project: .standard).secret.fieldValue
        try await CollectorServer.run(try Collector(folder: folder.url, access: .tokens)) { server async throws in
            let address = try #require(URL(string: "http://127.0.0.1:\(server.port)/v1/sets"))
            let tx = TransactionManager.testing(
                delivery: .collector(
                    address, token: token, format: .v0_0_1(prefix: "vnd.fp.", scheme: "fp-auth", parameter: "fp-token"))
            )
            let login = tx.begin(Login.self)
            login.log(.requestSent)
            #expect(await tx.flush() == FlushReport(delivered: 2))
            login.log(.refused, code: 401)
            login.finish(.failed)
            #expect(await tx.flush() == FlushReport(delivered: 1, rejected: 1))

            let answer = try await server.get("/v1/transactions/\(login.id)", headers: ["Authorization": reading])
            let record = try JSONDecoder.waybill().decode(TransactionRecord.self, from: answer.body)
            #expect(record.summary.useCase == 17 && record.summary.eventCount == 2)
            #expect(record.parts.count == 2, "a part for each set")
            #expect(
                record.parts.allSatisfy {
                    $0.attributes["possibleDuplicate"] == nil && $0.attributes["unreadableTimestamp"] == nil
                })
            #expect(record.timeline.compactMap(\.error) == [RecordedError(code: 401)])
            #expect(try await tx.quarantined().map(\.id.sequence) == [4])
        }
    }
}
#endif
