import WaybillCore

/// The use cases of a process, of which each code belongs to one.
final class NotedUseCases: Sendable {
    private struct State {
        /// By code, the names of the use case that came first: of itself, and of its events.
        var names: [Int: [RecordedName]] = [:]
        var types: Set<ObjectIdentifier> = []
        /// Types whose code belongs to another use case.
        var clashing: Set<ObjectIdentifier> = []
        var problems: [WaybillError] = []
    }

    private let state = Locked(State())

    /// What is wrong with the codes of use cases.
    var problems: [WaybillError] { state.withLock { $0.problems } }

    /// Notes a use case.
    ///
    /// - Returns: The names to record and what to report; `nil` if the type was noted before.
    func note<U: UseCase>(_ useCase: U.Type) -> (names: [RecordedName], problem: WaybillError?)? {
        let type = ObjectIdentifier(U.self)
        guard state.withLock({ !$0.types.contains(type) }) else { return nil }
        // The app's own code is not called with the lock held.
        let (code, name, names) = (U.code, U.name, Self.names(of: U.self))
        return state.withLock { state in
            guard state.types.insert(type).inserted else { return nil }
            guard let first = state.names[code] else {
                state.names[code] = names
                return (names, nil)
            }
            // The same enum may be in two modules of a program, of which one knows fewer events.
            let known = Dictionary(first.map { ($0.event, $0.name) }) { name, _ in name }
            if names.allSatisfy({ known[$0.event] == nil || known[$0.event] == $0.name }) {
                let new = names.filter { known[$0.event] == nil }
                state.names[code] = first + new
                return (new, nil)
            }
            state.clashing.insert(type)
            let problem = WaybillError(
                .setting,
                "The use cases “\(known[nil] ?? "")” and “\(name)” (\(String(reflecting: U.self))) have the same code, \(code). "
                    + "Events of “\(name)” appear under the names of “\(known[nil] ?? "")”. Give each use case a code of its own."
            )
            state.problems.append(problem)
            // Two names of one code in one batch, which `verify` reports.
            let clash = [first.first, names.first].compactMap { $0 }
            return (Set(clash).count > 1 ? clash : [], problem)
        }
    }

    /// The name of a use case by its code; `nil` if none was noted.
    func name(of code: Int) -> String? { state.withLock { $0.names[code]?.first?.name } }

    /// Whether two types with one code are the same use case.
    func areSame<U: UseCase>(_ type: ObjectIdentifier, _ useCase: U.Type) -> Bool {
        state.withLock { !$0.clashing.contains(type) && !$0.clashing.contains(ObjectIdentifier(U.self)) }
    }

    private static func names<U: UseCase>(of useCase: U.Type) -> [RecordedName] {
        let label = { (name: String) in name.cut(to: Limits.labelLength) ?? name }
        return [RecordedName(useCase: U.code, name: label(U.name))]
            + U.allCases.filter { $0.eventCode >= 0 }.map {
                RecordedName(useCase: U.code, event: $0.eventCode, name: label($0.eventName))
            }
    }
}
