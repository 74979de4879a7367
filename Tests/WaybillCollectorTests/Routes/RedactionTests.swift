#if Collector
import Foundation
import TestSupport
import Testing
import WaybillCollector
import WaybillCore
import WaybillStore

/// Secrets that clients failed to redact, now or when recording, stay out of a collector's files and answers.
@Suite(.timeLimit(.minutes(5))) struct RedactionTests {
    private static let secret = "hunter22sunny"
    private let folder: TemporaryDirectory
    private let login = LoginHistory()

    init() throws { folder = try TemporaryDirectory() }

    /// A set with a secret in a name, an attribute, an error's text, a query and a header field.
    private var secretSet: TransactionSet {
        var set = login.clientSet()
        let token = "Bearer \(Self.secret)"
        set.sources[0].names[1].name = token
        for index in set.sources[0].facts.indices {
            switch set.sources[0].facts[index].content {
            case .opened(var content):
                content.attributes = ["password": .string(Self.secret)]
                set.sources[0].facts[index].content = .opened(content)
            case .exchangeOpened(var content):
                content.query = "access_token=\(Self.secret)"
                content.headerFields = [HeaderField(name: "Authorization", value: token)]
                set.sources[0].facts[index].content = .exchangeOpened(content)
            case .closed(var content):
                content.error = RecordedError(domain: "LoginError", code: 3, text: "refused \(token)")
                set.sources[0].facts[index].content = .closed(content)
            case .event, .attributesSet, .exchangeClosed, .unknown: break
            }
        }
        return set
    }

    private func files() throws -> [Data] {
        try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil).map {
            try Data(contentsOf: $0)
        }
    }

    @Test func whatComesInIsRedactedBeforeItIsStored() async throws {
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            #expect(try await server.post(secretSet).acceptedCount == 6)
            #expect(try await server.get("/v1/transactions/\(login.transaction)").text.contains(Redactor.placeholder))
        }
        let found = try files().contains { $0.range(of: Data(Self.secret.utf8)) != nil }
        #expect(!found)
    }

    /// Breaks when a collector hides values that its apps left visible, or shows values that only its apps know to be
    /// secret.
    @Test func aCollectorGoesByTheNamesOfItsApps() async throws {
        var set = login.clientSet()
        for index in set.sources[0].facts.indices {
            guard case .opened(var content) = set.sources[0].facts[index].content else { continue }
            content.attributes = [
                "code": "AB12x9order", "member": "M77hidden", "note": "code=AB12x9order", "pin": "P4711hidden",
            ]
            set.sources[0].facts[index].content = .opened(content)
        }
        var limits = CollectorLimits()
        (limits.additionalSecretNames, limits.visibleNames) = (["member"], ["code"])
        let collector = try Collector(folder: folder.url, access: .open, limits: limits)
        try await CollectorServer.run(collector) { [set] server async throws in
            _ = try await server.post(set)
            let answer = try await server.get("/v1/transactions/\(login.transaction)").text
            let export = try await server.get("/v1/export").text
            for text in [answer, export] {
                #expect(text.contains("AB12x9order") && text.contains("code=AB12x9order"))
                #expect(!text.contains("M77hidden") && !text.contains("P4711hidden"))
            }
        }
        #expect(try !files().contains { $0.range(of: Data("M77hidden".utf8)) != nil })
    }

    @Test func whatWasStoredRawIsAnsweredRedacted() async throws {
        let store = try Store(.folder(folder.url))
        _ = try store.ingest(secretSet, receivedAt: LoginHistory.begun + 60_000_000)
        try store.checkpoint()
        #expect(try files().contains { $0.range(of: Data(Self.secret.utf8)) != nil })
        try await CollectorServer.run(try Collector(folder: folder.url)) { server async throws in
            let id = login.transaction
            for path in [
                "transactions", "transactions/\(id)", "exchanges", "exchanges/\(login.client.id):3", "export",
                "sources",
            ] {
                let answer = try await server.get("/v1/\(path)")
                #expect(answer.status == 200 && !answer.body.isEmpty, "\(path)")
                #expect(!answer.text.contains(Self.secret), "\(path)")
            }
            let mistake = try await server.get("/v1/transactions?filter=event:%22Bearer%20hunter22sunnx%22")
            #expect(mistake.status == 400 && mistake.text.contains("did you mean"))
            #expect(!mistake.text.contains(Self.secret), "What a name may have been is told redacted, too.")
        }
    }
}
#endif
