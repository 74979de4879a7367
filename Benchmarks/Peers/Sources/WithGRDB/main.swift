import Foundation
import GRDB
import Work

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Writes a row for each event to a plain table, indexed by transaction, as GRDB's guide begins. The row is written
/// before the call returns.
struct WithGRDB: Peer {
    let database: DatabasePool

    init(folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        database = try DatabasePool(path: folder.appending(path: "events.sqlite").path)
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS events(
                      id INTEGER PRIMARY KEY, login TEXT NOT NULL, at DOUBLE NOT NULL, kind TEXT NOT NULL, step INTEGER, text TEXT);
                    CREATE INDEX IF NOT EXISTS events_by_login ON events(login);
                    """)
        }
    }

    func begin() -> String { UUID().uuidString }

    func log(_ step: Step, in login: String) { insert(Event(login: login, kind: "event", step: step.rawValue)) }

    func send(_ request: URLRequest, in login: String) async throws -> (Data, URLResponse) {
        insert(Event(login: login, kind: "request", text: request.url?.absoluteString))
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        insert(Event(login: login, kind: "response", text: "\(status)"))
        return (data, response)
    }

    func end(_ login: String) { insert(Event(login: login, kind: "ended")) }

    func finish() throws { try database.close() }

    private func insert(_ event: Event) {
        do { try database.write { try event.insert($0) } } catch { preconditionFailure("\(error)") }
    }
}

struct Event: Codable, PersistableRecord {
    static let databaseTableName = "events"
    var login: String
    var at = Date().timeIntervalSince1970
    var kind: String
    var step: Int?
    var text: String?
}

try await Work.run(WithGRDB.self)
