#if ServiceLifecycle
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals
import Waybill
import WaybillServiceLifecycle

/// A server among whose services a manager is, for a test that ends it by a signal: `ServiceProcess STORE COLLECTOR`.
///
/// It prints `ready` when it has recorded one transaction, records one more when it is told to shut down, and prints
/// `over` and how many facts are pending in the end.
@main
struct ServiceProcess {
    struct Server: Service {
        let transactions: TransactionManager

        func run() async throws {
            transactions.begin(useCase: 1).finish(.succeeded)
            print("ready")
            fflush(nil)
            try await gracefulShutdown()
            transactions.begin(useCase: 2).finish(.succeeded)
        }
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let collector = URL(string: arguments[2]) else { exit(64) }
        let transactions = TransactionManager(
            store: .directory(URL(filePath: arguments[1])), delivery: .collector(collector))
        var logger = Logger(label: "services")
        logger.logLevel = .error
        let server = Server(transactions: transactions)
        let group = ServiceGroup(services: [transactions, server], gracefulShutdownSignals: [.sigterm], logger: logger)
        try await group.run()
        print("over, \(try await transactions.ledger().pending) pending")
    }
}
#else
@main
struct ServiceProcess {
    static func main() {}
}
#endif
