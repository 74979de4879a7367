import Foundation
import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension WayIn {
    /// Every way to make a request.
    static let all = session + capture

    /// The forms of the captured session.
    static let session = [
        WayIn(name: "session.data and upload") { call, tx in
            switch call.body {
            case .none, .stream: try await tx.session.data(for: call.requestWithBody)
            case .data(let data): try await tx.session.upload(for: call.request, from: data)
            case .file(let file): try await tx.session.upload(for: call.request, fromFile: file)
            }
        },
        // A task that is cancelled before it is resumed sends and records nothing.
        WayIn(name: "session.dataTask and uploadTask", limits: [.unsent]) { call, tx in
            try await completed { handler in
                switch call.body {
                case .none, .stream: tx.session.dataTask(with: call.requestWithBody, completionHandler: handler)
                case .data(let data): tx.session.uploadTask(with: call.request, from: data, completionHandler: handler)
                case .file(let file):
                    tx.session.uploadTask(with: call.request, fromFile: file, completionHandler: handler)
                }
            }
        },
        WayIn(name: "session.download") { call, tx in
            let (file, response) = try await tx.session.download(for: call.requestWithBody)
            defer { try? FileManager.default.removeItem(at: file) }
            return (try Data(contentsOf: file), response)
        },
        WayIn(name: "session.downloadTask", limits: [.unsent]) { call, tx in
            try await completed { handler in
                tx.session.downloadTask(with: call.requestWithBody) { file, response, error in
                    handler(file.flatMap { try? Data(contentsOf: $0) }, response, error)
                }
            }
        },
        WayIn(name: "session.bytes") { call, tx in
            let (bytes, response) = try await tx.session.bytes(for: call.requestWithBody)
            var data = Data()
            for try await piece in bytes { data += piece }
            return (data, response)
        },
    ]

    /// Runs a task with a completion handler from a Swift task, whose cancellation cancels it.
    private static func completed(
        _ make: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> CapturedTask
    ) async throws -> (Data, URLResponse) {
        let (answers, continuation) = AsyncStream<Result<(Data, URLResponse), any Error>>.makeStream()
        let task = make { data, response, error in
            if let data, let response { continuation.yield(.success((data, response))) }
            if let error { continuation.yield(.failure(error)) }
            continuation.finish()
        }
        if Task.isCancelled { task.cancel() } else { task.resume() }
        return try await withTaskCancellationHandler {
            // Detached, to wait for the answer even if the task is cancelled.
            let answer = await Task.detached { await answers.first { _ in true } }.value
            guard let answer else { throw URLError(.unknown) }
            return try answer.get()
        } onCancel: {
            task.cancel()
        }
    }
}
