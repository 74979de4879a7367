public import Waybill
import WaybillCore
import WaybillStore

extension TransactionManager {
    /// Answers a question about everything that was recorded until now. Recording goes on meanwhile.
    ///
    /// ## Usage
    ///
    /// ```swift
    /// var logins = TransactionFilter()
    /// logins.useCase = Login.code
    /// let question = DurationQuestion(
    ///     filter: logins, from: .event("requestSent"), to: .event("responseReceived"), segmentation: .attribute("variant"))
    /// print(try await transactions.answer(question).total.statistics)
    /// ```
    ///
    /// - Throws: ``WaybillCore/WaybillError``: `.notFound` for a name that nothing here has, with the nearest one;
    ///   `.setting` for a question that lacks something; `.store` when recording is off and nothing was recorded, or
    ///   the store cannot be read.
    public func answer<Asked: Question>(_ question: Asked) async throws -> Asked.Answer {
        guard let answer = try await read({ reader, now in try reader.answer(question, now: now) }) else {
            throw WaybillError(.store, "Recording is off and nothing was recorded: there is nothing to ask about.")
        }
        return answer
    }
}
