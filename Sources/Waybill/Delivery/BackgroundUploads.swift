import Foundation
import WaybillCore
import WaybillStore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sets on their way in files: what carries them goes on while the app is suspended, and after it was ended.
///
/// A set's files stay until its answer is booked. What a launch finds of earlier ones it sends again under the same ID,
/// or waits for where that is still under way: a collector counts a set once, however often it comes.
final class BackgroundUploads: Sendable {
    /// How long a set may be under way before its facts may be sent in another one.
    static let leaseMicroseconds = Store.longestLeaseMicroseconds

    /// Who leases the sets: whatever process is there when the answer comes.
    let owner: GUID
    private let folder: URL
    private let session: any UploadSession

    init(identifier: String, folder: URL?, session: (any UploadSession)? = nil) {
        owner = .ofNoProcess(named: identifier)
        self.folder = folder ?? StoreLocation.container.appending(path: "uploads/\(identifier)")
        #if canImport(FoundationNetworking)
        self.session = session ?? HTTPSession(configuration: .ephemeral)
        #else
        self.session = session ?? BackgroundSession(identifier: identifier)
        #endif
    }

    /// The sets whose answers are not booked yet, the oldest first.
    func unfinished() -> [OutgoingSet] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.hasSuffix(Self.setSuffix) }.sorted().compactMap { name in
            // What is damaged is as good as gone: its lease ends by time.
            guard let id = GUID(name.dropLast(Self.setSuffix.count)),
                let data = try? Data(contentsOf: folder.appending(path: name)),
                let set = try? TransactionSet.decode(Array(data)).set, set.id == id
            else {
                for suffix in [Self.setSuffix, Self.bodySuffix] {
                    unlink(folder.appending(path: name.dropLast(Self.setSuffix.count) + suffix).path)
                }
                return nil
            }
            return OutgoingSet(id: id, body: Array(data), factCount: set.factCount)
        }
    }

    /// Sends a set, or waits for one that is under way.
    ///
    /// - Parameters:
    ///   - body: What is sent of it.
    ///   - deadline: The longest to wait.
    ///   - limit: Bytes of the answer at most.
    /// - Returns: nil where nothing is answered yet, at the deadline or when the task is canceled.
    /// - Throws: `WaybillError` where the files cannot be written, `URLError` where it could not be sent.
    func upload(
        _ set: OutgoingSet, as body: Data, by request: URLRequest, deadline: Duration, limit: Int
    ) async throws -> (Data, URLResponse)? {
        let file = self.file(set.id, Self.bodySuffix)
        do {
            if access(self.file(set.id, Self.setSuffix).path, F_OK) != 0 {
                try DurableFolder(folder).write(set.body, to: "\(set.id)\(Self.setSuffix)")
            }
            if await !session.isUnderWay("\(set.id)") {
                try DurableFolder(folder).write(Array(body), to: file.lastPathComponent)
            }
        } catch {
            throw WaybillError(
                .transport, "The set cannot be written into \(folder.path), from where it is sent.",
                cause: error.localizedDescription)
        }
        do {
            return try await session.upload(
                file, by: request, named: "\(set.id)", deadline: deadline, limit: limit)
        } catch {
            guard error.code == .cancelled || error.code == .timedOut else { throw error }
            return nil
        }
    }

    /// The set's answer is booked, or its lease has ended.
    func forget(_ set: GUID) {
        session.cancel("\(set)")
        for suffix in [Self.setSuffix, Self.bodySuffix] { unlink(file(set, suffix).path) }
    }

    /// Ends every upload, and removes its files: everything that was recorded was erased.
    ///
    /// - Returns: The sets that were under way.
    func forgetAll() -> Set<GUID> {
        var sets: Set<GUID> = []
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
            // What a process that died had begun to write is hidden.
            let visible = name.drop { $0 == "." }
            guard let id = GUID(visible.prefix { $0 != "." }),
                [Self.setSuffix, Self.bodySuffix].contains(where: visible.contains)
            else { continue }
            sets.insert(id)
            unlink(folder.appending(path: name).path)
        }
        for set in sets { session.cancel("\(set)") }
        return sets
    }

    private static let setSuffix = ".set"
    private static let bodySuffix = ".body"

    private func file(_ set: GUID, _ suffix: String) -> URL { folder.appending(path: "\(set)\(suffix)") }
}

/// What uploads files, each under a name.
protocol UploadSession: Sendable {
    /// Whether an upload of that name has begun, in this launch or an earlier one, and its answer was not handed out.
    func isUnderWay(_ name: String) async -> Bool

    /// Uploads a file, or waits for the upload of that name that is under way.
    ///
    /// - Throws: `.timedOut` at the deadline and `.cancelled` when the task is canceled: the upload may go on.
    func upload(
        _ file: URL, by request: URLRequest, named name: String, deadline: Duration, limit: Int
    ) async throws(URLError) -> (Data, URLResponse)

    /// Ends an upload, if there is one of that name.
    func cancel(_ name: String)
}

/// A set is under way, and its answer is still to come, perhaps to another launch.
struct SetUnderWay: Error {}

#if canImport(FoundationNetworking)
/// Where there are no sessions for the background, an ordinary one sends the files, for as long as the process lives.
extension HTTPSession: UploadSession {
    func isUnderWay(_ name: String) async -> Bool { false }

    func upload(
        _ file: URL, by request: URLRequest, named name: String, deadline: Duration, limit: Int
    ) async throws(URLError) -> (Data, URLResponse) {
        let outgoing = OutgoingRequest(request: request, body: .file(file))
        let post = { () async throws(URLError) -> (Data, URLResponse) in
            try await HTTPCall(
                of: outgoing, by: TaskTransport(outgoing, in: self), redirects: .refuse, deadline: deadline
            ).value { MemorySink(limit: limit, $0) }
        }
        do { return try await post() } catch {
            // A connection that was kept alive was closed by the other side.
            guard error.code == .networkConnectionLost else { throw error }
            return try await post()
        }
    }

    func cancel(_ name: String) {}
}
#endif
