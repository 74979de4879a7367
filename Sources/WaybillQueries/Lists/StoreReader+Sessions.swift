package import Foundation
package import WaybillCore
import WaybillStore

package struct ListTotal: Sendable, Hashable {
    package var count: Int
    /// Whether these are all. If not, there were more than ``limit``, or the time ran out.
    package var isComplete: Bool

    package static let limit = 10_000
}

/// The transactions that pass a filter, grouped by session and day. A session is a source: one launch of a process.
package struct SessionList: Sendable {
    package var total = ListTotal(count: 0, isComplete: true)
    package var sessions: [Session] = []
    package var sources: [GUID: GUID] = [:]
    /// The numbers of failed transactions by their errors, as ``RecordedError/identity``.
    package var errors: [RecordedError: Int] = [:]
    package var firstMicroseconds: Int64?
    package var lastMicroseconds: Int64?

    package init() {}

    package struct Session: Sendable {
        package var source: SourceIdentity
        /// By the number of days since 1970-01-01 in the time zone of the reader.
        package var days: [Int64: Day] = [:]
    }

    package struct Day: Sendable, Hashable {
        package var count = 0
        package var failedCount = 0
    }

    /// Groups rows, newest first. More than ``ListTotal/limit`` are too many.
    package init(_ rows: [TransactionRow], in zone: TimeZone) {
        let counted = rows.prefix(ListTotal.limit)
        total = ListTotal(count: counted.count, isComplete: rows.count <= ListTotal.limit)
        (firstMicroseconds, lastMicroseconds) = (counted.last?.begun, counted.first?.begun)
        var places: [GUID: Int] = [:]
        for row in counted {
            guard let source = row.sources.first else { continue }
            let place = places[source.id] ?? sessions.count
            if place == sessions.count {
                places[source.id] = place
                sessions.append(
                    Session(
                        source: SourceIdentity(
                            id: source.id, installation: source.installation, app: source.app,
                            appVersion: source.appVersion, device: source.device, os: source.os,
                            osVersion: source.osVersion)))
            }
            let hasFailed = row.outcome == TransactionOutcome.failed.rawValue
            let error = DetailColumn(row.errorDetail).error(code: row.errorCode)
            add(begun: row.begun, hasFailed: hasFailed, error, to: place, in: zone)
        }
    }

    fileprivate mutating func add(
        begun: Int64, hasFailed: Bool, _ error: RecordedError?, to place: Int, in zone: TimeZone
    ) {
        let day = zone.day(begun)
        sessions[place].days[day, default: .init()].count += 1
        guard hasFailed else { return }
        sessions[place].days[day, default: .init()].failedCount += 1
        if let error { errors[error.identity, default: 0] += 1 }
    }

    package var failedCount: Int { sessions.flatMap(\.days.values).reduce(0) { $0 + $1.failedCount } }
}

extension SessionList: Redactable {
    package mutating func redact(by redactor: Redactor) {
        for index in sessions.indices { sessions[index].source.redact(by: redactor) }
        errors = Dictionary(errors.map { (redactor.error($0.key), $0.value) }, uniquingKeysWith: +)
    }
}

extension TimeZone {
    /// Returns the number of days from 1970-01-01 to the day of a time, in this time zone.
    package func day(_ microseconds: Int64) -> Int64 {
        let (seconds, _) = microseconds.quotientAndRemainder(flooringBy: 1_000_000)
        let offset = Int64(secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds))))
        return seconds.adding(offset).quotientAndRemainder(flooringBy: 86_400).quotient
    }
}

extension StoreReader {
    package func sessions(
        _ filter: TransactionFilter, rows: [GUID], in zone: TimeZone, now wall: Int64, budget: SearchBudget?
    ) throws(WaybillError) -> SessionList {
        try read { () throws(WaybillError) in
            var filter = filter
            filter.order = .newest
            let found = try leaders(matching: filter, limit: ListTotal.limit, after: nil, now: wall, budget)
            var list = SessionList()
            list.total = ListTotal(count: found.leaders.count, isComplete: found.next == nil)
            list.firstMicroseconds = found.leaders.last?.listed
            list.lastMicroseconds = found.leaders.first?.listed
            var places: [Int64: Int] = [:]
            let source = try connection.statement("SELECT \(SourceIdentity.columns) FROM sources WHERE id = ?")
            let outcome = try connection.statement(
                "SELECT outcome, error_code, closed_detail FROM parts WHERE source = ? AND sequence = ?")
            for leader in found.leaders {
                if places[leader.source] == nil {
                    let identity = try source.first(leader.source) { row in SourceIdentity(row) }
                    guard let identity else { continue }
                    places[leader.source] = list.sessions.count
                    list.sessions.append(SessionList.Session(source: identity))
                }
                guard let place = places[leader.source] else { continue }
                let ended = try outcome.first(leader.source, leader.sequence) { row in
                    (
                        hasFailed: row.int(0) == TransactionOutcome.failed.rawValue,
                        error: row.optionalInt(1).flatMap { DetailColumn(row.optionalText(2)).error(code: $0) }
                    )
                }
                list.add(
                    begun: leader.listed, hasFailed: ended?.hasFailed == true, ended?.error, to: place, in: zone)
            }
            for id in rows { list.sources[id] = try leader(of: id)?.id.source }
            return list
        }
    }
}

extension BrowsableStore {
    package func sessions(
        _ request: ListRequest, rows: [GUID], in zone: TimeZone, within budget: Duration
    ) async throws -> SessionList {
        try await read(request) { (reader, filter: TransactionFilter, now) in
            try reader.sessions(filter, rows: rows, in: zone, now: now, budget: .lasting(budget))
        }
    }
}
