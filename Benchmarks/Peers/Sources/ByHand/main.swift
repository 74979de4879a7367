import Foundation
import Work

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The first solution that comes to mind: a line of JSON for each event on a queue, and a delegate that logs requests.
struct ByHand: Peer {
    let lines: Lines
    let delegate: LoggingDelegate
    let session: URLSession

    init(folder: URL) throws {
        lines = try Lines(folder: folder)
        delegate = LoggingDelegate(lines)
        session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
    }

    func begin() -> String { UUID().uuidString }

    func log(_ step: Step, in login: String) { lines.add(Line(login: login, kind: "event", step: step.rawValue)) }

    func send(_ request: URLRequest, in login: String) async throws -> (Data, URLResponse) {
        var request = request
        request.setValue(login, forHTTPHeaderField: "X-Login")
        return try await delegate.answer(to: session.dataTask(with: request))
    }

    func end(_ login: String) { lines.add(Line(login: login, kind: "ended")) }

    func finish() { lines.finish() }
}

struct Line: Encodable, Sendable {
    var login: String
    var at = Date().timeIntervalSince1970
    var kind: String
    var step: Int?
    var url: String?
    var status: Int?
}

/// Encodes and writes on a separate queue.
final class Lines: Sendable {
    private let queue = DispatchQueue(label: "lines", qos: .utility)
    private let file: FileHandle

    init(folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.appending(path: "log.ndjson").path
        if !FileManager.default.fileExists(atPath: path) { FileManager.default.createFile(atPath: path, contents: nil) }
        file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seekToEnd()
    }

    func add(_ line: Line) {
        queue.async { [file] in
            do { try file.write(contentsOf: JSONEncoder().encode(line) + Data("\n".utf8)) } catch {
                preconditionFailure("\(error)")
            }
        }
    }

    func finish() { queue.sync {} }
}

/// Logs requests, and assembles their answers: on Linux, a task with a completion handler reports nothing to a
/// delegate.
final class LoggingDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {  // right because of the lock
    typealias Answer = CheckedContinuation<(Data, URLResponse), any Error>

    private let lines: Lines
    private let lock = NSLock()
    private var underWay: [Int: (data: Data, answer: Answer)] = [:]

    init(_ lines: Lines) { self.lines = lines }

    func answer(to task: URLSessionDataTask) async throws -> (Data, URLResponse) {
        try await withCheckedThrowingContinuation { answer in
            lock.withLock { underWay[task.taskIdentifier] = (Data(), answer) }
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        lock.withLock { underWay[dataTask.taskIdentifier]?.data.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let request = task.originalRequest
        lines.add(
            Line(
                login: request?.value(forHTTPHeaderField: "X-Login") ?? "", kind: "request",
                url: request?.url?.absoluteString, status: (task.response as? HTTPURLResponse)?.statusCode))
        guard let (data, answer) = lock.withLock({ underWay.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let response = task.response, error == nil {
            answer.resume(returning: (data, response))
        } else {
            answer.resume(throwing: error ?? URLError(.badServerResponse))
        }
    }
}

try await Work.run(ByHand.self)
