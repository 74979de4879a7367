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

extension TransactionFilter {
    fileprivate var looksAtFamilies: Bool { isFolded || conditions.contains(where: \.looksAtFamilies) }
}

extension FilterCondition {
    fileprivate var looksAtFamilies: Bool {
        switch self {
        case .parent, .root, .child: true
        case .not(let condition): condition.looksAtFamilies
        case .useCase, .event, .error, .attribute, .app, .appVersion, .device, .osVersion, .os, .ended, .sampled,
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

extension Segmentation {
    fileprivate var isByParent: Bool { Optional(self).isByParent }
}
