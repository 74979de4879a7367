#if Collector
import Hummingbird
import Logging
import WaybillCore
import WaybillReading

extension Collector {
    /// Erases what a query names; returns only when the bytes are gone.
    func erase(_ request: Request, from project: Project, _ context: some RequestContext) async throws -> Erasure {
        let scope = try await project.store.erasureScope(ErasureQuery(request.queryItems))
        do {
            return try await project.store.erase(scope)
        } catch {
            context.logger.error("waybill: \(error)")
            throw Problem.unfinishedErasure
        }
    }
}
#endif
