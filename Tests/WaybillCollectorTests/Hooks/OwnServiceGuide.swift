#if Collector
import Foundation
import HTTPTypes
import Hummingbird
import Waybill
import WaybillCollector
import WaybillCore

// The lines of the landing page, compiled; not run, since the page has a folder beside the program.

private struct User {
    var id: String
    var team: String
}

private actor Users {
    func user(of cookie: String?) -> User? { cookie.map { User(id: $0, team: "shop") } }
}

private struct NoticeQueue: Sendable {
    func send(_ transactions: [GUID]) {}
}

private func router(users: Users, queue: NoticeQueue) throws -> Router<BasicRequestContext> {
    let collector = try Collector(
        folder: URL(filePath: "collected"),
        access: .authorizing { request in
            guard let user = await users.user(of: request.headerFields[.cookie]) else {
                throw Access.Refusal("Log in at /login first.")
            }
            return try Access.Identity(name: user.id, project: user.team, role: .read)
        },
        willStore: { draft, origin in
            guard case .event(var event) = draft else { return draft }
            event.attributes["note"] = nil
            return .event(event)
        },
        didStore: { stored in queue.send(stored.transactions) })

    let router = collector.router()  // or add collector and collector.inspector to your router
    return router
}
#endif
