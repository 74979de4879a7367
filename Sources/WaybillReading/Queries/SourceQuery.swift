import WaybillStore

/// The filter of a list of sources as it is written in a URL: of the grammar of ``TransactionQuery`` the text and the page.
package struct SourceQuery: ListParameters, Sendable, Hashable {
    /// Only `text`, `limit` and `cursor` count.
    package var base = TransactionQuery()
    /// The name of an app or a service.
    package var app: String?
    /// A word; see `SourceFilter.Order`.
    package var sort: String?

    package init() {}

    package static var parameters: [(name: String, field: WritableKeyPath<SourceQuery, String?>)] {
        [("app", \.app), ("text", \.base.text), ("sort", \.sort), ("limit", \.base.limit), ("cursor", \.base.cursor)]
    }

    /// The filter that is meant.
    package func filter() throws(QueryFailure) -> SourceFilter {
        var filter = SourceFilter()
        filter.app = app
        filter.text = base.text
        if let sort {
            guard let order = SourceFilter.Order(rawValue: sort) else {
                let words = SourceFilter.Order.allCases.map(\.rawValue).joined(separator: ", ")
                throw .parameter("sort", "“\(sort)” is no order of sources. They are: \(words).")
            }
            filter.order = order
        }
        return filter
    }
}
