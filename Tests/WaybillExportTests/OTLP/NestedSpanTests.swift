import Foundation
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillTesting

private enum Checkout: Int, UseCase {
    static let code = 0
    case begun = 0
}

private enum Payment: Int, UseCase {
    static let code = 1
    case begun = 0
}

@Suite(.timeLimit(.minutes(5))) struct NestedSpanTests {
    private struct Traces: Decodable {
        struct Resource: Decodable { var scopeSpans: [Scope] }
        struct Scope: Decodable { var spans: [Span] }
        struct Span: Decodable {
            var traceId: String
            var name: String
            var attributes: [Attribute]

            var transaction: String? { attributes.first { $0.key == "waybill.transaction" }?.value.stringValue }
        }
        struct Attribute: Decodable {
            struct Value: Decodable { var stringValue: String? }
            var key: String
            var value: Value
        }
        var resourceSpans: [Resource]
    }

    /// Breaks when a backend shows a nested transaction, or its requests, as a separate trace.
    @Test func everySpanOfANestedTransactionIsInTheTraceOfItsRoot() async throws {
        let tx = TransactionManager.testing()
        let url = try #require(URL(string: "https://api.example.com/pay"))
        let (root, child) = tx.perform(Checkout.self) { checkout in
            tx.openExchange(ExchangeRequest(method: "PUT", url: url), in: checkout).finish()
            let child = tx.perform(Payment.self) { payment in
                payment.log(.begun)
                tx.openExchange(ExchangeRequest(url: url), in: payment).finish()
                return payment.id
            }
            return (checkout.id, child)
        }
        let folder = try TemporaryDirectory()
        let file = folder.file("spans.jsonl")
        try await tx.export(as: .otlp, to: file)
        let spans = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").flatMap { line in
            try JSONDecoder().decode(Traces.self, from: Data(line.utf8)).resourceSpans.flatMap {
                $0.scopeSpans.flatMap(\.spans)
            }
        }
        #expect(spans.count == 4)
        #expect(Set(spans.map(\.traceId)) == [root.description.filter { $0 != "-" }])
        #expect(spans.first { $0.name == "GET" }?.transaction == child.description)
        #expect(spans.first { $0.name == "PUT" }.map { $0.transaction == nil } == true)
        #expect(spans.count { $0.transaction == child.description } == 2 && spans.count { $0.transaction == nil } == 2)
    }
}
