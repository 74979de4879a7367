#if Collector
import Foundation
import Hummingbird
import NIOCore
import WaybillCore

/// The first collector that comes to mind: the body in one piece, `JSONDecoder`, and a synced commit for each request.
/// It looks up nothing and keeps nothing in step.
struct NaiveCollector: Sendable {
    private let store: Serial

    init(folder: URL) throws { store = Serial(try BareStore(folder: folder, isSynced: true)) }

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.post("v1/sets") { request, _ in
            var request = request
            let body = try await request.collectBody(upTo: 16 << 20)
            let set = try JSONDecoder().decode(CodableSet.self, from: Data(body.readableBytesView))
            try await store.insert(try set.bareFacts())
            return "{}"
        }
        return router
    }

    /// The store, on a separate queue.
    private final class Serial: @unchecked Sendable {  // right because `store` is only touched on `queue`
        private let queue = DispatchQueue(label: "naive")
        private let store: BareStore

        init(_ store: BareStore) { self.store = store }

        func insert(_ facts: [Fact]) async throws {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Swift.Result { try self.store.insert(facts) }) }
            }
        }
    }
}

extension CodableSet {
    /// Returns the facts of the kinds that the bare store has rows for.
    fileprivate func bareFacts() throws -> [WaybillCore.Fact] {
        try sources.flatMap { share in
            try share.facts.map { fact in
                let content: WaybillCore.Fact.Content =
                    switch (fact.kind, fact.transaction, fact.event) {
                    case ("begun", let transaction?, _):
                        .opened(.init(transaction: transaction, useCase: fact.use_case ?? 0))
                    case ("event", _, let event?): .event(.init(code: event))
                    case ("finished", _, _): .closed(.init(outcome: fact.outcome == "failed" ? .failed : .succeeded))
                    default: throw WaybillError(.format, "The naive collector takes no exchanges.")
                    }
                return WaybillCore.Fact(
                    sequence: fact.sequence, part: fact.part, atMicroseconds: fact.at_us, content: content)
            }
        }
    }
}
#endif
