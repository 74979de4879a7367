#if ClickHouse
import Foundation
import TestSupport
import Testing
import WaybillClickHouse
import WaybillTesting

/// The store port on ClickHouse. `WAYBILL_HISTORIES=500` plays so many histories instead of a few.
@Suite(.timeLimit(.minutes(10)), .enabled(if: ClickHouseEngine.isThere)) struct ConformanceTests {
    private static let seeds = 0..<(ProcessInfo.processInfo.environment["WAYBILL_HISTORIES"].flatMap { Int($0) } ?? 8)

    /// Breaks when a set, an erasure, a list, a record, an answer or an export means something else in ClickHouse.
    @Test func aDatabaseConforms() async {
        let findings = await StoreConformance(seeds: TestSupport.seeds(Self.seeds)) { clock in
            try await ClickHouseStore(ClickHouseEngine.shared.database(), clock: clock)
        }.findings()
        #expect(findings.isEmpty, "\(findings)")
    }
}
#endif
