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
                for project in collector.projects.all where !Task.isCancelled {
                    if minute % 60 == 0 { await retire(project) }
                    do { _ = try await project.store.settleWaitingSpans() } catch {
                        log("spans still wait", error, of: project)
                    }
                }
                minute += 1
                try? await Task.sleep(for: .seconds(60))
            }
        }
    }

    private func retire(_ project: Project) async {
        do {
            let count = try await project.retire()
            if count > 0 {
                logger.info("facts retired", metadata: ["facts": "\(count)", "project": "\(project.name)"])
            }
        } catch {
            log("nothing was retired", error, of: project)
        }
    }

    private func log(_ what: String, _ error: any Error, of project: Project) {
        logger.error("waybill: \(what): \(error)", metadata: ["project": "\(project.name)"])
    }
}

extension Project {
    /// Retires transactions in steps, which let sets be committed in between. Returns the number of retired facts.
    func retire() async throws -> Int {
        var total = 0
        while true {
            let count = try await store.retire(retirement)
            total += count
            if count == 0 || Task.isCancelled { return total }
        }
    }
}
#endif
