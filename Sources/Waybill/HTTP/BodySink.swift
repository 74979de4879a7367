import Foundation
import WaybillCore
import WaybillStore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Receives a response for the caller. Calls never overlap, and `ended` is the last one.
protocol BodySink: AnyObject {
    func responded(_ response: URLResponse)
    /// If it throws, the exchange fails.
    func received(_ bytes: Data) throws
    func ended(_ answer: Result<URLResponse, URLError>)
}

final class MemorySink: BodySink {
    private let completion: HTTPCall.Completion<(Data, URLResponse)>
    private let limit: Int
    private var data = Data()
    private var response: URLResponse?
    private var isFull = false

    init(limit: Int = .max, _ completion: @escaping HTTPCall.Completion<(Data, URLResponse)>) {
        self.limit = limit
        self.completion = completion
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

final class FileSink<File>: BodySink {
    private let completion: HTTPCall.Completion<(File, URLResponse)>
    private let url = FileManager.default.temporaryDirectory.appending(
        path: "download-\(GUID()).tmp", directoryHint: .notDirectory)
    private let isNamed: Bool
    private let finish: (FileHandle, URL) throws -> File
    private var file: FileHandle?

    private init(
        isNamed: Bool, _ completion: @escaping HTTPCall.Completion<(File, URLResponse)>,
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
    convenience init(_ completion: @escaping HTTPCall.Completion<(URL, URLResponse)>) {
        self.init(isNamed: true, completion) { file, url in
            try file.close()
            return url
        }
    }
}

extension FileSink where File == FileHandle {
    convenience init(_ completion: @escaping HTTPCall.Completion<(FileHandle, URLResponse)>) {
        self.init(isNamed: false, completion) { file, _ in
            try file.seek(toOffset: 0)
            return file
        }
    }
}

extension FileHandle {
    /// Creates a file in a shared folder: other users can't read it or replace it with a link.
    fileprivate static func making(_ url: URL) throws(URLError) -> FileHandle {
        let descriptor = DurableFile.open(
            url.path(percentEncoded: false), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        guard descriptor >= 0 else { throw URLError(.cannotCreateFile) }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }
}
