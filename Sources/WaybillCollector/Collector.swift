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
/// collector.addRoutes(to: router)                              // to your router
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
    /// `willStore` is called once for each new fact of sets, OTLP spans and sets of version 0.0.1, after redaction. The
    /// collector redacts its result again. All writes of the project wait for it, so it must be quick, and it must not
    /// use the collector. If a write fails and is repeated, so are the calls.
    ///
    /// - A withheld fact is a dropped one in the ledger, with the reason ``WaybillCore/Ledger/DropReason/withheld``.
    ///   The receipt counts it as accepted, or as known if it arrives again. `willStore` isn't asked again.
    /// - If an opening is withheld, the collector withholds all facts of that part or exchange, and deletes those that
    ///   arrived earlier. The parts of other processes stay, unless you withhold their openings, too.
    /// - If a fact arrives before the opening of its part, its transaction may be unknown. The draft then has an ID of
    ///   zeros and the use case -1. The request of an exchange can be empty for the same reason.
    /// - Facts of kinds that this version of Waybill doesn't know are stored without a call.
    /// - A span arrives as an opening, an event or an exchange, and its end. For up to a minute, a span without its
    ///   parent is in the store as it arrived. The collector doesn't keep spans in their original form, so exports omit
    ///   what facts don't have, such as links.
    ///
    /// `didStore` is called after the commit, in order, on a separate thread, so neither answers nor writes wait for
    /// it. It is never called twice for a fact. It isn't called if the process ends first, or if the calls are a
    /// thousand behind (`waybill_missed_notices_total`). So it suits notifications and hints to a queue. To process
    /// every fact, read `/v1/export` with a cursor.
    ///
    /// - Parameters:
    ///   - folder: The folder, with a file for each project, e.g. `waybill.sqlite`, and the file `tokens`.
    ///   - access: The clients that may use the collector.
    ///   - limits: The limits on requests and stored data.
    ///   - willStore: Returns the draft to store, changed or not. `nil`, or another case, withholds the fact. Default:
    ///     all facts are stored unchanged.
    ///   - didStore: Receives the stored facts of a commit. Default: no call.
    /// - Throws: An error if the folder can't be written, the tokens can't be read, or a store is invalid, damaged, or
    ///   written by a newer version.
    public init(
        folder: URL, access: Access, limits: CollectorLimits = CollectorLimits(), willStore: WillStore? = nil,
        didStore: DidStore? = nil
    ) throws(WaybillError) {
        try self.init(
            folder: folder, access: access, limits: limits, clock: SystemClock(), willStore: willStore,
            didStore: didStore)
    }

    package init(
        folder: URL, access: Access, limits: CollectorLimits, clock: any TransactionClock,
        willStore: WillStore? = nil, didStore: DidStore? = nil
    ) throws(WaybillError) {
        let host = HostHooks(willStore, didStore)
        try self.init(tokens: folder, access: access, limits: limits, clock: clock) { name throws(WaybillError) in
            try Project(name, in: folder, limits: limits, clock: clock, host)
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
        self.access = try AccessControl(access, in: folder, limits: limits, clock: clock)
        projects = try Projects(self.access.projects(), project)
        let (largest, isTooLarge) = limits.bodyByteCount.addingReportingOverflow(limits.decompressedByteCount)
        pendingBytes = SharedBudget(limit: limits.pendingByteCount, largest: isTooLarge ? .max : largest)
    }

    /// Returns a router with this collector's routes and the inspector's pages.
    @available(macOS 14, iOS 17, tvOS 17, *)
    public func router() -> Router<BasicRequestContext> {
        router(isForLoopback: false, BasicRequestContext.self)
    }

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
