import Foundation
import Logging
import Work

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Writes a line for each event with swift-log's own handler, with standard output redirected to a file.
struct WithSwiftLog: Peer {
    init(folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = open(folder.appending(path: "log.txt").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard file >= 0, dup2(file, 1) == 1 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        close(file)
    }

    func begin() -> Logger {
        var logger = Logger(label: "login") { StreamLogHandler.standardOutput(label: $0) }
        logger[metadataKey: "transaction"] = "\(UUID())"
        return logger
    }

    func log(_ step: Step, in login: Logger) { login.info("event", metadata: ["step": "\(step.rawValue)"]) }

    func send(_ request: URLRequest, in login: Logger) async throws -> (Data, URLResponse) {
        login.info("request", metadata: ["url": "\(request.url?.absoluteString ?? "")"])
        let (data, response) = try await URLSession.shared.data(for: request)
        login.info("response", metadata: ["status": "\((response as? HTTPURLResponse)?.statusCode ?? 0)"])
        return (data, response)
    }

    func end(_ login: Logger) { login.info("ended") }

    func finish() {}
}

try await Work.run(WithSwiftLog.self)
