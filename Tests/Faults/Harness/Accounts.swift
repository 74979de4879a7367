#if Collector
import CWaybillSQLite
import Foundation
import WaybillCore
import WaybillQueries
import WaybillStore

/// The final state of a harness's stores, and whether they agree.
struct Accounts {
    private var problems: [String] = []
    /// The number of every fact that the collector has a row for.
    private let numbers: [Int]
    /// The number of closings of parts whose openings are missing. Only the opening has their fact number.
    private let closingCount: Int
    private let client: [SourceRecord]
    private let collector: [SourceRecord]

    init(clients: [URL], collector: URL, mayDrop: Bool) throws {
        var client: [SourceRecord] = []
        for folder in clients { client += try Self.sources(of: folder, folder.lastPathComponent, &problems) }
        for folder in clients {
            let wrong = try Self.count(
                """
                SELECT count(*) FROM parts p JOIN dropped d ON d.source = p.source AND p.sequence BETWEEN d.first AND d.last \
                WHERE d.reason = 'sampled' AND (p.outcome NOT IN (1, 3) OR p.sample_kept IS NOT 1)
                """, in: folder)
            if wrong > 0 { problems.append("client: \(wrong) parts were sampled away though they did not end well.") }
        }
        self.client = client
        self.collector = try Self.sources(of: collector, "collector", &problems)
        let found = try Self.numbers(in: collector)
        numbers = found.filter { $0 != 0 }
        closingCount = found.count - numbers.count
        compare(mayDrop: mayDrop)
    }

    private static func sources(of folder: URL, _ name: String, _ problems: inout [String]) throws -> [SourceRecord] {
        let reader = try StoreReader(.folder(folder))
        problems += try reader.verify().problems.map { "\(name): \($0)" }
        return try reader.sources()
    }

    private static func count(_ sql: String, in folder: URL) throws -> Int {
        try StoreReader(.folder(folder)).connection.integer(sql)
    }

    /// Reads the numbers with SQLite alone, not with the code under test; 0 for a closing that can't be identified.
    private static func numbers(in folder: URL) throws -> [Int] {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        let sql = """
            SELECT use_case FROM parts WHERE guid IS NOT NULL \
            UNION ALL SELECT ifnull(-use_case, 0) FROM parts WHERE closed IS NOT NULL \
            UNION ALL SELECT code FROM events
            """
        guard
            sqlite3_open_v2(folder.appending(path: "waybill.sqlite").path(), &database, SQLITE_OPEN_READONLY, nil)
                == SQLITE_OK,
            sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK
        else { throw Trouble("The collector's store cannot be read: \(String(cString: sqlite3_errmsg(database)))") }
        var numbers: [Int] = []
        while sqlite3_step(statement) == SQLITE_ROW { numbers.append(Int(sqlite3_column_int64(statement, 0))) }
        return numbers
    }

    /// Client and collector must agree about each source. A client that has lost its store may know of fewer deliveries
    /// than the collector.
    private mutating func compare(mayDrop: Bool) {
        let received = Dictionary(collector.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        for source in client {
            let ledger = source.ledger
            if !ledger.isBalanced { problems.append("client: the ledger of \(source.id) does not balance: \(ledger)") }
            if ledger.pending > 0 {
                problems.append("client: \(ledger.pending) facts of \(source.id) are still pending.")
            }
            guard ledger.recorded > 0 else { continue }
            guard let other = received[source.id] else {
                problems.append("collector: \(source.id) is not known, which has recorded \(ledger.recorded) facts.")
                continue
            }
            if mayDrop ? other.ledger.delivered < ledger.delivered : other.ledger.delivered != ledger.delivered {
                problems.append(
                    "\(source.id): \(ledger.delivered) facts are settled at the client, \(other.ledger.delivered) received at the collector."
                )
            }
            if !other.gaps.isEmpty {
                problems.append("collector: facts of \(source.id) are missing: \(other.gaps.prefix(3))")
            }
        }
    }

    /// - Parameter mayDrop: Whether missing facts that are booked as dropped count as dropped. Otherwise they count as
    ///   lost.
    mutating func counts(journaled: [Int], mayDrop: Bool) -> FaultCounts {
        var counts = FaultCounts()
        let there = Set(numbers)
        counts.doubled = numbers.count - there.count
        counts.journaled = journaled.count
        let absent = journaled.filter { !there.contains($0) }
        let missing = absent.count - min(closingCount, absent.count { $0 < 0 })
        counts.delivered = journaled.count - missing
        let booked = collector.reduce(0) { $0 + $1.ledger.dropped.values.reduce(0, +) }
        counts.dropped = mayDrop ? min(missing, Int(booked)) : 0
        counts.lost = missing - counts.dropped
        counts.problems = problems
        if counts.lost > 0 { counts.problems.append("lost, the first of them: \(absent.prefix(10))") }
        return counts
    }
}
#endif
