package import WaybillCore
package import WaybillStore

/// The rows that a question reads.
package struct RowSelection: Sendable {
    package var transactions: TransactionFilter
    /// The exchanges that count, a row for each; `nil` for a row of each transaction.
    package var exchanges: [FilterCondition]?
    /// Others that are read besides those that count.
    package var others = Others.none

    package enum Others: Sendable {
        case none
        case matching(TransactionFilter)
        case withExchanges
        case exchangesOutsideTransactions
    }
}

extension RowSelection {
    package init(_ filter: ExchangeFilter) {
        // Exchanges are shown whoever began their transaction.
        var ofTransactions = TransactionFilter(filter.conditions.filter(\.isOfTransaction))
        ofTransactions.beginner = .any
        self.init(
            transactions: ofTransactions, exchanges: filter.conditions.filter { !$0.isOfTransaction },
            others: ofTransactions.conditions.isEmpty ? .exchangesOutsideTransactions : .none)
    }

    package var filters: [TransactionFilter] {
        if case .matching(let filter) = others { [transactions, filter] } else { [transactions] }
    }
}

extension TransactionFilter {
    package var events: Set<String> { values { if case .event(let name) = $0 { name } else { nil } } }

    /// The texts in its conditions.
    package var texts: Set<String> { values { if case .text(let text) = $0 { text } else { nil } } }

    /// The topmost ancestors in its conditions.
    package var roots: Set<FilterCondition.Relative> { values { if case .root(let root) = $0 { root } else { nil } } }

    /// Negated conditions have values, too.
    private func values<Value>(_ value: (FilterCondition) -> Value?) -> Set<Value> {
        Set(
            conditions.compactMap { condition in
                var condition = condition
                while case .not(let negated) = condition { condition = negated }
                return value(condition)
            })
    }
}

extension AnyQuestion {
    package var rowSelection: RowSelection {
        switch (self, subject) {
        case (.dropOff(let question), _): return RowSelection(transactions: question.unfinished)
        case (.legs(let question), _): return RowSelection(transactions: question.filter, others: .withExchanges)
        case (.why(let question), _):
            return RowSelection(transactions: question.filter, others: .matching(question.allFilter))
        case (_, .transactions(let filter, _)): return RowSelection(transactions: filter)
        case (_, .exchanges(let filter, nil)): return RowSelection(filter)
        case (_, .exchanges(let filter, let transactions?)):
            return RowSelection(transactions: transactions, exchanges: filter.conditions)
        }
    }

    package var namesAttribute: Bool {
        if case .transactions(_, .attribute) = subject { true } else { false }
    }

    /// The time before which all errors are known, with the beginners to look at; `nil` without one.
    package var knownErrors: (before: Int64, beginner: TransactionFilter.Beginner)? {
        guard case .errors(let question) = self else { return nil }
        return question.newSinceMicroseconds.map { ($0, question.filter.beginner) }
    }

    private var readsSources: Bool {
        switch self {
        case .errors, .network, .why, .legs: true
        case .summary, .duration, .compare, .measure, .transitions, .dropOff, .funnel: false
        }
    }

    /// The parts of rows that the question reads.
    package func rowContents(_ reader: StoreReader) throws(WaybillError) -> RowContents {
        var (points, contents): ([TransactionPoint], _) = ([], RowContents())
        contents.readsSources = readsSources
        switch self {
        case .transitions, .dropOff: contents.codes = nil
        case .funnel(let question) where question.isStrict: contents.codes = nil
        case .funnel(let question): points = question.steps
        case .duration(let question): points = [question.from, question.to]
        case .compare(let question): points = [question.from, question.to]
        case .measure(let question): contents.attributes = [question.attribute]
        case .errors:
            (contents.attributes, contents.readsErrors) = (["user"], true)
            (contents.readsInstallations, contents.readsProperties) = (true, true)
        case .summary(let question): contents.groupStep = question.wholeStep
        case .legs: contents.readsExchanges = true
        case .network: break
        case .why:
            (contents.codes, contents.attributes, contents.readsProperties) = (nil, nil, true)
            (contents.readsExchanges, contents.readsRequests) = (true, true)
        }
        switch subject {
        case .transactions(_, .attribute(let name)?): contents.attributes?.insert(name)
        case .transactions(_, .parentOutcome?), .transactions(_, .parentUseCase?): contents.readsParents = true
        case .transactions(_, .hour?), .transactions(_, .day?), .transactions(_, nil), .exchanges: break
        case .transactions(_, .app?), .transactions(_, .appVersion?), .transactions(_, .device?),
            .transactions(_, .os?), .transactions(_, .osVersion?), .transactions(_, .ended?):
            contents.readsProperties = true
        }
        for case .event(let name) in points { contents.codes?.formUnion(try reader.connection.codes(named: name)) }
        // Launches may have names of their own.
        if contents.codes != [], try !reader.connection.launchesWithNames().isEmpty { contents.readsSources = true }
        return contents
    }
}
