import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes of an answer what the caller asked for. Calls never overlap; `ended` is the last.
protocol BodySink: AnyObject {
    func responded(_ response: URLResponse)
    /// - Throws: Where the bytes cannot be kept, and then the exchange fails.
    func received(_ bytes: Data) throws
    func ended(_ answer: Result<URLResponse, URLError>)
}

/// Gathers the body in memory.
final class MemorySink: BodySink {
    private let completion: @Sendable (Result<(Data, URLResponse), URLError>) -> Void
    private var data = Data()

    init(_ completion: @escaping @Sendable (Result<(Data, URLResponse), URLError>) -> Void) {
        self.completion = completion
    }

    func responded(_ response: URLResponse) {}

    func received(_ bytes: Data) {
        if data.isEmpty { data = bytes } else { data.append(bytes) }
    }

    func ended(_ answer: Result<URLResponse, URLError>) { completion(answer.map { (data, $0) }) }
}

/// Writes the body to a new file, which belongs to the caller that gets it; a body that does not come whole leaves
/// none.
final class FileSink: BodySink {
    private let completion: @Sendable (Result<(URL, URLResponse), URLError>) -> Void
    private let url = FileManager.default.temporaryDirectory.appending(
        path: "download-\(UUID().uuidString).tmp", directoryHint: .notDirectory)
    private var file: FileHandle?

    init(_ completion: @escaping @Sendable (Result<(URL, URLResponse), URLError>) -> Void) {
        self.completion = completion
    }

    func responded(_ response: URLResponse) {}

    func received(_ bytes: Data) throws { try opened().write(contentsOf: bytes) }

    func ended(_ answer: Result<URLResponse, URLError>) {
        do {
            let response = try answer.get()
            try opened().close()  // an empty body is an empty file
            completion(.success((url, response)))
        } catch {
            try? file?.close()
            if file != nil { try? FileManager.default.removeItem(at: url) }
            completion(
                .failure(error as? URLError ?? URLError(.cannotCreateFile, userInfo: [NSUnderlyingErrorKey: error])))
        }
    }

    private func opened() throws -> FileHandle {
        if let file { return file }
        // No other user may read it, even where the process's mask allows it: all users may share the folder.
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        else {
            throw URLError(.cannotCreateFile)
        }
        let file = try FileHandle(forWritingTo: url)
        self.file = file
        return file
    }
}
