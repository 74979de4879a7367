#if Collector
public import Logging
public import ServiceLifecycle
import WaybillCore
import WaybillReading
import WaybillSpans

/// Keeps what a collector has received within the age and the size of its limits: looks once an hour, until it is told
/// to stop. And once a minute it looks for spans that wait for one that their service did not live to send.
///
/// Whole transactions go, and are known still when they come again. Add it to the services of an application.
public struct RetentionService: Service {
    private let collector: Collector
    private let delay: Duration
    private let logger: Logger

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - collector: Whose transactions it retires.
    ///   - delay: How long after its start it looks first. Default: at once.
    ///   - logger: What went, and what could not be done, is told there.
    public init(_ collector: Collector, firstAfter delay: Duration = .zero, logger: Logger) {
        self.collector = collector
        self.delay = delay
        self.logger = logger
    }

    /// Runs until the application stops.
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
    /// Takes away what is beyond the age and the size of the limits, a step at a time, so that sets have their turn
    /// between.
    ///
    /// - Returns: How many facts went.
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
