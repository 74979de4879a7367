#if ClickHouse
import Foundation
import StoreConformance
import TestSupport
import Testing
import WaybillQueries
import WaybillCore
import WaybillExport
import WaybillTesting

@testable import WaybillClickHouse

/// The store port on ClickHouse. `WAYBILL_HISTORIES=500` plays 500 histories instead of a few.
@Suite(.timeLimit(.minutes(minutes)), .enabled(if: ClickHouseEngine.isThere)) struct ConformanceTests {
    private static let count = ProcessInfo.processInfo.environment["WAYBILL_HISTORIES"].flatMap { Int($0) } ?? 6

    /// Breaks when a set, an erasure, a list, a record, an answer or an export means something else in ClickHouse.
    @Test func aDatabaseConforms() async {
        await expectConformance("one database", seeds(0..<Self.count)) { clock in
            try await ClickHouseStore(ClickHouseEngine.shared.database(), clock: clock)
        }
    }

    /// Breaks when one of three processes does not see what another one has just written, or sees it twice; or when
    /// rows of transactions give other answers than facts, while all three write, erase and make rows at once.
    @Test func threeProcessesOnOneDatabaseConform() async {
        await expectConformanceOfThree("three processes", seeds(100..<100 + Self.count), ClickHouseEngine.shared)
    }

    /// Breaks when duplicate rows count twice, as after an insert whose answer was lost.
    @Test func rowsThatAreThereTwiceCountOnce() async {
        let findings = await StoreConformance(seeds: seeds(200..<200 + Self.count / 4)) { clock in
            let address = try await ClickHouseEngine.shared.database()
            return TakingTurns([try await ClickHouseStore(address, clock: clock)]) {
                for table in [
                    "facts", "books", "names", "erased", "by_source", "children", "begun", "installations", "commits",
                    "transactions", "changed",
                ] {
                    try await ClickHouseClient(address).run("INSERT INTO \(table) SELECT * FROM \(table)")
                }
            }
        }.findings()
        #expect(findings.isEmpty, "\(findings)")
    }

    /// Breaks when facts that are loaded in ranges are incomplete. Each range holds few facts, so facts from before
    /// their opening and facts outside transactions are in other ranges. Tests compare reads by rows with reads by
    /// ranges.
    @Test func rangesHaveTheWhole() async {
        let findings = await StoreConformance(seeds: seeds(400..<401 + Self.count / 12)) { clock in
            let address = try await ClickHouseEngine.shared.database()
            var stores: [ClickHouseStore] = []
            for _ in 0..<2 { stores.append(try await ClickHouseStore(address, clock: clock)) }
            return TakingTurns(
                stores,
                otherwise: { store in
                    var store = store
                    (store.factsPerRange, store.readsAll) = (15, true)
                    return store
                })
        }.findings()
        #expect(findings.isEmpty, "\(findings)")
    }

    /// Breaks when this suite accepts a store that counts duplicate rows twice.
    @Test func rowsThatCountTwiceAreFound() async {
        let findings = await StoreConformance(seeds: 0..<4) { clock in
            let address = try await ClickHouseEngine.shared.database()
            let store = try await ClickHouseStore(address, takingEachRow: true, clock: clock)
            return TakingTurns([store]) {
                try await ClickHouseClient(address).run("INSERT INTO facts SELECT * FROM facts")
            }
        }.findings()
        #expect(!findings.isEmpty)
    }

    /// Breaks when this suite accepts a table that loses its rows.
    @Test(arguments: ["books", "names", "erased"]) func aLostTableIsFound(table: String) async {
        let findings = await StoreConformance(seeds: 0..<2) { clock in
            let address = try await ClickHouseEngine.shared.database()
            return TakingTurns([]) {
                try await ClickHouseClient(address).run("TRUNCATE TABLE \(table)")
            } opening: {
                try await ClickHouseStore(address, clock: clock)
            }
        }.findings()
        #expect(!findings.isEmpty)
    }
}

/// The same tests on two shards with two replicas each.
@Suite(.timeLimit(.minutes(minutes)), .enabled(if: ClickHouseEngine.isClusterThere)) struct ClusterConformanceTests {
    private static let count = ProcessInfo.processInfo.environment["WAYBILL_HISTORIES"].flatMap { Int($0) } ?? 3

    /// Breaks when replicas or shards change the results of reads.
    @Test func threeProcessesOnAClusterConform() async {
        await expectConformanceOfThree("cluster", 300..<300 + Self.count, ClickHouseEngine.cluster)
    }
}

/// The rounds of questions. `WAYBILL_QUESTIONS=14` asks 14 questions of each kind instead of one.
private let rounds = ProcessInfo.processInfo.environment["WAYBILL_QUESTIONS"].flatMap { Int($0) } ?? 1
private let minutes = rounds > 1 ? 240 : 20

private func expectConformanceOfThree(_ name: String, _ seeds: Range<Int>, _ engine: ClickHouseEngine) async {
    let byRows = Locked(TakingTurns.AnswersByRows())
    let questionCount = await expectConformance(name, seeds) { clock in
        let address = try await engine.database()
        var stores: [ClickHouseStore] = []
        for _ in 0..<3 {
            stores.append(try await ClickHouseStore(address, clock: clock))
        }
        let (all, calls) = (stores, Locked(0))
        return TakingTurns(stores, counting: byRows) {
            // Sometimes all rows are made, and sometimes those of the latest changes are missing.
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            if call % 7 == 0 { try await all[call % 3].queue.keeper.run(isAlone: true) }
        }
    }
    let counts = byRows.withLock { $0 }
    func text(_ counts: [String: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
    print("\(name), by rows: \(text(counts.kinds)); with terms: \(text(counts.terms))")
    #expect(counts.kinds.values.reduce(0, +) * 20 >= questionCount)
    guard rounds > 1, seeds.count >= 25 else { return }
    #expect(counts.kinds.values.allSatisfy { $0 >= 500 })
    #expect(counts.terms.values.allSatisfy { $0 >= 100 })
}

/// Plays histories, prints how many questions were compared, and expects at least 500 for 25 or more histories.
@discardableResult
private func expectConformance(
    _ name: String, _ seeds: Range<Int>,
    _ makeStore: @escaping @Sendable (any TransactionClock) async throws -> any ExportingStore
) async -> Int {
    let trial = StoreConformance(seeds: seeds, rounds: rounds, makeStore: makeStore)
    let (findings, questionCount) = await trial.trial()
    print("\(name): \(seeds.count) histories, \(questionCount) questions answered as by the naive store")
    #expect(findings.isEmpty, "\(findings)")
    #expect(questionCount >= (seeds.count >= 25 ? 500 : seeds.count))
    return questionCount
}
#endif
