public import Foundation
public import Waybill

/// The store of a process of the shop, and its collector.
///
/// Environment: `STORE` (a folder), `COLLECTOR` (a URL), `DELIVER_EVERY` (seconds; 1, and at
/// 0 only when the process ends).
public struct Place: Sendable {
    private let store: URL
    private let collector: URL
    private let interval: Int

    /// nil where the environment does not say.
    public init?() {
        let environment = ProcessInfo.processInfo.environment
        guard let store = environment["STORE"], let collector = environment["COLLECTOR"].flatMap({ URL(string: $0) })
        else { return nil }
        (self.store, self.collector) = (URL(filePath: store), collector)
        interval = environment["DELIVER_EVERY"].flatMap { Int($0) } ?? 1
    }

    /// The manager of a process, which delivers from now on.
    public func transactions(of app: String) -> TransactionManager {
        let transactions = TransactionManager(
            store: .directory(store), delivery: .collector(collector), correlatedHosts: ["127.0.0.1"]
        ) { options in
            (options.app, options.appVersion) = (app, "1.0.0")
            options.server.accepting = .only(Order.self)
            // OpenTelemetry's clients send only `traceparent`.
            options.server.traceContext = .join
        }
        if interval > 0 { transactions.startDelivery(every: .seconds(interval)) }
        return transactions
    }

    /// The first line of a server's output.
    public static func announce(port: Int) {
        FileHandle.standardOutput.write(Data("listening on http://127.0.0.1:\(port)\n".utf8))
    }
}
