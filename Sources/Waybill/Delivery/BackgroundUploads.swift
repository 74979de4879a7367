import Foundation
import WaybillCore
import WaybillStore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends sets from files, also while the app is suspended and after it ended.
///
/// The files stay until the response is settled. A later launch sends them again under the same ID, or waits for a
/// running upload. A collector counts a set once, however often it arrives.
final class BackgroundUploads: Sendable {
    /// The time after which the facts of an unanswered set may be sent in another one. It is days, since the system may
    /// wait for Wi-Fi and power before it sends what an app began in the background.
    static let leaseMicroseconds = Store.longestLeaseMicroseconds

    /// The owner of the leases: no single process, since any launch may receive the response.
    let owner: GUID
    private let folder: URL
    private let session: any UploadSession

    init(identifier: String, folder: URL?, appGroup: String? = nil, session: (any UploadSession)? = nil) {
        owner = .ofNoProcess(named: identifier)
        let container = appGroup.flatMap(StoreLocation.sharedFolder) ?? StoreLocation.container
        self.folder = folder ?? container.appending(path: "uploads/\(identifier)")
        #if canImport(FoundationNetworking)
        self.session = session ?? HTTPSession(configuration: .ephemeral)
        #else
        self.session = session ?? BackgroundSession(identifier: identifier, appGroup: appGroup)
        #endif
    }

    func unfinished() -> [OutgoingSet] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(Self.setSuffix) }.sorted().compactMap { name in
            guard let id = GUID(name.dropLast(Self.setSuffix.count)),
                let data = try? Data(contentsOf: folder.appending(path: name)),
                let set = try? TransactionSet.decode(Array(data)), set.id == id
            else {
                for suffix in [Self.setSuffix, Self.bodySuffix] {
                    remove(folder.appending(path: name.dropLast(Self.setSuffix.count) + suffix))
                }
                return nil
            }
            return OutgoingSet(id: id, body: Array(data), factCount: set.factCount)
        }
    }

    /// Returns `nil` without a response at the deadline, or if the task is cancelled.
    func upload(
        _ set: OutgoingSet, as body: Data, by request: URLRequest, deadline: Duration, limit: Int
    ) async throws -> (Data, URLResponse)? {
        let (kept, file) = (file(set.id, Self.setSuffix), file(set.id, Self.bodySuffix))
        do {
            if access(kept.path, F_OK) != 0 { try PartialFile.write(set.body, to: kept) }
            if await !session.isUnderWay("\(set.id)") { try PartialFile.write(Array(body), to: file) }
        } catch {
            let error = WaybillError(wrapping: error)
            throw WaybillError(
                .transport, "The set cannot be written into \(folder.path), from where it is sent.",
                cause: error.cause ?? error.message)
        }
        do {
            return try await session.upload(
                file, by: request, named: "\(set.id)", deadline: deadline, limit: limit)
        } catch {
            guard error.code == .cancelled || error.code == .timedOut else { throw error }
            return nil
        }
    }

    func forget(_ set: GUID) {
        session.cancel("\(set)")
        for suffix in [Self.setSuffix, Self.bodySuffix] { remove(file(set, suffix)) }
    }

    func forgetAll() -> Set<GUID> {
        var sets: Set<GUID> = []
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
            // Partial files of a process that died are hidden.
            let visible = name.drop { $0 == "." }
            guard let id = GUID(visible.prefix { $0 != "." }),
                [Self.setSuffix, Self.bodySuffix].contains(where: visible.contains)
            else { continue }
            sets.insert(id)
            remove(folder.appending(path: name))
        }
        for set in sets { session.cancel("\(set)") }
        return sets
    }

    private static let setSuffix = ".set"
    private static let bodySuffix = ".body"

    private static let removal = Locked(())

    private func remove(_ file: URL) { Self.removal.withLock { _ in _ = unlink(file.path) } }

    /// Calls `body` while `file` is readable and nothing removes it. Swift can't catch the Objective-C exception that
    /// `URLSession` raises otherwise.
    static func withReadable<Made>(_ file: URL, _ body: () -> Made) throws(URLError) -> Made {
        try removal.withLock { _ -> Result<Made, URLError> in
            let descriptor = open(file.path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                return .failure(URLError(errno == ENOENT ? .fileDoesNotExist : .cannotOpenFile))
            }
            defer { close(descriptor) }
            return .success(body())
        }.get()
    }

    private func file(_ set: GUID, _ suffix: String) -> URL { folder.appending(path: "\(set)\(suffix)") }
}

protocol UploadSession: Sendable {
    func isUnderWay(_ name: String) async -> Bool

    /// The upload may continue after an error.
    func upload(
        _ file: URL, by request: URLRequest, named name: String, deadline: Duration, limit: Int
    ) async throws(URLError) -> (Data, URLResponse)

    func cancel(_ name: String)
}

struct SetUnderWay: Error {}

#if canImport(FoundationNetworking)
extension HTTPSession: UploadSession {
    func isUnderWay(_ name: String) async -> Bool { false }

    func upload(
        _ file: URL, by request: URLRequest, named name: String, deadline: Duration, limit: Int
    ) async throws(URLError) -> (Data, URLResponse) {
        try await upload(.file(file), by: request, deadline: deadline, limit: limit)
    }

    func cancel(_ name: String) {}
}
#endif
