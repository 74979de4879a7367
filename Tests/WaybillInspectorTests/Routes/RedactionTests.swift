import Foundation
import TestSupport
import Testing
import WaybillCore
import WaybillQueries
import WaybillStore
import WaybillTesting

@testable import WaybillInspector

/// Sentences and choices on pages are redacted like the data they show.
@Suite(.timeLimit(.minutes(5))) struct PageRedactionTests {
    private static let secret = "hunter22sunny"
    private let folder: TemporaryDirectory

    /// Writes a store without redaction, with a secret in the names of an app, a use case and an event.
    init() throws {
        folder = try TemporaryDirectory()
        var set = LoginHistory().clientSet()
        set.sources[0].source.app = "app Bearer \(Self.secret)"
        for index in set.sources[0].names.indices {
            set.sources[0].names[index].name = "\(index) Bearer \(Self.secret)"
        }
        let store = try Store(.folder(folder.url))
        _ = try store.ingest(set, receivedAt: LoginHistory.begun + 60_000_000)
    }

    private func page(_ path: String, _ redactor: Redactor) async throws -> String {
        let store = try SQLiteStore(folder.url, clock: ManualClock())
        let shown = InspectedStore(name: "phone", store: store, clock: ManualClock(), redactor: redactor)
        let parts = path.split(separator: "?", maxSplits: 1)
        let response = await Inspector(access: LocalAccess(store: shown)).respond(
            to: InspectorRequest(
                path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : "", fields: ["host": "localhost"]))
        guard case .bytes(let bytes) = response.body else { throw WaybillError(.format, "\(path) is no page.") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Breaks when a choice, the reason for an empty list, or a suggestion shows a name unredacted.
    @Test(arguments: [
        "/transactions", "/sessions", "/network", "/use-cases", "/use-cases/0", "/use-cases/0/duration",
        "/use-cases/0/funnel",
        "/terms", "/sources", "/errors", "/errors?filter=event:%221%20Bearer%20hunter22sunnx%22",
        "/transactions?use_case=0&outcome=cancelled", "/use-cases?use_case=0&outcome=cancelled",
        "/transactions?use_case=7",
        "/transactions?filter=event:%221%20Bearer%20hunter22sunnx%22",
        "/network?filter=useCase:%220%20Bearer%20hunter22sunnx%22",
        "/endpoints?filter=useCase:%220%20Bearer%20hunter22sunnx%22",
        "/use-cases?filter=event:%221%20Bearer%20hunter22sunnx%22",
        "/use-cases/0/legs?filter=event:%221%20Bearer%20hunter22sunnx%22",
        "/use-cases/0/duration?from=1%20Bearer%20hunter22sunnx",
        "/use-cases/0/funnel.csv?step=1%20Bearer%20hunter22sunnx",
    ])
    func noSentenceTellsANameAsItWasRecorded(path: String) async throws {
        #expect(try await page(path, .off).contains(Self.secret), "Without redaction it would be there.")
        #expect(try await !page(path, Redactor()).contains(Self.secret))
    }
}
