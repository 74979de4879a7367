#if Collector
import ArgumentParser
import WaybillCollector
import WaybillCore
import WaybillReading

/// Which transactions, or exchanges; all conditions that are given must hold.
struct FilterOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A filter such as 'outcome:failed took>2s', in the shell's quotes; see waybill help list.", valueName: "filter"))
    var expression: String?

    @Option(help: "Only this use case: its name or its code.")
    var useCase: String?

    @Option(help: "Only these outcomes, separated by commas: \(TransactionOutcome.allCases.map(\.name).joined(separator: ", ")).")
    var outcome: String?

    @Option(help: ArgumentHelp("Begun at or after this time: \(TimeExpression.forms).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Begun before this time.", valueName: "time"))
    var until: String?

    @Option(help: "Found in the ID, support code, names, attributes, errors, or in the host or path of a request.")
    var text: String?

    /// As a URL's query has it.
    var query: TransactionQuery {
        var query = TransactionQuery()
        (query.useCase, query.outcome, query.since, query.until, query.text) = (useCase, outcome, since, until, text)
        query.filter = expression
        return query
    }

    /// Says what is wrong with a question that is asked with these conditions, before it is asked.
    func check(_ body: () throws(QueryFailure) -> Void) throws {
        do throws(QueryFailure) { try body() } catch { throw ValidationError(message(for: error)) }
    }

    /// Runs `body`; where it finds a mistake in the expression, that is told with a mark below the place.
    func marking(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let failure as QueryFailure {
            throw WaybillError(.setting, message(for: failure))
        }
    }

    /// What is wrong, with a mark below the place in the expression.
    func message(for failure: QueryFailure) -> String {
        guard case .filter(let mistake) = failure, let expression else { return failure.description }
        return ([mistake.message] + mistake.marked(in: expression).map { "  \($0)" }).joined(separator: "\n")
    }
}

/// Which network exchanges, besides what ``FilterOptions`` says; all conditions that are given must hold.
struct ExchangeOptions: ParsableArguments {
    @Option(help: "Of exchanges: only these methods, separated by commas.")
    var method: String?

    @Option(help: "Of exchanges: only this status, as 404, 4xx or 400-499.")
    var status: String?

    @Option(
        help:
            "Of exchanges: only these states, separated by commas: \(ExchangeRecord.State.allCases.map(\.rawValue).joined(separator: ", "))."
    )
    var state: String?

    /// Whether none is given.
    var areUnset: Bool { method == nil && status == nil && state == nil }

    /// As a URL's query has it, with the conditions that exchanges share with transactions; an expression is about exchanges.
    func query(_ base: TransactionQuery) -> ExchangeQuery {
        var query = ExchangeQuery()
        (query.base, query.method, query.status, query.state) = (base, method, status, state)
        (query.filter, query.base.filter) = (base.filter, nil)
        return query
    }
}
#endif
