#if Collector
import Hummingbird
import NIOCore
import WaybillCollector

/// Ends what is read for a client that has gone, so that the store is not read for nobody.
///
/// What changes something goes on: its sender may send it again, and finds it done.
struct ConnectedResponder<Base: HTTPResponder>: HTTPResponder where Base.Context == ConnectedRequestContext {
    let base: Base
    let slots: ConnectionSlots

    func respond(to request: Request, context: ConnectedRequestContext) async throws -> Response {
        guard request.method != .delete, request.uri.path != Route.addSet.path else {
            return try await base.respond(to: request, context: context)
        }
        return try await slots.whileConnected(context.channel) {
            try await base.respond(to: request, context: context)
        }
    }
}

/// What Hummingbird knows of a request, and the connection that it came on.
struct ConnectedRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}
#endif
