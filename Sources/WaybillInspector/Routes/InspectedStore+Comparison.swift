import WaybillCore
import WaybillExport
import WaybillReading

extension InspectedStore {
    /// The comparison of two transactions: `a` and `b`, each an ID or a support code. `b` may be a
    /// ``TransactionComparisonAddress/Other``: that leads to the address which names it, so that what is shared stays
    /// what it is.
    func comparisonPage(_ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        func value(_ name: String) -> String { items.last { $0.name == name }?.value ?? "" }
        let clocks = try ShownClocks(items)
        guard !value("a").isEmpty else {
            throw QueryFailure.parameter(
                "a", "Two transactions are shown here: name them as a and b, by their support codes or IDs.")
        }
        let first = try await store.transaction(value("a"))
        let page = TransactionComparisonPage(redactor.redacted(first), clocks: clocks, in: frame)
        guard !value("b").isEmpty else {
            return .page(page.html(without: "Name the second one by its support code or its ID."))
        }
        if let other = TransactionComparisonAddress.Other(rawValue: value("b")) {
            guard let id = try await transaction(other, than: first.summary) else {
                return .page(page.without(other), status: 404)
            }
            let address = TransactionComparisonAddress(
                first: first.summary.id.description, second: id.description, clocks: clocks)
            return .seeOther(address.path)
        }
        do {
            let second = redactor.redacted(try await store.transaction(value("b")))
            return .page(page.html(with: second))
        } catch let failure as QueryFailure {
            return .page(page.html(without: redactor.redacted(failure).value.description), status: 404)
        }
    }

    /// The transaction of the same use case that is meant; nil where there is none.
    private func transaction(
        _ other: TransactionComparisonAddress.Other, than summary: TransactionSummary
    ) async throws -> GUID? {
        var request = ListRequest([.useCase: "\(summary.useCase)", .limit: "2"])
        switch other {
        case .before: request[.until] = "\(summary.begunMicroseconds)"
        case .after: (request[.since], request[.filter]) = ("\(summary.begunMicroseconds + 1)", "sort:oldest")
        case .succeeded: request[.outcome] = TransactionOutcome.succeeded.name
        }
        return try await store.transactions(request).rows.map(\.id).first { $0 != summary.id }
    }
}

extension ShownClocks {
    /// What an address says; aligned where it says nothing.
    init(_ items: [(name: String, value: String)]) throws(QueryFailure) {
        guard let word = items.last(where: { $0.name == "clocks" })?.value else {
            self = .aligned
            return
        }
        guard let clocks = ShownClocks(rawValue: word) else {
            throw .parameter(
                "clocks", "“\(word)” is neither \(ShownClocks.allCases.map(\.rawValue).joined(separator: " nor ")).")
        }
        self = clocks
    }
}
