import Dispatch
import Foundation
import TestSupport
import Waybill
import WaybillCore
import WaybillQueries

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes requests by every form of the captured session, eight at a time, cancels each after a random 0 to 800
/// microseconds, and prints the recorded exchanges. It provokes hangs and traps; the process that starts it watches
/// for them.
struct CancelStress {
    let count: Int

    func run() async throws {
        let server = try LoopbackServer { _ in .text("answer") }
        let transactions = TransactionManager(store: .inMemory, correlatedHosts: ["127.0.0.1"])
        let url = server.url()
        let file = FileManager.default.temporaryDirectory.appending(path: "waybill-body-\(UUID().uuidString)")
        try Data(count: 100_000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let logins = await withTaskGroup(of: [GUID].self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var logins: [UseCaseTransaction<TestProcess.Login>] = []
                    for index in 0..<(count / 8) {
                        // A transaction with thousands of exchanges would test something else.
                        if index % 50 == 0 { logins.append(transactions.begin(TestProcess.Login.self)) }
                        let login = logins[logins.count - 1]
                        let request = Task {
                            try await send(
                                URLRequest(url: url), in: login, by: transactions.session, form: index + worker,
                                file: file)
                        }
                        let cancellation = DispatchWorkItem { request.cancel() }
                        DispatchQueue.global().asyncAfter(
                            deadline: .now() + .microseconds(.random(in: 0...800)), execute: cancellation)
                        _ = await request.result
                    }
                    return logins.map(\.id)
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        try await transactions.sync()
        var exchanges: [TransactionRecord.Exchange] = []
        for login in logins { exchanges += try await transactions.transaction(login)?.exchanges ?? [] }
        let states = Dictionary(grouping: exchanges) { $0.state }.mapValues(\.count)
        print(
            "completed \(states[.completed] ?? 0) cancelled \(states[.cancelled] ?? 0) failed \(states[.failed] ?? 0)",
            "in progress \(states[nil] ?? 0)")
        fflush(nil)
        // Cancelled tasks end on their own queue; a trap there must be seen, too.
        _ = try await transactions.session.data(from: url)
    }

    private func send(
        _ request: URLRequest, in login: UseCaseTransaction<TestProcess.Login>, by session: CapturedSession, form: Int,
        file: URL
    ) async throws {
        switch form % 5 {
        case 0: _ = try await session.data(for: request, in: login)
        case 1: for try await _ in try await session.bytes(for: request, in: login).0 {}
        case 2: try FileManager.default.removeItem(at: try await session.download(for: request, in: login).0)
        case 3:
            var request = request
            request.httpMethod = "PUT"
            _ = try await session.upload(for: request, fromFile: file, in: login)
        default:
            var request = request
            request.httpMethod = "POST"
            let ended = Gate()
            let task = session.uploadTask(with: request, from: Data("body".utf8), in: login) { _, _, _ in ended.open() }
            task.resume()
            await withTaskCancellationHandler {
                await ended.opened()
            } onCancel: {
                task.cancel()
            }
        }
    }
}
