#if Collector
import Waybill
import WaybillCore
import WaybillExport
import WaybillQueries

/// A recorded transaction with its descendants and the bodies of their exchanges.
struct Reproduction {
    let records: [TransactionRecord]
    let bodies: [FactID: ExchangeBodies]

    /// The most descendants, services, exchanges, events of a transaction, and bytes of bodies.
    static let limits = (descendants: 50, services: 20, exchanges: 500, events: 500, bodyBytes: 8 << 20)

    var summary: TransactionSummary { records[0].summary }

    /// A file name without its extension, and the name of its suite; `nil` as service for the app's test.
    func name(_ service: String? = nil) -> String {
        let code = summary.id.supportCode.description.replacing("-", with: "")
        let useCase = summary.useCaseName.swiftTypeName
        let start = "\(useCase.isEmpty ? "Transaction" : useCase)\(code)"
        guard let service else { return "\(start)Tests" }
        let word = service.swiftTypeName
        let alike = services.filter { $0.swiftTypeName == word }.firstIndex(of: service) ?? 0
        return "\(start)\(word.isEmpty ? "Service" : word)\(alike == 0 ? "" : "\(alike + 1)")Tests"
    }

    /// `nil` in the store of a server that only joined the transaction.
    var beginner: TransactionRecord.Part? { records[0].parts.first { !$0.isJoined } }

    /// The names of the services that joined, in the order of their first parts.
    var services: [String] {
        records.flatMap { record in
            record.parts.filter(\.isJoined).compactMap { part in record.app(of: part.id.source) }
        }.reduce(into: []) { if !$0.contains($1), $0.count < Self.limits.services { $0.append($1) } }
    }

    var sent: [TransactionRecord.Exchange] {
        guard let source = beginner?.id.source else { return [] }
        return exchanges { _, exchange in exchange.role == .client && exchange.id.source == source }
    }

    func received(by service: String) -> [TransactionRecord.Exchange] {
        exchanges { record, exchange in exchange.role == .server && record.app(of: exchange.id.source) == service }
    }

    func record(of exchange: TransactionRecord.Exchange) -> TransactionRecord? {
        records.first { record in record.exchanges.contains { $0.id == exchange.id } }
    }

    private func exchanges(
        where isIncluded: (TransactionRecord, TransactionRecord.Exchange) -> Bool
    ) -> [TransactionRecord.Exchange] {
        let all = records.flatMap { record in record.exchanges.filter { isIncluded(record, $0) } }
        let sorted = all.sorted { ($0.openedMicroseconds, $0.id.sequence) < ($1.openedMicroseconds, $1.id.sequence) }
        return Array(sorted.prefix(Self.limits.exchanges))
    }

    /// The names of the events that a transaction must record again, and whether they are all that were recorded.
    ///
    /// Events after the first failure are left out, because they may be a consequence of the fault.
    func events(
        of record: TransactionRecord, in isIncluded: (GUID) -> Bool, among exchanges: [TransactionRecord.Exchange]
    ) -> (names: [String], isWhole: Bool) {
        let entries = record.timeline.filter { $0.kind == .event && isIncluded($0.id.source) }
        // The events of a handler belong to its response, but an app does other things while it waits.
        let failures =
            exchanges.filter(\.hasFailed).map {
                $0.role == .server ? $0.openedMicroseconds : $0.closedMicroseconds ?? $0.openedMicroseconds
            } + entries.filter { $0.error != nil }.map(\.timeMicroseconds)
        let end = summary.outcome == .succeeded ? nil : failures.min()
        let names = entries.prefix(Self.limits.events).prefix { $0.timeMicroseconds < end ?? .max }.map(\.label)
        return (names, names.count == entries.count)
    }

    var outcome: String {
        let duration = summary.durationMicroseconds.map { " after \(Words.duration($0))" } ?? ""
        let error = summary.error.map { ": \(Words.error($0))" } ?? ""
        return "\(Words.outcome(summary.outcome))\(duration)\(error)"
    }

    func head(_ app: String) -> String {
        """
        // \(summary.useCaseName.swiftEscaped) \(summary.id.supportCode) of \(app.swiftEscaped), \
        recorded at \(Words.time(summary.begunMicroseconds)) UTC:
        // \(outcome.swiftEscaped)
        """
    }
}

extension TransactionRecord {
    func app(of source: GUID) -> String? { sources.first { $0.id == source }?.app }
}
#endif
