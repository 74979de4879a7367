import Foundation
import LoginUseCase
import WaybillCore
import WaybillQueries
import WaybillStore

/// The contents of the three stores after a run, and their disagreements.
struct Findings {
    private(set) var outcomes: [String: Int] = [:]
    /// The number of logins of each scenario, by the collector's records.
    private(set) var scenarios: [Scenario: Int] = [:]
    private(set) var disagreements: [String] = []
    private(set) var client = Ledger()
    private(set) var server = Ledger()
    private(set) var collectorSources: [SourceRecord] = []
    private(set) var records: [TransactionRecord] = []

    /// The transactions that have a part of the server and one of the client.
    var merged: [TransactionRecord] { records.filter { $0.sources.count == 2 } }

    init(runs: Int, clientStore: URL, serverStore: URL, collectorStore: URL) throws {
        client = try Self.ledger(of: clientStore)
        server = try Self.ledger(of: serverStore)
        let reader = try StoreReader(.folder(collectorStore))
        collectorSources = try reader.sources()
        records = try Self.records(in: reader)
        let atClient = try Self.records(in: try StoreReader(.folder(clientStore)))

        let played = (0..<runs).map(Scenario.of)
        outcomes = Self.counts(records)
        scenarios = Dictionary(records.compactMap { Self.scenario(of: $0) }.map { ($0, 1) }, uniquingKeysWith: +)
        expect(scenarios, Dictionary(played.map { ($0, 1) }, uniquingKeysWith: +), "logins by what happened in them")
        expect(
            Self.counts(atClient), Dictionary(played.map { ($0.outcome.name, 1) }, uniquingKeysWith: +),
            "outcomes in the client's store"
        )
        expect(outcomes, Self.counts(atClient), "outcomes at the collector")
        expect(records.count, runs, "transactions at the collector")
        expect(merged.count, played.count(where: \.reachesServer), "transactions merged from client and server")
        expect(
            merged.count { record in
                record.exchanges.contains { $0.role == .server && record.parts.contains { $0.cause != nil } }
            },
            merged.count, "merged transactions with the exchange that ties them")
        for (name, ledger) in [("client", client), ("server", server)] {
            expect(ledger.isBalanced, true, "the \(name)'s ledger balances")
            expect(ledger.delivered, ledger.recorded, "facts of the \(name) delivered")
        }
        expect(
            collectorSources.reduce(0) { $0 + $1.ledger.delivered }, client.recorded + server.recorded,
            "facts received by the collector")
        expect(collectorSources.flatMap(\.gaps).count, 0, "gaps at the collector")
    }

    /// Microseconds between two events of the client, where both happened, smallest first.
    func durations(from first: Login, to second: Login) -> [Int64] {
        records.compactMap { record -> Int64? in
            let time = { (event: Login) in
                record.timeline.first { $0.kind == .event && $0.code == event.rawValue }?.timeMicroseconds
            }
            guard let start = time(first), let end = time(second) else { return nil }
            return end - start
        }.sorted()
    }

    /// Microseconds that the server took for exchanges that the client saw answered, smallest first.
    var serverDurations: [Int64] {
        merged.compactMap { record -> Int64? in
            guard record.exchanges.contains(where: { $0.role == .client && $0.state == .completed }) else { return nil }
            return record.exchanges.first { $0.role == .server }.flatMap { exchange in
                exchange.closedMicroseconds.map { $0 - exchange.openedMicroseconds }
            }
        }.sorted()
    }

    private mutating func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ what: String) {
        if found != expected { disagreements.append("\(what): found \(found), expected \(expected)") }
    }

    /// The scenario of a login, by its outcome, its error and the server's reason. `nil` if no scenario ends like that.
    private static func scenario(of record: TransactionRecord) -> Scenario? {
        let reason = record.timeline.first { $0.code == Login.serverRejected.rawValue }?.attributes["reason"]
        return switch (record.summary.outcome, record.summary.error.map { Int($0.code) }, reason) {
        case (.succeeded, _, nil): .accepted
        case (.cancelled, _, nil): .cancelledByUser
        case (.abandoned, _, nil): .leftScreen
        case (.failed, 401, "wrong password"): .wrongPassword
        case (.failed, 401, "unknown user"): .unknownUser
        case (.failed, 500, nil): .serverError
        case (.failed, URLError.timedOut.rawValue, nil): .serverTooLate
        case (.failed, URLError.cannotConnectToHost.rawValue, nil): .connectionRefused
        default: nil
        }
    }

    private static func counts(_ records: [TransactionRecord]) -> [String: Int] {
        Dictionary(records.map { ($0.summary.outcome.name, 1) }, uniquingKeysWith: +)
    }

    private static func ledger(of store: URL) throws -> Ledger {
        try StoreReader(.folder(store)).sources().reduce(into: Ledger()) { sum, source in
            sum.recorded += source.ledger.recorded
            sum.delivered += source.ledger.delivered
            sum.quarantined += source.ledger.quarantined
            sum.pending += source.ledger.pending
            sum.refused += source.ledger.refused
            sum.dropped.merge(source.ledger.dropped, uniquingKeysWith: +)
        }
    }

    private static func records(in reader: StoreReader) throws -> [TransactionRecord] {
        let now = SystemClock().wallMicroseconds()
        var records: [TransactionRecord] = []
        var cursor: String?
        repeat {
            let page = try reader.transactions(matching: TransactionFilter(), limit: 500, after: cursor, now: now)
            for row in page.rows {
                if let record = try reader.transaction(row.id, now: now) { records.append(record) }
            }
            cursor = page.next
        } while cursor != nil
        return records
    }
}

/// The percentile of sorted values, by the nearest rank. `nil` if there are no values.
func quantile(_ share: Double, of sorted: [Int64]) -> Int64? {
    guard !sorted.isEmpty else { return nil }
    return sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)]
}
