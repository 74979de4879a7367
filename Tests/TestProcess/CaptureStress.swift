import Dispatch
import Foundation
import TestSupport
import Waybill
import WaybillCore
import WaybillQueries

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes requests in sessions that are captured from outside, eight at a time, cancels each after a random 0 to 800
/// microseconds, and prints how many exchanges were completed, cancelled or failed, and left open. It provokes hangs
/// and traps; the process that starts it watches for them.
enum CaptureStress: String {
    case passive = "cancel-passive", delegate = "cancel-delegate"

    func run(_ count: Int) async throws {
        let server = try LoopbackServer { $0.path == "/never" ? .never : .text("answer") }
        let transactions = TransactionManager(store: .inMemory, correlatedHosts: ["127.0.0.1"])
        let ends = Ends()
        let capturing = transactions.capturing(ends)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil  // with a cache, a request that is cancelled early traps in Foundation itself
        let session = URLSession(
            configuration: configuration, delegate: self == .delegate ? capturing : ends, delegateQueue: nil)
        if self == .passive {
            #if canImport(FoundationNetworking)
            transactions.passiveCapture.include(session)
            #endif
            transactions.passiveCapture.start()
        }
        let logins = await withTaskGroup(of: [GUID].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var ids: [GUID] = []
                    for _ in 0..<(count / 8 / 20) {
                        let login = transactions.begin(TestProcess.Login.self)
                        ids.append(login.id)
                        for number in 0..<20 {
                            let ended = Gate()
                            // Some are never answered, because cancellations are late on a busy machine.
                            let request = URLRequest(url: server.url(number % 8 == 0 ? "/never" : "/"))
                            let task = await login.resume(
                                request, in: session, by: self == .delegate ? capturing : nil, ends: ends, ended)
                            // Cancels on the queue that delivers answers, as everywhere on Linux: from another queue, a
                            // cancellation can wait forever.
                            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(.random(in: 0...800))) {
                                session.delegateQueue.addOperation { task.cancel() }
                            }
                            await ended.opened()
                        }
                        login.finish()
                    }
                    return ids
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        try await transactions.sync()
        var exchanges: [TransactionRecord.Exchange] = []
        for login in logins { exchanges += try await transactions.transaction(login)?.exchanges ?? [] }
        let completed = exchanges.filter { $0.state == .completed }.count
        let open = exchanges.filter { $0.state == nil }.count
        print(completed, exchanges.count - completed - open, open)
    }

    /// A delegate that opens the gate of each task that ends.
    final class Ends: NSObject, URLSessionDataDelegate, Sendable {
        private let gates = Locked<[ObjectIdentifier: Gate]>([:])

        func note(_ gate: Gate, of task: URLSessionTask) { gates.withLock { $0[ObjectIdentifier(task)] = gate } }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            gates.withLock { $0.removeValue(forKey: ObjectIdentifier(task)) }?.open()
        }
    }
}

extension UseCaseTransaction {
    /// Resumes a request within this transaction, and opens the gate when the request ends.
    fileprivate func resume(
        _ request: URLRequest, in session: URLSession, by capturing: CapturingDelegate?, ends: CaptureStress.Ends,
        _ ended: Gate
    ) async -> URLSessionTask {
        guard let capturing else {
            let task = session.dataTask(with: request) { _, _, _ in ended.open() }
            // The transaction is the current one where the task is resumed.
            await withCurrent { task.resume() }
            return task
        }
        let task = capturing.task(for: request, in: self) { session.dataTask(with: $0) }
        ends.note(ended, of: task)
        task.resume()
        return task
    }
}
