import Foundation
import Waybill
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
import WaybillQueries
#endif

/// Makes requests for `WAYBILL_TEST_PATHS` to the server at `WAYBILL_TEST_URL`, within a transaction, captured in the
/// way that the verb names. Prints the recorded exchanges.
enum Exchanges: String {
    case session = "exchange-session", delegate = "exchange-delegate", passive = "exchange-passive"

    func run(in folder: URL) async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let text = environment["WAYBILL_TEST_URL"], let server = URL(string: text) else { exit(64) }
        let transactions = TransactionManager(store: .directory(folder), correlatedHosts: ["127.0.0.1"])
        // The only line that passive capture needs at startup.
        if self == .passive { transactions.passiveCapture.start() }
        let login = transactions.begin(TestProcess.Login.self)
        for path in (environment["WAYBILL_TEST_PATHS"] ?? "").split(separator: " ") {
            var request = URLRequest(url: server.appending(path: String(path)))
            if path == "upload" {
                request.httpMethod = "POST"
                request.httpBody = Data(repeating: UInt8(ascii: "x"), count: 10_000)
            }
            try await send(request, for: login, transactions)
        }
        login.finish()
        try await transactions.sync()
        let exchanges = try await transactions.transaction(login.id)?.exchanges ?? []
        print(String(decoding: try JSONEncoder().encode(exchanges), as: UTF8.self))
    }

    private func send(
        _ request: URLRequest, for login: UseCaseTransaction<TestProcess.Login>, _ transactions: TransactionManager
    )
        async throws
    {
        switch self {
        case .session: _ = try? await transactions.session.data(for: request, in: login)
        case .passive: _ = try? await login.withCurrent { try await URLSession.shared.data(for: request) }
        case .delegate:
            let end = End()
            let capturing = transactions.capturing(end)
            let session = URLSession(configuration: .ephemeral, delegate: capturing, delegateQueue: nil)
            let task = capturing.task(for: request, in: login) { session.dataTask(with: $0) }
            await withCheckedContinuation { continuation in
                end.continuation.withLock { $0 = continuation }
                task.resume()
            }
            session.finishTasksAndInvalidate()
        }
    }

    /// Waits for the end of a task.
    private final class End: NSObject, URLSessionDataDelegate, Sendable {
        let continuation = Locked<CheckedContinuation<Void, Never>?>(nil)

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            continuation.withLock { $0 }?.resume()
        }
    }
}
