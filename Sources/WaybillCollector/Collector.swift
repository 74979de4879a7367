#if Collector
public import Foundation
public import Hummingbird
public import WaybillCore
import WaybillExport

/// Takes in transaction sets and answers questions about them: routes for any Hummingbird router, and the stores behind
/// them.
///
/// ## Usage
///
/// ```swift
/// let collector = try Collector(folder: URL(filePath: "collected"), access: .tokens)
/// collector.addRoutes(to: router)                              // to a router of your own
/// try await Application(router: collector.router()).runService()  // or alone
/// ```
///
/// The routes are described in `Schemas/collector.openapi.yaml`. One collector at a time may use a folder.
public struct Collector: Sendable {
    /// How much is taken.
    public let limits: CollectorLimits
    /// What comes in and what goes out is redacted by.
    let redactor: Redactor
    let clock: any TransactionClock
    let access: AccessControl
    let projects: Projects
    let pendingBytes: SharedBudget
    /// Of requests that are no known project's.
    let unknown = Counters()
    let refusalLog = RefusalLog()
    /// When all stores were last found to work.
    let readiness = Locked<Int64?>(nil)

    /// Opens the stores in a folder, and makes them where they are missing.
    ///
    /// - Parameters:
    ///   - folder: Holds a file for each project, e.g. `waybill.sqlite`, and the file `tokens`.
    ///   - access: Who may use it.
    ///   - limits: How much is taken.
    /// - Throws: where the folder cannot be written, the tokens cannot be read, or a store is no store, damaged, or
    ///   made by a newer version.
    public init(folder: URL, access: Access, limits: CollectorLimits = CollectorLimits()) throws(WaybillError) {
        try self.init(folder: folder, access: access, limits: limits, clock: SystemClock())
    }

    package init(folder: URL, access: Access, limits: CollectorLimits, clock: any TransactionClock) throws(WaybillError)
    {
        try self.init(tokens: folder, access: access, limits: limits, clock: clock) { name throws(WaybillError) in
            try Project(name, in: folder, limits: limits, clock: clock)
        }
    }

    /// - Parameters:
    ///   - folder: Holds the file `tokens`.
    ///   - project: Opens the store of one; may block.
    init(
        tokens folder: URL, access: Access, limits: CollectorLimits, clock: any TransactionClock,
        _ project: @escaping @Sendable (ProjectName) throws(WaybillError) -> Project
    ) throws(WaybillError) {
        try WholeFile.checkFolder(folder)
        self.limits = limits
        // Where no project is known yet, an impossible rate would be told by the first set.
        _ = try ProjectSamplingRates(limits.samplingRates)
        redactor = limits.redactor
        self.clock = clock
        self.access = try AccessControl(
            access, TokenFile(folder: folder), limits: limits, clock: clock)
        projects = try Projects(self.access.projects(), project)
        pendingBytes = SharedBudget(
            limit: limits.pendingByteCount, largest: limits.bodyByteCount + limits.decompressedByteCount)
    }

    /// A router that holds this collector's routes and the inspector's pages, and nothing else.
    @available(macOS 14, iOS 17, tvOS 17, *)
    public func router() -> Router<BasicRequestContext> {
        router(isForLoopback: false, BasicRequestContext.self)
    }

    /// - Parameter isForLoopback: Whether requests are refused that do not name this machine, because nothing else is
    ///   asked of them.
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

/// Takes in transaction sets and answers questions about them.
@available(*, unavailable, message: "Add the trait \"Collector\" to the package dependency on waybill.")
public struct Collector {}
#endif
