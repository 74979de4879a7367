#if Collector
import Waybill
import WaybillCore
import WaybillExport
import WaybillQueries

/// The source of a test that sends the recorded requests to a Hummingbird application, with the same header field.
struct ServiceTest {
    let source: String

    private static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

    /// Returns `nil` if the service received no request that can be repeated.
    init?(_ reproduction: Reproduction, service: String) {
        let received = reproduction.received(by: service).filter { Self.methods.contains($0.method) }
        guard var last = received.first?.openedMicroseconds else { return nil }
        let calls = received.map { exchange in
            defer { last = max(last, exchange.openedMicroseconds) }
            return Self.call(exchange, after: max(0, exchange.openedMicroseconds - last), in: reproduction)
        }
        let events = Self.events(reproduction, service, received)
        source = """
            \(reproduction.head(service))
            import HTTPTypes
            import Hummingbird
            import HummingbirdTesting
            import Testing
            import WaybillHummingbird
            import WaybillTesting

            /// Returns the application. Replace the body, and keep the middleware.
            private func application(_ transactions: TransactionManager) async throws -> some ApplicationProtocol {
                let router = Router()
                router.add(middleware: TransactionMiddleware(transactions))
                return Application(router: router)
            }

            @Suite(.timeLimit(.minutes(1))) struct \(reproduction.name(service)) {
                @Test(.waybill(correlatedHosts: [], configure: { $0.server.accepting = .any }))
                func theServiceAnswers() async throws {
                    let (transactions, clock) = (TransactionManager.ofTest, ManualClock.ofTest)
                    let transaction = HTTPField.Name("\(TransactionHeader.fieldName)")!
                    try await application(transactions).test(.router) { client in
            \(calls.joined(separator: "\n"))
                    }

                    let records = try transactions.allRecords()
                    // The events before the failure.
                    let expected: [String] = [\(events.map(\.swiftLiteral).joined(separator: ", "))]
                    let events = records.flatMap(\\.timeline).filter { $0.kind == .event }.map(\\.label)
                    #expect(events.starts(with: expected))
                    #expect(records.flatMap(\\.parts).allSatisfy { $0.outcome == .succeeded })
                }
            }

            """
    }

    /// In the order of the manager in the test, which lists transactions by their first requests.
    private static func events(
        _ reproduction: Reproduction, _ service: String, _ received: [TransactionRecord.Exchange]
    ) -> [String] {
        let records = received.reduce(into: [TransactionRecord]()) { records, exchange in
            guard let record = reproduction.record(of: exchange),
                !records.contains(where: { $0.summary.id == record.summary.id })
            else { return }
            records.append(record)
        }
        var events: [String] = []
        for record in records {
            let (names, isWhole) = reproduction.events(
                of: record, in: { record.app(of: $0) == service }, among: received)
            events += names
            guard isWhole else { break }
        }
        return events
    }

    private static func call(
        _ exchange: TransactionRecord.Exchange, after microseconds: Int64, in reproduction: Reproduction
    ) -> String {
        let record = reproduction.record(of: exchange)
        let part = record?.parts.first { $0.id == FactID(source: exchange.id.source, sequence: exchange.part) }
        let summary = record?.summary ?? reproduction.summary
        let header = TransactionHeader(
            transaction: summary.id, useCase: summary.useCase, source: part?.cause?.source,
            exchange: part?.cause?.sequence)
        // The app has the body of its request.
        let kept = (part?.cause).flatMap { reproduction.bodies[$0]?.request }
        let lack =
            ExchangeBody.lack(of: kept, byteCount: exchange.sentByteCount)
            ?? kept.map { "A body of \(Words.byteCount($0.bytes.count)) is no text." }
        let body = kept.flatMap { $0.isWhole ? $0.text : nil } ?? lack.map(ExchangeBody.placeholder)
        let type = kept?.contentType ?? exchange.requestHeaderFields.value(for: "Content-Type") ?? "application/json"
        let target = exchange.path + (exchange.url.firstIndex(of: "?").map { exchange.url[$0...] } ?? "")
        let fields = body == nil ? "" : ", .contentType: \(type.swiftLiteral)"
        return """
                        clock.advance(by: .microseconds(\(microseconds)))
                        try await client.execute(
                            uri: \(target.swiftLiteral), method: .\(exchange.method.lowercased()),
                            headers: [transaction: \(header.description.swiftLiteral)\(fields)]\
            \(body.map { ", body: ByteBuffer(string: \($0.swiftLiteral))" } ?? "")
                        ) { #expect($0.status.code < 400, "Recorded: \(exchange.result.swiftEscaped).") }
            """
    }
}
#endif
