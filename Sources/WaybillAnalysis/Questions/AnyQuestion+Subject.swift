import WaybillReading

extension AnyQuestion {
    /// Whether it looks at who was begun below whom: then transactions of one family have to be in one store.
    package var looksAtFamilies: Bool {
        switch subject {
        case .transactions(let filter, let segmentation): filter.looksAtFamilies || segmentation.isByParent
        case .exchanges(let filter, let transactions):
            filter.conditions.contains(where: \.looksAtFamilies) || transactions?.looksAtFamilies == true
        }
    }

    /// Of how many transactions one is enough to answer it; 1: it looks at all, or an attribute that it names has to be
    /// looked for among all.
    package var readsOneIn: Int {
        // Clocks are compared by all exchanges of a client.
        if case .legs = self { return 1 }
        switch subject {
        case .transactions(let filter, let segmentation): return segmentation.isByAttribute ? 1 : filter.sampledOneIn
        case .exchanges(let filter, let transactions):
            return max(filter.sampledOneIn, transactions?.sampledOneIn ?? 1)
        }
    }

    /// What a question is about, and what tells them apart.
    private enum Subject {
        case transactions(TransactionFilter, Segmentation?)
        case exchanges(ExchangeFilter, TransactionFilter?)
    }

    private var subject: Subject {
        switch self {
        case .summary(let question): .transactions(question.filter, nil)
        case .duration(let question): .transactions(question.filter, question.segmentation)
        case .measure(let question): .transactions(question.filter, question.segmentation)
        case .transitions(let question): .transactions(question.filter, nil)
        case .funnel(let question): .transactions(question.filter, question.segmentation)
        case .dropOff(let question): .transactions(question.filter, nil)
        case .legs(let question): .transactions(question.filter, question.segmentation)
        case .network(let question): .exchanges(question.filter, question.transactions)
        case .compare(let question):
            switch question.groups {
            case .values(let segmentation, _, _): .transactions(question.filter, segmentation)
            case .windows: .transactions(question.filter, nil)
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

    fileprivate var isByAttribute: Bool { if case .attribute = self { true } else { false } }
}
