import Foundation
import TestSupport
import Waybill
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Records each hostile text wherever an app can supply text: as a name, an attribute, an error, a URL, a header field,
/// and in the bodies of requests and responses.
struct HostileRecorder {
    /// A use case whose events are named after the texts.
    private struct Hostile: UseCase {
        static let code = 60
        static let name = HostileText.corpus[0]
        static let allCases = HostileText.corpus.indices.map { Hostile(rawValue: $0) }
        let rawValue: Int

        var eventName: String { HostileText.corpus[rawValue] }
    }

    /// The folder of the store.
    let folder: URL

    /// Records the texts. Also delivers to the collector in `WAYBILL_COLLECTOR`, if set, with the token in
    /// `WAYBILL_TOKEN`.
    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        let server = try LoopbackServer { request in
            .text("{\"back\":\(String(decoding: request.body, as: UTF8.self))}", type: "application/json")
        }
        var options = TransactionManager.Options()
        options.app = HostileText.corpus[2]
        options.appVersion = HostileText.corpus[3]
        options.privacy.keepsErrorTexts = true
        options.network.bodies = BodyPolicy()
        let collector = environment["WAYBILL_COLLECTOR"].flatMap { URL(string: $0) }
        let transactions = TransactionManager(
            store: .directory(folder), delivery: collector.map { .collector($0, token: environment["WAYBILL_TOKEN"]) }
        ) { $0 = options }
        for (index, text) in HostileText.corpus.enumerated() {
            let hostile = transactions.begin(Hostile.self, attributes: ["plain": .string(text), text: "value"])
            hostile.log(
                Hostile(rawValue: index), error: RecordedError(domain: text, code: 1, text: text),
                attributes: ["said": .string(text)])
            var request = URLRequest(
                url: server.url("/").appending(path: text).appending(queryItems: [URLQueryItem(name: "q", value: text)])
            )
            request.httpMethod = "POST"
            request.httpBody = try JSONEncoder().encode([text: text])
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            // Clients never send characters that a header field cannot hold.
            if text.unicodeScalars.allSatisfy({ (0x20..<0x7F).contains($0.value) }) {
                request.setValue(text, forHTTPHeaderField: "X-Said")
            }
            _ = try? await transactions.session.data(for: request, in: hostile)
            hostile.finish(
                .failed, error: RecordedError(domain: text, code: 2, text: text), attributes: ["end": .string(text)])
        }
        try await transactions.sync()
        if collector != nil { print(await transactions.flush()) }
        server.stop()
    }
}
