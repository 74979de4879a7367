#if Collector
import Foundation
import Waybill
import WaybillCore
import WaybillExport
import WaybillQueries

/// The source of a test that answers an app's requests as they were answered, and expects the use case to succeed.
struct AppTest {
    let source: String

    /// Returns `nil` if no part began the transaction here.
    init?(_ reproduction: Reproduction) {
        guard let beginner = reproduction.beginner?.id.source else { return nil }
        let (summary, sent) = (reproduction.summary, reproduction.sent)
        let rules = sent.enumerated().compactMap { index, exchange in
            NetworkRule(exchange, body: reproduction.bodies[exchange.id]?.response, number: index + 1)
        }
        // Other requests fail, and reach no server.
        let last = NetworkRule("not recorded", .fail(.resourceUnavailable))
        let json = (rules + [last]).map { String(decoding: $0.json, as: UTF8.self).swiftRawJSON }
        let events = reproduction.events(of: reproduction.records[0], in: { $0 == beginner }, among: sent).names
        let useCase = summary.useCaseName.swiftEscaped
        source = """
            \(reproduction.head(reproduction.records[0].app(of: beginner) ?? ""))
            import Foundation
            import Testing
            import WaybillTesting

            /// Starts \(useCase). Replace the body: call what the app calls, with this manager and its session.
            private let start: @Sendable (_ transactions: TransactionManager) async throws -> Void = { transactions in
                Issue.record("Start the use case here.")
            }

            @Suite(.timeLimit(.minutes(1))) struct \(reproduction.name()) {
                @Test(.waybill) func theUseCaseSucceeds() async throws {
                    let transactions = TransactionManager.ofTest
                    try transactions.rules.add(json: Data(rules.utf8))
                    transactions.rules.isEnabled = true
                    // The record has the error.
                    try? await start(transactions)

                    let record = try #require(
                        try transactions.allRecords().last { $0.summary.useCase == \(summary.useCase) },
                        "\(useCase) was not begun.")
                    // The events before the failure.
                    let expected: [String] = [\(events.map(\.swiftLiteral).joined(separator: ", "))]
                    let events = record.timeline.filter { $0.kind == .event }.map(\\.label)
                    #expect(events.starts(with: expected))
                    #expect(
                        record.summary.outcome == .succeeded,
                        "Recorded: \(reproduction.outcome.swiftEscaped). Now: \\(String(describing: record.summary.error))")
                    #expect(transactions.rules.hits["not recorded"] == 0, "Add rules for requests that were not recorded.")
                }
            }

            /// The recorded answers. Each rule answers one request, and the last one refuses all others.
            private let rules = #\"""
                {"rules":[
                \(json.joined(separator: ",\n").replacing("\n", with: "\n    "))
                ]}
                \"""#

            """
    }
}
#endif
