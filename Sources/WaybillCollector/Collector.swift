#if Collector
public import Foundation
public import Hummingbird
public import WaybillCore
import WaybillExport

/// A server that stores transaction sets and answers questions about them. It adds its routes to a Hummingbird router.
///
/// ## Usage
///
/// ```swift
/// let collector = try Collector(folder: URL(filePath: "collected"), access: .tokens)
/// collector.addRoutes(to: router)                              // to a router of your own
/// try await Application(router: collector.router()).runService()  // or alone
/// ```
///
/// `Schemas/collector.openapi.yaml` describes the routes. Only one collector at a time may use a folder.
public struct Collector: Sendable {
    /// The limits on requests and stored data.
    public let limits: CollectorLimits
    let redactor: Redactor
    let clock: any TransactionClock
    let access: AccessControl
    let projects: Projects
    let pendingBytes: SharedBudget
    /// Counts requests that belong to no known project.
    let unknown = Counters()
    let refusalLog = RefusalLog()
    /// The uptime, in microseconds, of the last successful check.
    let readiness = Locked<Int64?>(nil)

    /// Opens the stores in a folder, and creates missing ones.
    ///
    /// - Parameters:
    ///   - folder: The folder, with a file for each project, e.g. `waybill.sqlite`, and the file `tokens`.
    ///   - access: The clients that may use the collector.
    ///   - limits: The limits on requests and stored data.
    /// - Throws: An error if the folder can't be written, the tokens can't be read, or a store is invalid, damaged, or
    ///   written by a newer version.
    public init(folder: URL, access: Access, limits: CollectorLimits = CollectorLimits()) throws(WaybillError) {
        try self.init(folder: folder, access: access, limits: limits, clock: SystemClock())
    }

    package init(folder: URL, access: Access, limits: CollectorLimits, clock: any TransactionClock) throws(WaybillError)
    {
        try self.init(tokens: folder, access: access, limits: limits, clock: clock) { name throws(WaybillError) in
            try Project(name, in: folder, limits: limits, clock: clock)
        }
    }

    init(
        tokens folder: URL, access: Access, limits: CollectorLimits, clock: any TransactionClock,
        _ project: @escaping @Sendable (ProjectName) throws(WaybillError) -> Project
    ) throws(WaybillError) {
        try WholeFile.checkFolder(folder)
        self.limits = limits
        // Reports an invalid rate even if there is no project yet.
        _ = try ProjectSamplingRates(limits.samplingRates)
        redactor = limits.redactor
        self.clock = clock
        self.access = try AccessControl(
            access, TokenFile(folder: folder), limits: limits, clock: clock)
        projects = try Projects(self.access.projects(), project)
        pendingBytes = SharedBudget(
            limit: limits.pendingByteCount, largest: limits.bodyByteCount + limits.decompressedByteCount)
    }

    /// Returns a router with this collector's routes and the inspector's pages.
    @available(macOS 14, iOS 17, tvOS 17, *)
    public func router() -> Router<BasicRequestContext> {
        router(isForLoopback: false, BasicRequestContext.self)
    }

    /// - Parameter isForLoopback: Whether to refuse requests for other hosts.
    @available(macOS 14, iOS 17, tvOS 17, *)
    package func router<Context: RequestContext>(isForLoopback: Bool, _ context: Context.Type) -> Router<Context> {
        let router = Router(context: context)
        router.add(middleware: ProblemMiddleware())
        if isForLoopback { router.add(middleware: LoopbackHostMiddleware()) }
        addRoutes(to: router)
        inspector.addRoutes(to: router)
        return router
    }
}

#else

/// A server that stores transaction sets and answers questions about them.
@available(*, unavailable, message: "Add the trait \"Collector\" to the package dependency on waybill.")
public struct Collector {}
#endif
