#if Collector
package import WaybillCore
import WaybillStore

extension StoreQueries {
    /// The answer to a question, by one state of the store.
    ///
    /// - Parameter transactions: Which ones count, in place of the question's own filter; their page does not matter. Nil: those of the question.
    /// - Throws: `QueryFailure` for a question that cannot be answered as it is asked, `WaybillError` where the store cannot be read.
    package func answer(_ question: Query, of transactions: TransactionQuery?) async throws -> Answer {
        try await read(transactions ?? TransactionQuery()) { reader, filter, now in
            var question = question
            if transactions != nil { question.filter = filter }
            do {
                return try reader.answer(question, now: now)
            } catch let error as WaybillError where [.notFound, .setting].contains(error.code) {
                throw QueryFailure.question(error.message)
            }
        }
    }
}
#endif
