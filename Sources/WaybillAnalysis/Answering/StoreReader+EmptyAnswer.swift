import WaybillCore
import WaybillReading
import WaybillStore

/// Why an answer has nothing in it.
extension StoreReader {
    /// Gives an answer in which nothing counted the sentence that says why; any other stays as it is.
    func explain(_ answer: inout Answer, to query: Query, now wall: Int) throws(WaybillError) {
        switch query {
        case .summary(let query):
            guard case .summary(var empty) = answer, empty.useCases.isEmpty else { return }
            empty.whyEmpty = try whyEmpty(query.filter, now: wall)
            answer = .summary(empty)
        case .duration(let query):
            guard case .duration(var empty) = answer, empty.total.statistics.count == 0 else { return }
            empty.whyEmpty = try whyNone(query.filter, now: wall) { found in
                let (from, to) = (query.from.inWords, query.to.inWords)
                return "None of \(found) has \(from) and then \(to): \(empty.total.withoutEnd) only \(from), "
                    + "\(empty.total.reversed) both the other way round."
            }
            answer = .duration(empty)
        case .transitions(let query):
            guard case .transitions(var empty) = answer, empty.transitions.isEmpty else { return }
            empty.whyEmpty = try whyNone(query.filter, now: wall) { "None of \($0) has two events." }
            answer = .transitions(empty)
        case .funnel(let query):
            guard case .funnel(var empty) = answer, empty.total.steps.first?.reached == 0 else { return }
            empty.whyEmpty = try whyNone(query.filter, now: wall) { "None of \($0) gets to the first step, \(query.steps[0].inWords)." }
            answer = .funnel(empty)
        case .dropOff(let query):
            guard case .dropOff(var empty) = answer, empty.transactions == 0 else { return }
            empty.whyEmpty = try whyEmpty(query.unfinished, now: wall)
            answer = .dropOff(empty)
        case .legs(let query):
            guard case .legs(var empty) = answer, empty.total.duration.count == 0 else { return }
            empty.whyEmpty = try whyNone(query.filter, now: wall) { found in
                "None of \(found) was closed with an exchange: \(empty.total.withoutEnd) without a close, "
                    + "\(empty.total.withoutExchange) without an exchange."
            }
            answer = .legs(empty)
        case .network(let query):
            guard case .network(var empty) = answer, empty.exchanges == 0 else { return }
            empty.whyEmpty = try whyNoExchange(query, now: wall)
            answer = .network(empty)
        case .compare(let query):
            guard case .compare(var empty) = answer, [empty.a, empty.b].contains(where: { $0.transactions == 0 }) else { return }
            empty.whyEmpty = try whyNone(query.filter, now: wall) { found in
                let names = [empty.a, empty.b].filter { $0.transactions == 0 }.map { $0.value.map { "“\($0)”" } ?? "those without a value" }
                return "None of \(found) belongs to \(names.joined(separator: ", or to "))."
            }
            answer = .compare(empty)
        }
    }

    /// By the filter, where that lets nothing through; else in the words of the question.
    private func whyNone(
        _ filter: TransactionFilter, now wall: Int, otherwise: (String) -> String
    ) throws(WaybillError) -> String {
        let found = try count(filter, now: wall)
        guard found > 0 else { return try whyEmpty(filter, now: wall) }
        return otherwise(found == 1 ? "the 1 transaction that counts" : "the \(found) transactions that count")
    }

    private func whyNoExchange(_ query: NetworkQuery, now wall: Int) throws(WaybillError) -> String {
        guard let transactions = query.transactions else { return try whyEmpty(query.filter) }
        let exchanges = query.filter == ExchangeFilter() ? "an exchange" : "an exchange that passes the filter"
        return try whyNone(transactions, now: wall) { "None of \($0) has \(exchanges)." }
    }
}

extension TransactionPoint {
    fileprivate var inWords: String {
        switch self {
        case .begun: "its beginning"
        case .finished: "an outcome"
        case .event(let name): "“\(name)”"
        }
    }
}
