#if Metrics
import CoreMetrics
import MetricsTestKit
import TestSupport
import Testing
import Waybill
import WaybillCore
import WaybillMetrics
import WaybillTesting

private enum Order: Int, UseCase {
    static let code = 5
    case placed = 0
}

/// The gauges report the values of `health` and of the ledger.
@Suite(.timeLimit(.minutes(5))) struct TransactionMetricsTests {
    let backend = TestMetrics()

    private func value(_ label: String, _ dimensions: [(String, String)] = []) throws -> Double? {
        try backend.expectMeter(label, dimensions).values.last
    }

    @Test func theLedgerIsInTheGaugesAndAddsUp() async throws {
        let transactions = TransactionManager.testing(delivery: .transport(InMemoryTransport()))
        let order = transactions.begin(Order.self)
        order.log(.placed)
        order.finish(.succeeded)
        let metrics = TransactionMetrics(transactions, factory: backend)
        await metrics.update()
        #expect(try value("waybill_recorded_facts") == 3)
        #expect(try value("waybill_pending_facts") == 3)
        #expect(try value("waybill_hints") == 1, "nothing was ever delivered")
        await transactions.flush()
        transactions.begin(Order.self).finish(.succeeded)
        _ = try await transactions.erase(.all)
        transactions.begin(Order.self).finish(.succeeded)
        await metrics.update()
        #expect(try value("waybill_pending_facts") == 2)
        #expect(try value("waybill_delivered_facts") == 3)
        #expect(try value("waybill_dropped_facts", [("reason", "erased")]) == 2)
        var sum = 0.0
        for label in ["pending", "delivered", "quarantined"] { sum += try value("waybill_\(label)_facts") ?? -1 }
        for reason in Ledger.DropReason.allCases {
            sum += try value("waybill_dropped_facts", [("reason", reason.rawValue)]) ?? -1
        }
        #expect(try value("waybill_recorded_facts") == sum)
        #expect(try value("waybill_problems") == 0)
    }

    @Test func whatHealthCountsIsInTheGauges() async throws {
        let transactions = TransactionManager.testing()
        let metrics = TransactionMetrics(transactions, factory: backend)
        await metrics.update()
        #expect(try value("waybill_malformed_headers") == 0)
        _ = transactions.join(Order.self) { _ in "no field that can be read" }
        await metrics.update()
        #expect(transactions.health.malformedHeaders > 0)
        #expect(try value("waybill_malformed_headers") == Double(transactions.health.malformedHeaders))
    }

    /// Breaks when a backend's bill grows with the amount of recorded data.
    @Test func thereAreAsManySeriesAsAreDocumentedWhateverIsRecorded() async {
        let transactions = TransactionManager.testing()
        let metrics = TransactionMetrics(transactions, factory: backend)
        for code in 0..<30 {
            transactions.begin(useCase: code).finish(.failed, code: code)
            await metrics.update()
        }
        #expect(backend.meters.count == 22)
        #expect(backend.counters.isEmpty && backend.recorders.isEmpty && backend.timers.isEmpty)
    }

    @Test func theGaugesAreUpdatedUntilTheTaskIsCancelled() async throws {
        let metrics = TransactionMetrics(.testing(), factory: backend)
        let task = Task { await metrics.run() }
        try await eventually("the gauges are there") { backend.meters.count == 22 }
        task.cancel()
        await task.value
    }
}

// The lines of the guide, compiled but not run, because a process sets up its backend only once.
private func start(_ transactions: TransactionManager) {
    let metrics = TransactionMetrics(transactions)
    Task { await metrics.run() }
}
#endif
