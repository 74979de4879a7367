#if Collector
import Foundation
import Hummingbird
import Logging
import NIOCore
import TestSupport
import Waybill
import WaybillCollector
import WaybillInspector

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An app whose inspector has controls, as a tester's build of one: its pages are on a port of this machine, so that a
/// browser can try every button, and it sends a request of its own when it is asked to.
///
/// `POST /app/request?method=GET&path=/orders` has it send one within a transaction, to a server of its own, and tells
/// what came of it; `GET /app/rules` tells its rules as they are, with their secrets. Its argument is the folder of its
/// store; `--remember` has it remember whether it records. The first line of its output is
/// `listening on http://127.0.0.1:PORT`.
@main
struct InspectedApp {
    private enum Visit: Int, UseCase {
        static let code = 7
        case asked = 0, answered = 1
    }

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let folder = arguments.first else {
            FileHandle.standardError.write(Data("Give the folder of the store.\n".utf8))
            exit(64)
        }
        let transactions = TransactionManager(store: .directory(URL(filePath: folder))) { options in
            options.app = "shop"
            options.remembersRecording = arguments.contains("--remember")
            options.erasesPendingWhenOff = options.remembersRecording
        }
        // What the app's own code has added, with secrets that no page may show.
        transactions.rules.add(
            NetworkRule(
                "from the app",
                matching: RequestPattern(
                    path: "/account", headerFields: ["Authorization": .exact("Bearer app-hunter22sunny")]),
                .mock(
                    NetworkRule.Response(
                        headerFields: [
                            HeaderField(name: "Content-Type", value: "application/json"),
                            HeaderField(name: "Set-Cookie", value: "session=cookie-hunter22sunny"),
                        ], body: Data(#"{"name":"Ada","access_token":"token-hunter22sunny"}"#.utf8)))))
        try await serve(transactions)
        try await transactions.sync()
    }

    private static func serve(_ transactions: TransactionManager) async throws {
        let server = try LoopbackServer { request in
            .text("\(request.method) from the server " + String(repeating: "x", count: 2_000))
        }
        let inspector = Inspector(transactions, hasControls: true)
        let router = inspector.router()
        router.post("app/request") { request, _ in
            let items = request.uri.queryParameters
            var asked = URLRequest(url: server.url(items["path"].map { String($0) } ?? "/"))
            asked.httpMethod = items["method"].map { String($0) } ?? "GET"
            if let token = items["token"] { asked.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
            return json(try JSONEncoder().encode(await outcome(of: asked, transactions)))
        }
        router.get("app/rules") { _, _ in json(transactions.rules.json()) }
        var logger = Logger(label: "app")
        logger.logLevel = .error
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                FileHandle.standardOutput.write(
                    Data("listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)\n".utf8))
            },
            logger: logger)
        try await application.runService()  // until SIGTERM
        server.stop()
    }

    private static func json(_ data: Data) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: data)))
    }

    private struct Outcome: Encodable {
        var status: Int?
        var body: String?
        var error: Int?
        var seconds: Double
    }

    /// What the app sees of a request that it sends.
    private static func outcome(of request: URLRequest, _ transactions: TransactionManager) async -> Outcome {
        let begun = ContinuousClock.now
        var outcome = Outcome(seconds: 0)
        do {
            try await transactions.perform(Visit.self) { visit in
                visit.log(.asked)
                let (data, response) = try await transactions.session.data(for: request)
                visit.log(.answered)
                outcome.status = (response as? HTTPURLResponse)?.statusCode
                outcome.body = String(decoding: data, as: UTF8.self)
            }
        } catch {
            outcome.error = (error as? URLError)?.code.rawValue ?? 0
        }
        outcome.seconds = (ContinuousClock.now - begun) / .seconds(1)
        return outcome
    }
}
#else
@main
struct InspectedApp {
    static func main() {
        print("The inspected app needs a server: build with --traits Collector.")
    }
}
#endif
