#if Collector
public import Foundation
public import Hummingbird
public import WaybillCore
package import WaybillStore

/// Takes in transaction sets and answers questions about them: routes for any Hummingbird router, and the store behind them.
///
/// ## Usage
///
/// ```swift
/// let collector = try Collector(folder: URL(filePath: "collected"), token: BearerToken(contentsOf: tokenFile))
/// collector.addRoutes(to: router)                              // to a router of your own
/// try await Application(router: collector.router()).runService()  // or alone
/// ```
///
/// The routes are described in `Schemas/collector.openapi.yaml`. One collector at a time may use a folder.
public struct Collector: Sendable {
    /// The largest body that is taken unless told otherwise: 16 MiB.
    public static let defaultBodyLimit = 16 << 20

    /// The largest body of a request, in bytes; a larger one is refused while it comes in.
    public let bodyLimit: Int
    /// Whether only those may read and write who have the token.
    public var asksForToken: Bool { token != nil }
    let token: BearerToken?
    let adminToken: BearerToken?
    let clock: any TransactionClock
    let place: StorePlace
    let writer: StoreThread<Store>
    let queries: StoreQueries

    /// Opens the store in a folder, and makes both where they are missing.
    ///
    /// - Parameters:
    ///   - folder: Holds `waybill.sqlite`.
    ///   - token: What every request but those for health must carry; nil: everybody who reaches the port may read and write.
    ///   - adminToken: What a request to erase must carry; nil: nothing can be erased over HTTP.
    ///   - bodyLimit: In bytes.
    /// - Throws: where the folder cannot be written, or the store is no store, damaged, or made by a newer version.
    public init(
        folder: URL, token: BearerToken? = nil, adminToken: BearerToken? = nil, bodyLimit: Int = Collector.defaultBodyLimit
    ) throws(WaybillError) {
        try self.init(.folder(folder), token: token, adminToken: adminToken, bodyLimit: bodyLimit)
    }

    package init(
        _ place: StorePlace, token: BearerToken? = nil, adminToken: BearerToken? = nil, bodyLimit: Int = Collector.defaultBodyLimit,
        clock: any TransactionClock = SystemClock()
    ) throws(WaybillError) {
        self.bodyLimit = bodyLimit
        self.token = token
        self.adminToken = adminToken
        self.clock = clock
        self.place = place
        // An answer means synced: design rule 6.
        writer = try StoreThread(label: "waybill.collector") { () throws(WaybillError) in try Store(place, commitsAreSynced: true) }
        queries = try StoreQueries(place, clock: clock)
    }

    /// A router that holds this collector's routes and nothing else.
    public func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.add(middleware: ProblemMiddleware())
        addRoutes(to: router)
        return router
    }
}

#else

/// Takes in transaction sets and answers questions about them.
@available(*, unavailable, message: "Add the trait \"Collector\" to the package dependency on waybill.")
public struct Collector {}
#endif
