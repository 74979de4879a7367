import Foundation
import StoreConformance
import TestSupport
import Testing
import WaybillQueries
import WaybillTesting

/// Stores conform to the naive store. `WAYBILL_HISTORIES=500` plays 500 histories instead of a few.
@Suite(.timeLimit(.minutes(10))) struct StoreConformanceTests {
    private static let seeds = 0..<(ProcessInfo.processInfo.environment["WAYBILL_HISTORIES"].flatMap { Int($0) } ?? 25)

    @Test func theNaiveStoreConforms() async {
        #expect(await StoreConformance(seeds: Self.seeds) { NaiveStore(clock: $0) }.findings() == [])
    }

    @Test func aStoreInAFileConforms() async throws {
        let folder = try TemporaryDirectory()
        let (findings, questionCount) = await StoreConformance(seeds: Self.seeds) { clock in
            try SQLiteStore(making: folder.file("\(UUID()).sqlite"), clock: clock)
        }.trial()
        print("SQLite: \(Self.seeds.count) histories, \(questionCount) questions answered as by the naive store")
        #expect(findings == [])
        #expect(questionCount >= (Self.seeds.count >= 25 ? 500 : Self.seeds.count))
    }

    /// Breaks when the suite would let a broken store pass.
    @Test(arguments: FaultyStore.Fault.allCases) func aFaultIsFound(fault: FaultyStore.Fault) async {
        #expect(await StoreConformance(seeds: 0..<25) { FaultyStore(fault, clock: $0) }.findings() != [])
    }
}
