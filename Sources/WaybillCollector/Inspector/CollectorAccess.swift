#if Collector
package import HTTPTypes
import WaybillCore
public import WaybillInspector

extension Collector {
    /// The pages that show this collector's projects to those who log in with a token to read.
    public var inspector: Inspector { Inspector(access: CollectorAccess(collector: self)) }
}

extension Collector {
    /// Whose a request is whose sender has shown a token that is one of the collector's, or is logged in with one; nil:
    /// nobody's who is known.
    package func bearer(of request: HTTPRequest) -> Bearer? {
        if access.isOpen { return Bearer(project: .standard) }
        let fields = request.headerFields
        if let field = fields[.authorization], let bearer = try? access.bearer(fieldValue: field) { return bearer }
        let session = fields[.cookie].flatMap { InspectorRequest(path: "", fields: ["cookie": $0]).session }
        return session.flatMap { try? access.bearer(session: $0) }
    }

    /// Counts a request that there was no room for before anything of it was looked at.
    package func countOverload(of bearer: Bearer) {
        (projects.opened(bearer.project)?.counters ?? unknown).count(.overload)
    }
}

/// Shows a token's project to who logs in with it.
private struct CollectorAccess: InspectorAccess {
    let collector: Collector

    var redactor: Redactor { collector.redactor }

    func store(for request: InspectorRequest) async throws -> InspectedStore {
        let bearer = try admit { try collector.access.bearer(session: request.session) }
        let project = try await collector.projects.project(bearer.project)
        let (counters, unknown) = (project.counters, collector.unknown)
        return InspectedStore(
            name: project.name.description, store: project.store.asked(by: bearer.token?.id), clock: collector.clock,
            isLoggedIn: bearer.token != nil, redactor: collector.redactor
        ) { DeliveryPage.Collected(counters, unknown: unknown) }
    }

    func logIn(token: String) throws -> String? {
        collector.access.beginSession(of: try admit { try collector.access.bearer(fieldValue: "Bearer \(token)") })
    }

    func logOut(session: String) { collector.access.endSession(session) }

    private func admit(_ find: () throws -> Bearer) throws -> Bearer {
        do {
            let bearer = try find()
            try collector.access.admit(bearer, as: .read)
            return bearer
        } catch let problem as Problem {
            throw InspectorProblem(problem.status.code, problem.status.reasonPhrase, problem.detail)
        }
    }
}

extension DeliveryPage.Collected {
    /// - Parameters:
    ///   - project: Of the project.
    ///   - unknown: Of requests that are no known project's.
    fileprivate init(_ project: Counters, unknown: Counters) {
        let (values, others) = (project.values, unknown.values)
        self.init(
            begunMicroseconds: project.begunMicroseconds, accepted: values.acceptedFacts, known: values.knownFacts,
            rejected: values.rejectedFacts, failedSets: values.failedSets,
            refusals: Refusal.allCases.map { ($0.words, (values.refusals[$0] ?? 0) + (others.refusals[$0] ?? 0)) },
            rejections: values.rejections)
    }
}

extension Refusal {
    /// What was turned away, and why.
    fileprivate var words: String {
        switch self {
        case .noToken: "requests without a token"
        case .unknownToken: "requests with a token that nobody gave them"
        case .endedToken: "requests with a token that has ended"
        case .role: "requests whose token may not do that"
        case .rate: "requests beyond what a token may send"
        case .overload: "requests that there was no room for"
        case .store: "requests while the store could not be read or written"
        case .unfinishedErasure: "erasures that were not finished"
        }
    }
}
#endif
