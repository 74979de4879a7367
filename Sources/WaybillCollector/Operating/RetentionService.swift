#if Collector
public import Logging
public import ServiceLifecycle
import WaybillQueries

/// A service that enforces a collector's limits on age and size once an hour.
///
/// It retires whole transactions, which the collector still recognizes if a client sends them again. Once a minute,
/// it also settles spans whose parent span never arrived. Add the service to an application.
public struct RetentionService: Service {
    private let collector: Collector
    private let delay: Duration
    private let logger: Logger

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - collector: The collector that retires transactions.
    ///   - delay: The time from the start to the first check. Default: zero.
    ///   - logger: Logs retired facts and errors.
    public init(_ collector: Collector, firstAfter delay: Duration = .zero, logger: Logger) {
        self.collector = collector
        self.delay = delay
        self.logger = logger
    }

    /// Runs until the application shuts down.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            if delay > .zero { try? await Task.sleep(for: delay) }
            var minute = 0
            while !Task.isCancelled {
                if minute % 60 == 0 {
                    do {
                        let count = try await collector.retire()
                        if count > 0 { logger.info("facts retired", metadata: ["facts": "\(count)"]) }
                    } catch {
                        logger.error("waybill: nothing was retired: \(error)")
                    }
                }
                do {
                    for project in collector.projects.all { _ = try await project.store.settleWaitingSpans() }
                } catch {
                    logger.error("waybill: spans still wait: \(error)")
                }
                minute += 1
                try? await Task.sleep(for: .seconds(60))
            }
        }
    }
}

extension Collector {
    /// Retires transactions in steps, which let sets be committed in between. Returns the number of retired facts.
    func retire() async throws -> Int {
        var total = 0
        for project in projects.all {
            while true {
                let count = try await project.store.retire(project.retirement)
                total += count
                if count == 0 || Task.isCancelled { break }
            }
        }
        return total
    }
}
#endif
