import Foundation
import TestSupport
import Waybill
import WaybillCore
import WaybillQueries

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Makes two requests in each of many transactions, 32 at a time, and checks the links to their transactions.
struct LinkingCourse: Sendable {
    let server: LoopbackServer

    func run(
        _ logins: [UseCaseTransaction<Login>],
        _ send: @escaping @Sendable (URLRequest, UseCaseTransaction<Login>) async -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for (number, login) in logins.enumerated() {
                if number >= 16 { await group.next() }
                group.addTask {
                    async let first: Void = send(URLRequest(url: server.url("/\(login.id)/1")), login)
                    await send(URLRequest(url: server.url("/\(login.id)/2")), login)
                    await first
                }
            }
        }
    }

    /// Returns the mismatches: the field that the server saw, the path and the network log must name the same
    /// transaction and exchange.
    func mismatches(among transactions: [TransactionRecord]) -> [String] {
        var wrong: [String] = []
        let exchanges = Dictionary(
            uniqueKeysWithValues: transactions.flatMap { record in
                record.exchanges.map { ($0.id.sequence, (record.summary.id, $0)) }
            })
        for request in server.requests {
            guard let told = request.header("Waybill-Transaction").flatMap({ TransactionHeader(parsing: $0) }),
                let (transaction, exchange) = told.exchange.flatMap({ exchanges[$0] })
            else {
                wrong.append("\(request.path) was not tied")
                continue
            }
            let path = URL(string: exchange.url)?.path()
            if transaction != told.transaction || path != request.path || !request.path.hasPrefix("/\(transaction)/") {
                wrong.append("\(request.path) carried \(told), recorded was \(exchange.url) of \(transaction)")
            }
        }
        return wrong
            + transactions.filter { $0.exchanges.count != 2 }.map {
                "\($0.summary.id) has \($0.exchanges.count) exchanges"
            }
    }
}
