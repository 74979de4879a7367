#if !canImport(FoundationNetworking)
import Foundation
import WaybillCore

/// A background session: the system sends its files while the app is suspended, and wakes or launches the app for
/// responses. Each task carries its upload's name for later launches.
final class BackgroundSession: NSObject, UploadSession, URLSessionDataDelegate {
    private typealias Answer = Result<(Data, URLResponse), URLError>

    private struct State {
        var waiting: [String: CheckedContinuation<Answer, Never>] = [:]
        var answers: [String: Answer] = [:]
        var received: [Int: Data] = [:]
    }

    private let state = Locked(State())
    private let session = Locked<URLSession?>(nil)
    private static let byteLimit = 8 << 20

    init(identifier: String, appGroup: String?) {
        super.init()
        let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
        configuration.sharedContainerIdentifier = appGroup
        configuration.timeoutIntervalForResource = Double(BackgroundUploads.leaseMicroseconds) / 1_000_000
        configuration.urlCache = nil
        let made = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        session.withLock { $0 = made }
    }

    func isUnderWay(_ name: String) async -> Bool {
        if state.withLock({ $0.answers[name] != nil }) { return true }
        return await task(name) != nil
    }

    private func task(_ name: String) async -> URLSessionTask? {
        await session.withLock { $0 }?.allTasks.first { $0.taskDescription == name && $0.state != .completed }
    }

    func upload(
        _ file: URL, by request: URLRequest, named name: String, deadline: Duration, limit: Int
    ) async throws(URLError) -> (Data, URLResponse) {
        if let answer = state.withLock({ $0.answers.removeValue(forKey: name) }) { return try answer.get() }
        if await task(name) == nil {
            let task = try BackgroundUploads.withReadable(file) {
                session.withLock { $0 }?.uploadTask(with: request, fromFile: file)
            }
            task?.taskDescription = name
            task?.resume()
        }
        let timer = Task {
            if (try? await Task.sleep(for: deadline.bounded)) != nil {
                self.answer(name, .failure(URLError(.timedOut)), isKept: false)
            }
        }
        defer { timer.cancel() }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state in
                    let known = state.answers.removeValue(forKey: name)
                    if known == nil { state.waiting[name] = continuation }
                    return known
                }
                if let known { continuation.resume(returning: known) }
                if Task.isCancelled { self.answer(name, .failure(URLError(.cancelled)), isKept: false) }
            }
        } onCancel: {
            self.answer(name, .failure(URLError(.cancelled)), isKept: false)
        }
        return try answer.get()
    }

    func cancel(_ name: String) {
        state.withLock { _ = $0.answers.removeValue(forKey: name) }
        Task { await task(name)?.cancel() }
    }

    private func answer(_ name: String, _ answer: Answer, isKept: Bool) {
        let waiting = state.withLock { state in
            let waiting = state.waiting.removeValue(forKey: name)
            if waiting == nil, isKept { state.answers[name] = answer }
            return waiting
        }
        waiting?.resume(returning: answer)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { state in
            let before = state.received[dataTask.taskIdentifier] ?? Data()
            state.received[dataTask.taskIdentifier] = before + data.prefix(max(0, Self.byteLimit - before.count))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let data = state.withLock { $0.received.removeValue(forKey: task.taskIdentifier) } ?? Data()
        guard let name = task.taskDescription else { return }
        if let response = task.response, error == nil {
            answer(name, .success((data, response)), isKept: true)
        } else {
            answer(name, .failure(error as? URLError ?? URLError(.unknown)), isKept: true)
        }
    }
}
#endif
