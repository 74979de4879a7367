import Foundation
import LoginUseCase
import Waybill

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Logs in `RUNS` times, as people do, and reports on its standard output: `done N` after each login.
///
/// Environment: `RUNS`, `SERVER` and `COLLECTOR` (URLs), `STORE` (a folder).
@main
struct LoginClient {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        guard
            let runs = environment["RUNS"].flatMap({ Int($0) }), let store = environment["STORE"],
            let server = environment["SERVER"].flatMap({ URL(string: $0) }),
            let collector = environment["COLLECTOR"].flatMap({ URL(string: $0) })
        else {
            FileHandle.standardError.write(Data("Set RUNS, SERVER, COLLECTOR and STORE; `make demo` does.\n".utf8))
            exit(64)
        }
        let transactions = TransactionManager(
            store: .directory(URL(filePath: store)), delivery: .collector(collector),
            correlatedHosts: [server.host() ?? ""]
        ) { options in
            options.app = "login-client"
            options.appVersion = "1.4.0"
        }
        let patient = URLSessionConfiguration.default
        patient.timeoutIntervalForResource = 2  // how long a person waits for a login, in this demo
        patient.httpMaximumConnectionsPerHost = 16  // eight people at once, who must not wait for each other
        let logins = Logins(
            transactions: transactions, session: transactions.session(configuration: patient), server: server)

        transactions.startDelivery(every: .seconds(1))
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<runs {
                if index >= 8 { await group.next() }
                group.addTask {
                    await logins.run(Scenario.of(index), index: index)
                    FileHandle.standardOutput.write(Data("done \(index)\n".utf8))
                }
            }
        }
        let report = await transactions.flush()
        guard report.isComplete else {
            FileHandle.standardError.write(
                Data("login-client: \(report.pending) facts pending, \(report.error?.message ?? "")\n".utf8))
            exit(1)
        }
    }
}
