#if Tracing && Logging
import Foundation
import Logging
import TestSupport
import Tracing
import Waybill
import WaybillCore
import WaybillLogging
import WaybillStore
import WaybillTracing

// Reports of other libraries: spans and log lines, compared with the handlers of Apple's packages that do nothing.
extension Row {
    static let reported: [Row] = [spanEvent, spanOutside, logLine, logLineOutside]

    /// A span without attributes, inside a transaction.
    private static let spanEvent = Row("span", unit: "ns/span", against: "NoOpTracer") {
        try await reporting { transactions in
            spans(TransactionTracer(transactions), in: transactions)
        } against: {
            spans(NoOpTracer(), in: $0)
        }
    }

    /// The same outside a transaction.
    private static let spanOutside = Row("spanOutside", unit: "ns/span", against: "NoOpTracer") {
        try await reporting {
            spans(TransactionTracer($0), in: nil)
        } against: { _ in
            spans(NoOpTracer(), in: nil)
        }
    }

    /// A line without metadata, inside a transaction.
    private static let logLine = Row("logLine", unit: "ns/line", against: "SwiftLogNoOpLogHandler") {
        try await reporting {
            lines(TransactionLogHandler(label: "bench"), in: $0)
        } against: {
            lines(SwiftLogNoOpLogHandler(), in: $0)
        }
    }

    /// The same outside a transaction.
    private static let logLineOutside = Row("logLineOutside", unit: "ns/line", against: "SwiftLogNoOpLogHandler") {
        try await reporting { _ in
            lines(TransactionLogHandler(label: "bench"), in: nil)
        } against: { _ in
            lines(SwiftLogNoOpLogHandler(), in: nil)
        }
    }

    /// The number of reports that one part records.
    private static let count = OpenPart.reportLimit

    private static func reporting(
        _ value: (TransactionManager) -> Int, against baseline: (TransactionManager) -> Int
    ) async throws -> Comparison {
        let folder = TemporaryDirectory.place()
        defer { try? FileManager.default.removeItem(at: folder) }
        let transactions = TransactionManager(store: .directory(folder))
        transactions.perform(Login.self) { _ = $0.log(.initiated) }  // creates the journal
        try await transactions.sync()
        let comparison = try Comparison.nanoseconds(
            operations: count, before: { try transactions.sources.source?.writer.runAndWait { _, _ in } },
            of: { value(transactions) }, against: { baseline(transactions) })
        try await transactions.sync()
        precondition(
            transactions.health.omittedReports == 0, "some were left out: the figure would be of something else")
        return comparison
    }

    private static func spans(_ tracer: some Tracer, in transactions: TransactionManager?) -> Int {
        repeated(in: transactions) {
            let span = tracer.startSpan("work", context: .topLevel)
            span.end()
            return span.isRecording ? 1 : 0
        }
    }

    private static func lines(_ handler: any LogHandler, in transactions: TransactionManager?) -> Int {
        let logger = Logger(label: "bench") { _ in handler }
        return repeated(in: transactions) {
            logger.info("done")
            return 1
        }
    }

    private static func repeated(in transactions: TransactionManager?, _ body: () -> Int) -> Int {
        func all() -> Int { (0..<count).reduce(0) { sum, _ in sum + body() } }
        guard let transactions else { return all() }
        return transactions.perform(Login.self) { _ in all() }
    }
}
#endif
