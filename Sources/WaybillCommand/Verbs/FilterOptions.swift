#if Collector
import ArgumentParser
import WaybillCollector
import WaybillCore
import WaybillReading

/// Which transactions, or exchanges; all conditions that are given must hold.
struct FilterOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A filter such as 'outcome:failed took>2s', in the shell's quotes; see waybill help list.",
            valueName: "filter"))
    var expression: String?

    @Option(help: "Only this use case: its name or its code.")
    var useCase: String?

    @Option(
        help:
            "Only these outcomes, separated by commas: \(TransactionOutcome.allCases.map(\.name).joined(separator: ", "))."
    )
    var outcome: String?

    @Option(help: ArgumentHelp("Begun at or after this time: \(TimeExpression.forms).", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Begun before this time.", valueName: "time"))
    var until: String?

    @Option(help: "Found in the ID, support code, names, attributes, errors, or in the host or path of a request.")
    var text: String?

    /// The first page of what is meant.
    var request: ListRequest {
        ListRequest([
            .useCase: useCase, .outcome: outcome, .since: since, .until: until, .text: text, .filter: expression,
        ])
    }

    /// Says what is wrong with a request that has these conditions, before it is made.
    func check(_ request: ListRequest, about subject: ListRequest.Subject) throws {
        do throws(QueryFailure) { try request.validate(about: subject) } catch {
            throw ValidationError(message(for: error))
        }
    }

    /// Runs `body`; where it finds a mistake in the expression, that is told with a mark below the place.
    func marking(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let failure as QueryFailure {
            throw WaybillError(.setting, message(for: Redactor.command.redacted(failure).value))
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

    /// The same with these conditions, too.
    func added(to request: ListRequest) -> ListRequest {
        var request = request
        (request[.method], request[.status], request[.state]) = (method, status, state)
        return request
    }
}
#endif
