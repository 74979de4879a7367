#if Collector
import HTTPTypes
public import WaybillInspector

extension Collector {
    /// The pages that show this collector's projects to those who log in with a token to read.
    public var inspector: Inspector { Inspector(access: CollectorAccess(collector: self)) }
}

/// Shows a token's project to who logs in with it.
private struct CollectorAccess: InspectorAccess {
    let collector: Collector

    func store(for request: InspectorRequest) async throws -> InspectedStore {
        let bearer = try admit(request.token)
        let project = try await collector.projects.project(bearer.project)
        let (counters, unknown) = (project.counters, collector.unknown)
        return InspectedStore(
            name: project.name.description, store: project.store, clock: collector.clock,
            isLoggedIn: bearer.token != nil
        ) { DeliveryPage.Collected(counters, unknown: unknown) }
    }

    func logIn(token: String) throws -> Bool {
        _ = try admit(token)
        // Open to all, a collector has no use for what was typed.
        return !collector.access.isOpen
    }

    private func admit(_ token: String?) throws -> AccessControl.Bearer {
        do {
            let bearer = try collector.access.bearer(fieldValue: token.map { "Bearer \($0)" })
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
        case .role: "requests whose token may not do that"
        case .rate: "requests beyond what a token may send"
        case .overload: "requests that there was no room for"
        case .store: "requests while the store could not be read or written"
        case .unfinishedErasure: "erasures that were not finished"
        }
    }
}
#endif
