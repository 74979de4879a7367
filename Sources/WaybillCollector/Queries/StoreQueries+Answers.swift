#if Collector
package import WaybillAnalysis
import WaybillCore
import WaybillStore

extension StoreQueries {
    /// The answer to a question, by one state of the store.
    ///
    /// - Parameter parameters: What counts, as a list takes it, in place of the question's own filter: conditions of ``ExchangeQuery`` for the
    ///   question about the network, of ``TransactionQuery`` for the others. None: what the question means.
    /// - Throws: `QueryFailure` for a question that cannot be answered as it is asked, `WaybillError` where the store cannot be read.
    package func answer(_ question: Query, where parameters: [(name: String, value: String)]) async throws -> Answer {
        if parameters.isEmpty {
            return try await read(TransactionQuery()) { reader, _, now in try reader.answer(to: question, now: now) }
        }
        if case .network(let query) = question {
            return try await read(try ExchangeQuery(conditions: parameters)) { reader, filter, now in
                var query = query
                (query.filter, query.transactions) = (filter, nil)
                return try reader.answer(to: .network(query), now: now)
            }
        }
        return try await read(try TransactionQuery(conditions: parameters)) { reader, filter, now in
            var question = question
            question.filter = filter
            return try reader.answer(to: question, now: now)
        }
    }
}

extension StoreReader {
    fileprivate func answer(to question: Query, now wall: Int) throws -> Answer {
        do throws(WaybillError) {
            return try answer(question, now: wall)
        } catch {
            throw [.notFound, .setting].contains(error.code) ? QueryFailure.question(error.message) as any Error : error
        }
    }
}

extension ListParameters {
    /// Reads conditions; an answer has no pages.
    init(conditions: [(name: String, value: String)]) throws(QueryFailure) {
        let names = Self.parameters.map(\.name).filter { !["limit", "cursor", "after"].contains($0) }
        for condition in conditions where !names.contains(condition.name) { throw .unknownParameter(condition.name, among: names) }
        try self.init(conditions)
    }
}
#endif
