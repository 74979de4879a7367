#if Collector
import Hummingbird
import Logging
import WaybillCore
import WaybillStore

extension Collector {
    /// Erases what a query names; returns only when the bytes are gone.
    func erase(_ request: Request, from project: Project, _ context: some RequestContext) async throws -> Erasure {
        let scope = try await project.queries.erasureScope(ErasureQuery(request.queryItems))
        let wall = clock.wallMicroseconds()
        do {
            return try await project.writer.thread.run { store throws(WaybillError) in try store.erase(scope, at: wall) }
        } catch {
            context.logger.error("waybill: \(error)")
            throw Problem.unfinishedErasure
        }
    }
}
#endif
