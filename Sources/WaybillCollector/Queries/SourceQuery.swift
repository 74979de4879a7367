#if Collector
/// A page of sources as it is written in a URL: of the grammar of ``TransactionQuery`` the page alone.
package struct SourceQuery: ListParameters, Sendable, Hashable {
    /// Only `limit` and `cursor` count.
    package var base = TransactionQuery()

    package init() {}

    package static var parameters: [(name: String, field: WritableKeyPath<SourceQuery, String?>)] {
        [("limit", \.base.limit), ("cursor", \.base.cursor)]
    }
}
#endif
