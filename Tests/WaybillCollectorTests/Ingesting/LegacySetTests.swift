#if Collector
import Foundation
import TestSupport
import Testing
@testable import WaybillCollector
import WaybillCore
import WaybillQueries
import WaybillStore

/// Clients of version 0.0.1 delete a set after a 2xx, so a 2xx must mean that the set is stored.
@Suite(.timeLimit(.minutes(5))) struct LegacySetTests {
    private static let type = "application/vnd.fp.apptxnset-v0.0.1+json;charset=UTF-8"
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func example(_ path: String) throws -> Data {
        let examples = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Schemas/examples")
            .standardizedFileURL
        return try Data(contentsOf: examples.appending(path: path))
    }

    @Test(arguments: ["login", "quirks", "empty"]) func aSetIsTakenWith202AndOnlyOnce(name: String) async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let body = try example("legacy/\(name).json")
            for _ in 0..<2 {
                let answer = try await server.post(body, type: Self.type)
                #expect(answer.status == 202 && answer.body.isEmpty)
            }
            let page: RecordPage<TransactionSummary> = try await server.value("/v1/transactions")
            #expect(page.rows.count == ["login": 1, "quirks": 3, "empty": 0][name])
            #expect(page.rows.reduce(0) { $0 + $1.eventCount } == ["login": 2, "quirks": 4, "empty": 0][name])
        }
    }

    @Test func whatWasTakenIsInTheStore() async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            _ = try await server.post(try example("legacy/login.json"), type: Self.type)
        }
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let record: TransactionRecord = try await server.value(
                "/v1/transactions/586ab00b-f16e-4ae6-8a91-0210264925c7")
            #expect(record.timeline.map(\.label) == ["begun", "event 0", "event 3"])
            #expect(record.timeline.map(\.timeMicroseconds) == Array(repeating: 1_423_202_367_000_000, count: 3))
            #expect(record.timeline.last?.error == RecordedError(code: -1001, text: "The request timed out."))
            #expect(try await server.post(try example("legacy/login.json"), type: Self.type).status == 202)
            let page: RecordPage<TransactionSummary> = try await server.value("/v1/transactions")
            #expect(page.rows.map(\.eventCount) == [2])
        }
    }

    @Test func whatNobodyCanStoreIsRefused() async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            #expect(try await server.post(Data("{".utf8), type: Self.type).status == 400)
            #expect(
                try await server.post(try example("legacy-invalid/list-missing.json"), type: Self.type).status == 422)
            let newer = "application/vnd.fp.apptxnset-v0.0.2+json"
            #expect(try await server.post(try example("legacy/login.json"), type: newer).status == 415)
        }
    }

    /// The first framework's own sample uses this version.
    @Test func theVersionOfTheOriginalSampleIsTaken() async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let type = "application/vnd.peapptxnlog.apptxnset-v1.0.0+json;charset=UTF-8"
            #expect(try await server.post(try example("legacy/login.json"), type: type).status == 202)
            let page: RecordPage<TransactionSummary> = try await server.value("/v1/transactions")
            #expect(page.rows.map(\.eventCount) == [2])
        }
    }

    /// Breaks when the client resends the whole set endlessly, or its mistakes are reported nowhere.
    @Test func aBadTransactionIsQuarantinedAndTheOthersOfItsSetAreTaken() async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            var body = String(decoding: try example("legacy/login.json"), as: UTF8.self)
            body.replace("[", with: #"[{"apptxn/id":"TXN17","note":"<b>"},"#, maxReplacements: 1)
            for _ in 0..<2 { #expect(try await server.post(Data(body.utf8), type: Self.type).status == 202) }
            let page: RecordPage<TransactionSummary> = try await server.value("/v1/transactions")
            #expect(page.rows.map(\.eventCount) == [2])
            let delivery = try await server.get("/delivery").text
            #expect(delivery.contains("1 transaction of sets 0.0.1 that could not be read"))
            #expect(
                delivery.contains("/apptxns/0/apptxn~1id: an ID like TXN17-586AB00B") && !delivery.contains("<b>\""))
        }
        let remarks = try StoreReader(.folder(folder.url)).verify().remarks
        #expect(remarks.count == 1 && remarks[0].contains("/apptxns/0/apptxn~1id"))
    }

    @Test func theTokenComesAsAParameterOfAnyName() async throws {
        let token = try TokenFile(folder: folder.url).add(role: .ingest, project: .standard).secret.text
        try await CollectorServer.run(try Collector(folder: folder.url, access: .tokens)) { server async throws in
            let body = try example("legacy/login.json")
            for (field, status) in [
                ("fp-auth fp-token=\"\(token)\"", 202), ("fp-auth fp-token=\"\(token)x\"", 401),
                ("fp-auth fp-token=\(token)", 401),
                ("fp-auth \(token)", 401), ("Bearer \(token)", 202),
            ] {
                #expect(
                    try await server.post(body, type: Self.type, headers: ["Authorization": field]).status == status)
            }
        }
    }
}
#endif
