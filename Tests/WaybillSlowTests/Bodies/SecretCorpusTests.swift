import Foundation
import TestSupport
import Testing
import WaybillCore

@testable import Waybill
@testable import WaybillTests

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension WayIn {
    /// Another HTTP stack, which reports its bodies in small pieces.
    static let recorder = WayIn(name: "public recorder") { call, tx in
        let exchange = tx.openExchange(try #require(ExchangeRequest(call.request)))
        if case .data(let body) = call.body { pieces(of: body).forEach { exchange.sent($0) } }
        do {
            let (data, response) = try await BareSession.send(call)
            exchange.responded(try #require(ExchangeResponse(response)))
            pieces(of: data).forEach { exchange.received($0) }
            exchange.finish()
            return (data, response)
        } catch {
            exchange.fail(error)
            throw error
        }
    }

    private static func pieces(of data: Data) -> [Data] {
        stride(from: 0, to: data.count, by: 5).map { data.dropFirst($0).prefix(5) }
    }
}

/// Rule 8 of the design: no secret reaches the disk, whatever its way in, its place and its form.
@Suite(.timeLimit(.minutes(10))) struct SecretCorpusTests {
    /// Sends every secret through a `WayIn`, and has another process search the store's files for them.
    private func found(by way: WayIn, isControl: Bool = false, bodyLimit: Int = 1 << 20) async throws -> (
        Set<String>, [String]
    ) {
        let folder = try TemporaryDirectory()
        var corpus = SecretCorpus(seed: bodyLimit)
        let questions = corpus.bodies("request")
        let answers = corpus.bodies("response")
        let fields = corpus.headerFields("request")
        let target = corpus.target("/bodies")
        let location = "/elsewhere?session_token=\(corpus.word("Location: query"))"
        let cookie = "sid=\(corpus.word("response header: Set-Cookie")); Path=/"
        let server = try LoopbackServer { request in
            if request.path.hasPrefix("/moved") { return Self.redirect(to: location) }
            if request.path.hasPrefix("/cut") { return LoopbackServer.Response(body: answers[0].data).cutShort }
            let answer = answers[Int(request.header("X-Number") ?? "") ?? 0]
            return .init(headers: [("Content-Type", answer.type), ("Set-Cookie", cookie)], body: answer.data)
        }
        var options = TransactionManager.Options()
        options.diagnostics = { _ in }
        options.privacy.keepsErrorTexts = true
        options.network.bodies = BodyPolicy()
        options.network.bodies?.maximumByteCount = bodyLimit
        var settings = RecordingSettings(
            store: .directory(folder.file("store")), correlatedHosts: ["127.0.0.1"], options: options)
        if isControl { settings.redactor = .off }
        let tx = TransactionManager(settings: settings, delivery: nil, diagnostics: { _ in })

        let login = tx.begin(
            Login.self,
            attributes: [
                "note": .string("password=\(corpus.word("attribute: value"))"),
                "api_key": .string(corpus.word("attribute: name")),
            ])
        let text = "the server said: invalid token=\(corpus.word("error: text")), card \(corpus.card("error: card"))"
        login.log(.responseReceived, error: RecordedError(domain: "Server", code: 1, text: text))
        await login.withCurrent {
            for number in questions.indices {
                var request = URLRequest(url: server.url(target))
                request.httpMethod = "POST"
                request.allHTTPHeaderFields = fields.merging([
                    "Content-Type": questions[number].type, "X-Number": "\(number)",
                ]) { $1 }
                _ = try? await way.send(WayIn.Call(request: request, body: .data(questions[number].data)), tx)
            }
            for path in ["/moved", "/cut"] {
                _ = try? await way.send(WayIn.Call(request: URLRequest(url: server.url(path))), tx)
            }
        }
        login.finish(
            .failed, error: RecordedError(domain: "Server", code: 2, text: "Bearer \(corpus.word("error: bearer"))"))
        try await tx.sync()
        // Not synced yet, and therefore still in the journal.
        tx.begin(Login.self, attributes: ["note": .string("token=\(corpus.word("journal"))")]).log(.initiated)
        #expect(tx.health.problems.isEmpty)
        #expect(tx.health.omittedBodies == 0)

        let lines = corpus.secrets.map { "\($0.name)\t\($0.value)\n" }.joined()
        try Data(lines.utf8).write(to: folder.file("secrets"))
        // A journal whose content is on the disk may be overwritten before the hunter starts. The control has one that
        // stays.
        if isControl, let secret = corpus.secrets.last?.value {
            try Data("note=\(secret)".utf8).write(to: folder.file("store/journal-planted"))
        }
        // The manager still has the store open: data without a checkpoint is in the WAL, and unsettled data in the
        // journal.
        let (output, status) = try await ChildProcess("TestProcess", ["hunt", folder.url.path()]).finished()
        #expect(status == 0)
        server.stop()
        withExtendedLifetime(tx) {}
        return (Set(output.split(separator: "\n").map(String.init)), corpus.secrets.map(\.name))
    }

    private static func redirect(to location: String) -> LoopbackServer.Response {
        .init(status: 302, headers: [("Location", location)])
    }

    @Test(arguments: WayIn.all + [.recorder]) func noSecretReachesTheDisk(way: WayIn) async throws {
        let (found, _) = try await found(by: way)
        #expect(found.isEmpty, "\(found.sorted().joined(separator: "\n"))")
    }

    /// Breaks when the limit leaves the first half of a secret, which has lost its shape.
    @Test(arguments: [37, 90, 151, 230, 333, 420, 512]) func noHalfOfASecretReachesTheDiskWhereABodyIsCut(limit: Int)
        async throws
    {
        let (found, _) = try await found(by: .recorder, bodyLimit: limit)
        #expect(found.isEmpty, "\(found.sorted().joined(separator: "\n"))")
    }

    /// The control: without redaction the same hunter finds every secret, and each form.
    @Test func withoutRedactionTheyAreAllFound() async throws {
        let (found, names) = try await found(by: WayIn.session[0], isControl: true)
        let parts = found.map { $0.split(separator: "\t").map(String.init) }
        let missing = Set(names).subtracting(parts.map { $0[0] })
        #expect(missing.isEmpty, "\(missing.sorted())")
        #expect(Set(parts.map { $0[1] }) == ["plain", "beginning", "end", "percent", "\\u", "base64"])
        #expect(parts.contains { $0[2] == "bodies.bytes inflated" })
        #expect(parts.contains { $0[2].hasPrefix("waybill.sqlite") } && parts.contains { $0[2].hasPrefix("journal-") })
    }
}
