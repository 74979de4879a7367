package import WaybillCore
package import WaybillStore

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
    package var looksAtFamilies: Bool { isFolded || conditions.contains(where: \.looksAtFamilies) }

    package var events: Set<String> { values { if case .event(let name) = $0 { name } else { nil } } }

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
    package var rowSelection: RowSelection { asked.rowSelection }

    package var namesAttribute: Bool { if case .attribute = asked.segmentation { true } else { false } }

    package var isCertified: Bool { asked.isCertified ?? false }

    /// The time before which all errors are known, with the beginners to look at; `nil` without one.
    package var knownErrors: (before: Int64, beginner: TransactionFilter.Beginner)? {
        guard case .errors(let question) = self else { return nil }
        return question.newSinceMicroseconds.map { ($0, question.filter.beginner) }
    }

    package var looksAtFamilies: Bool { asked.looksAtFamilies }

    package func rowContents(_ reader: StoreReader) throws(WaybillError) -> RowContents {
        try asked.allContents(reader.connection)
    }
}

extension FoldedQuestion {
    /// Whether the question depends on parents or children. If so, one store must have the whole family.
    var looksAtFamilies: Bool {
        let selection = rowSelection
        return selection.transactions.looksAtFamilies
            || selection.exchanges?.contains(where: \.looksAtFamilies) == true
            || segmentation == .parentOutcome || segmentation == .parentUseCase
    }

    fileprivate func allContents(_ connection: Connection) throws(WaybillError) -> RowContents {
        var contents = rowContents
        switch segmentation {
        case .attribute(let name): contents.attributes?.insert(name)
        case .parentOutcome, .parentUseCase: contents.readsParents = true
        case .app, .appVersion, .device, .os, .osVersion, .ended: contents.readsProperties = true
        case nil, .hour, .day: break
        }
        for case .event(let name) in points { contents.codes?.formUnion(try connection.codes(named: name)) }
        // Launches may have names of their own.
        if contents.codes != [], try !connection.launchesWithNames().isEmpty { contents.readsSources = true }
        return contents
    }
}
