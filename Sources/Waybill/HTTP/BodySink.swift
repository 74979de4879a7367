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

/// Gathers the body in memory, up to a limit: of a longer one what came until one byte behind it, and the rest is not
/// waited for.
final class MemorySink: BodySink {
    private let completion: @Sendable (Result<(Data, URLResponse), URLError>) -> Void
    private let limit: Int
    private var data = Data()
    private var response: URLResponse?
    private var isFull = false

    init(limit: Int, _ completion: @escaping @Sendable (Result<(Data, URLResponse), URLError>) -> Void) {
        self.limit = limit
        self.completion = completion
    }

    /// Without a limit: the caller asked for all of it.
    convenience init(_ completion: @escaping @Sendable (Result<(Data, URLResponse), URLError>) -> Void) {
        self.init(limit: .max, completion)
    }

    func responded(_ response: URLResponse) { self.response = response }

    func received(_ bytes: Data) throws {
        let room = limit - data.count
        if bytes.count > room {
            isFull = true
            data.append(bytes.prefix(room + 1))
            throw URLError(.dataLengthExceedsMaximum)
        }
        if data.isEmpty { data = bytes } else { data.append(bytes) }
    }

    func ended(_ answer: Result<URLResponse, URLError>) {
        if isFull, let response { return completion(.success((data, response))) }
        completion(answer.map { (data, $0) })
    }
}

/// Writes the body to a new file; one that does not come whole leaves none.
final class FileSink<File>: BodySink {
    private let completion: @Sendable (Result<(File, URLResponse), URLError>) -> Void
    private let url = FileManager.default.temporaryDirectory.appending(
        path: "download-\(UUID().uuidString).tmp", directoryHint: .notDirectory)
    private let isNamed: Bool
    /// Makes of the file what the caller gets.
    private let finish: (FileHandle, URL) throws -> File
    private var file: FileHandle?

    private init(
        isNamed: Bool, _ completion: @escaping @Sendable (Result<(File, URLResponse), URLError>) -> Void,
        finish: @escaping (FileHandle, URL) throws -> File
    ) {
        (self.isNamed, self.completion, self.finish) = (isNamed, completion, finish)
    }

    func responded(_ response: URLResponse) {}

    func received(_ bytes: Data) throws { try opened().write(contentsOf: bytes) }

    func ended(_ answer: Result<URLResponse, URLError>) {
        do {
            let response = try answer.get()
            completion(.success((try finish(opened(), url), response)))  // an empty body is an empty file
        } catch {
            try? file?.close()
            if file != nil, isNamed { try? FileManager.default.removeItem(at: url) }
            completion(
                .failure(error as? URLError ?? URLError(.cannotCreateFile, userInfo: [NSUnderlyingErrorKey: error])))
        }
    }

    private func opened() throws -> FileHandle {
        if let file { return file }
        let file = try FileHandle.making(url)
        if !isNamed { unlink(url.path(percentEncoded: false)) }
        self.file = file
        return file
    }
}

extension FileSink where File == URL {
    /// The file belongs to the caller that gets it.
    convenience init(_ completion: @escaping @Sendable (Result<(URL, URLResponse), URLError>) -> Void) {
        self.init(isNamed: true, completion) { file, url in
            try file.close()
            return url
        }
    }
}

extension FileSink where File == FileHandle {
    /// The file has no name any more, and is for its caller to read from its beginning.
    convenience init(_ completion: @escaping @Sendable (Result<(FileHandle, URLResponse), URLError>) -> Void) {
        self.init(isNamed: false, completion) { file, _ in
            try file.seek(toOffset: 0)
            return file
        }
    }
}

extension FileHandle {
    /// A new file in a folder that all users may share: none of them may read it, nor have put a link in its place.
    fileprivate static func making(_ url: URL) throws(URLError) -> FileHandle {
        let descriptor = open(
            url.path(percentEncoded: false), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw URLError(.cannotCreateFile) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
