#if Collector
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Waybill
import WaybillCollector

/// A service that has users, and a collector among its routes: `OwnCollector FOLDER`.
///
/// The apps of a shop send their facts with the shop's key. Staff log in, and see only their shop.
@main
struct OwnCollector {
    static func main() async throws {
        let staff = Staff()
        let collector = try Collector(
            folder: URL(filePath: CommandLine.arguments.dropFirst().first ?? "collected"),
            access: .authorizing { request in try await staff.identity(of: request.headerFields) },
            willStore: withoutNotes,
            didStore: { stored in
                say("\(stored.origin.project) has \(stored.factCount) new facts of \(stored.origin.app)")
            })

        let router = collector.router()
        router.post("session") { request, context -> Response in
            let login = try await request.decode(as: Login.self, context: context)
            guard let session = await staff.logIn(login) else { throw HTTPError(.unauthorized) }
            return Response(
                status: .noContent, headers: [.setCookie: "session=\(session); HttpOnly; SameSite=Strict; Path=/"])
        }
        try await Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                say("listening on http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
            }
        ).runService()
    }

    static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// Removes customers' notes, and withholds the requests to the API that has customers' passwords.
    static func withoutNotes(_ draft: RecordingDraft, of origin: Collector.Origin) -> RecordingDraft? {
        switch draft {
        case .event(var event):
            event.attributes["note"] = nil
            return .event(event)
        case .exchangeOpened(let request) where request.url.contains("/login"): return nil
        default: return draft
        }
    }
}

struct Login: Decodable {
    var name: String
    var password: String
}

/// The accounts and sessions of the service. A real one keeps hashes of passwords and keys in its database.
actor Staff {
    private let keys = ["north-5f1c0b7e2a9d": "north", "south-c4e8a1936b20": "south"]
    private let passwords = ["ann": "correct horse", "bob": "battery staple"]
    private let shops = ["ann": "north", "bob": "south"]
    private var sessions: [String: String] = [:]

    func identity(of fields: HTTPFields) throws -> Access.Identity {
        if let field = fields[.authorization], field.hasPrefix("Bearer ") {
            guard let shop = keys[String(field.dropFirst(7))] else { throw Access.Refusal("This key is unknown.") }
            return try Access.Identity(name: "apps", project: shop, role: .ingest)
        }
        let cookies = (fields[.cookie] ?? "").split(separator: ";").map { $0.trimmingPrefix(" ") }
        let session = cookies.first { $0.hasPrefix("session=") }.map { String($0.dropFirst(8)) }
        guard let name = session.flatMap({ sessions[$0] }), let shop = shops[name] else {
            throw Access.Refusal("Send your name and password to /session first.")
        }
        return try Access.Identity(name: name, project: shop, role: .read)
    }

    func logIn(_ login: Login) -> String? {
        guard passwords[login.name] == login.password else { return nil }
        let session = UUID().uuidString
        sessions[session] = login.name
        return session
    }
}
#else
@main
struct OwnCollector {
    static func main() {
        print("This service needs the collector: build with --traits Collector.")
    }
}
#endif
