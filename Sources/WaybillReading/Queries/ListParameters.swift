/// The filter of a list as the parameters of a URL, each a text of its own.
package protocol ListParameters {
    /// The parameters' names in a URL, in the order of the description.
    static var parameters: [(name: String, field: WritableKeyPath<Self, String?>)] { get }

    /// Sets none.
    init()
}

extension ListParameters {
    /// Reads the parameters of a URL, decoded; where one is given twice, the last one counts.
    ///
    /// - Throws: for a name that is not among ``parameters``, since a misspelt filter would let everything through.
    package init(_ items: [(name: String, value: String)]) throws(QueryFailure) {
        self.init()
        for item in items {
            guard let parameter = Self.parameters.first(where: { $0.name == item.name }) else {
                throw .unknownParameter(item.name, among: Self.parameters.map(\.name))
            }
            self[keyPath: parameter.field] = item.value
        }
    }

    /// The parameters that are set, not percent-encoded.
    package var items: [(name: String, value: String)] {
        Self.parameters.compactMap { parameter in self[keyPath: parameter.field].map { (parameter.name, $0) } }
    }
}
