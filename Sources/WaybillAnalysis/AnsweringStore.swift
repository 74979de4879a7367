public import WaybillReading

/// A store that answers questions about many transactions.
public protocol AnsweringStore: RecordStore {
    /// The answer to a question, by one state of the store.
    ///
    /// - Parameters:
    ///   - question: What is asked.
    ///   - parameters: What counts, as a list takes it, in place of the question's own filter: conditions of a
    ///     `ListRequest` about exchanges for the question about the network, about transactions for the others. None:
    ///     what the question means.
    /// - Throws: `QueryFailure` for a question that cannot be answered as it is asked, `WaybillError` where the store
    ///   cannot be read.
    func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws -> AnyAnswer
}

/// A store at hand that pages with choices and answers can be made of.
public protocol ExplorableStore: AnsweringStore, BrowsableStore {
    /// Values that the newest transactions of a filter have, to choose from.
    ///
    /// - Parameters:
    ///   - useCase: nil: of all.
    ///   - limit: How many transactions are looked at.
    func seenValues(useCase: Int?, limit: Int) async throws -> SeenValues
}
