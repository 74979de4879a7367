import WaybillReading

extension AnyQuestion {
    /// Whether it looks at who was begun below whom: then transactions of one family have to be in one store.
    package var looksAtFamilies: Bool {
        switch self {
        case .summary(let question): question.filter.looksAtFamilies
        case .duration(let question): question.filter.looksAtFamilies || question.segmentation.isByParent
        case .transitions(let question): question.filter.looksAtFamilies
        case .funnel(let question): question.filter.looksAtFamilies || question.segmentation.isByParent
        case .dropOff(let question): question.filter.looksAtFamilies
        case .legs(let question): question.filter.looksAtFamilies || question.segmentation.isByParent
        case .network(let question):
            question.filter.conditions.contains(where: \.looksAtFamilies)
                || question.transactions?.looksAtFamilies == true
        case .compare(let question):
            switch question.groups {
            case .values(let segmentation, _, _): question.filter.looksAtFamilies || segmentation.isByParent
            case .windows: question.filter.looksAtFamilies
            }
        }
    }
}

extension AnyQuestion {
    /// Of how many transactions one is enough to answer it; 1: it looks at all, or an attribute that it names has to be
    /// looked for among all.
    package var readsOneIn: Int {
        switch self {
        case .summary(let question): question.filter.sampledOneIn
        case .duration(let question): question.segmentation.isByAttribute ? 1 : question.filter.sampledOneIn
        case .transitions(let question): question.filter.sampledOneIn
        case .funnel(let question): question.segmentation.isByAttribute ? 1 : question.filter.sampledOneIn
        case .dropOff(let question): question.filter.sampledOneIn
        // Clocks are compared by all exchanges of a client.
        case .legs: 1
        case .network(let question): max(question.filter.sampledOneIn, question.transactions?.sampledOneIn ?? 1)
        case .compare(let question):
            switch question.groups {
            case .values(let segmentation, _, _):
                Optional(segmentation).isByAttribute ? 1 : question.filter.sampledOneIn
            case .windows: question.filter.sampledOneIn
            }
        }
    }
}

extension TransactionFilter {
    fileprivate var looksAtFamilies: Bool { isFolded || conditions.contains(where: \.looksAtFamilies) }
}

extension FilterCondition {
    fileprivate var looksAtFamilies: Bool {
        switch self {
        case .parent, .root, .child: true
        case .not(let condition): condition.looksAtFamilies
        case .useCase, .event, .error, .attribute, .app, .appVersion, .device, .osVersion, .os, .ended, .sampled,
            .oneIn,
            .tookMoreThan, .tookLessThan, .text, .status, .exchange, .state, .host, .path, .method, .receivedMoreThan,
            .receivedLessThan, .closeCode:
            false
        }
    }
}

extension Segmentation? {
    fileprivate var isByParent: Bool {
        switch self {
        case .parentOutcome, .parentUseCase: true
        case nil, .attribute, .hour, .day, .ended, .app, .appVersion, .device, .os, .osVersion: false
        }
    }
}

extension Segmentation? {
    fileprivate var isByAttribute: Bool { if case .attribute = self { true } else { false } }
}

extension Segmentation {
    fileprivate var isByParent: Bool { Optional(self).isByParent }
}
