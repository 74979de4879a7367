#if Metrics
public import CoreMetrics
public import Waybill
import WaybillCore

/// Reports a manager's health and ledger as gauges of swift-metrics.
///
/// ```swift
/// let metrics = TransactionMetrics(transactions)
/// Task { await metrics.run() }
/// ```
///
/// The store's facts, over all sources. Recorded is the sum of pending, delivered, quarantined and dropped:
///
/// | gauge | unit |
/// |---|---|
/// | `waybill_recorded_facts` | facts |
/// | `waybill_pending_facts` | facts not delivered yet |
/// | `waybill_delivered_facts` | facts |
/// | `waybill_quarantined_facts` | facts that the collector rejected |
/// | `waybill_dropped_facts`, by `reason`: `quota`, `age`, `erased`, `damaged`, `sampled`, `withheld` | facts dropped early |
///
/// The counts of this process since its start, explained at ``Waybill/RecordingHealth``:
///
/// | gauge | unit |
/// |---|---|
/// | `waybill_problems`, `waybill_hints` | current sentences; 0 is good |
/// | `waybill_refused_facts`, `waybill_withheld_facts` | facts |
/// | `waybill_omitted_reports` | spans and log lines |
/// | `waybill_omitted_bodies` | bodies |
/// | `waybill_truncated_attributes`, `waybill_impossible_codes` | attributes; codes |
/// | `waybill_malformed_headers`, `waybill_mismatched_use_cases` | received requests |
/// | `waybill_unknown_use_cases`, `waybill_refused_joins` | received requests |
///
/// There are always 22 series.
public struct TransactionMetrics: Sendable {
    private let transactions: TransactionManager
    private let factory: any MetricsFactory

    /// Creates the gauges without reading anything.
    ///
    /// - Parameters:
    ///   - transactions: The manager to report.
    ///   - factory: The factory of the gauges. Default: that of `MetricsSystem`.
    public init(_ transactions: TransactionManager, factory: any MetricsFactory = MetricsSystem.factory) {
        self.transactions = transactions
        self.factory = factory
    }

    /// Sets the gauges to the current values. The ledger's gauges keep their values if the store can't be read.
    public func update() async {
        tell(transactions.health)
        if let ledger = try? await transactions.ledger() { tell(ledger) }
    }

    /// Updates the gauges until the task is cancelled.
    ///
    /// - Parameter interval: The time between updates, at least a second.
    public func run(every interval: Duration = .seconds(10)) async {
        while !Task.isCancelled {
            await update()
            try? await Task.sleep(for: max(interval, .seconds(1)).bounded)
        }
    }

    private func tell(_ health: RecordingHealth) {
        set("waybill_problems", to: Int64(health.problems.count))
        set("waybill_hints", to: Int64(health.hints.count))
        set("waybill_refused_facts", to: health.refused)
        set("waybill_withheld_facts", to: health.withheld)
        set("waybill_omitted_reports", to: health.omittedReports)
        set("waybill_omitted_bodies", to: health.omittedBodies)
        set("waybill_truncated_attributes", to: health.truncated)
        set("waybill_impossible_codes", to: health.impossibleCodes)
        set("waybill_malformed_headers", to: health.malformedHeaders)
        set("waybill_mismatched_use_cases", to: health.mismatchedUseCases)
        set("waybill_unknown_use_cases", to: health.unknownUseCases)
        set("waybill_refused_joins", to: health.refusedJoins)
    }

    private func tell(_ ledger: Ledger) {
        set("waybill_recorded_facts", to: ledger.recorded)
        set("waybill_pending_facts", to: ledger.pending)
        set("waybill_delivered_facts", to: ledger.delivered)
        set("waybill_quarantined_facts", to: ledger.quarantined)
        for reason in Ledger.DropReason.allCases {
            set("waybill_dropped_facts", [("reason", reason.rawValue)], to: ledger.dropped[reason.rawValue] ?? 0)
        }
    }

    private func set(_ label: String, _ dimensions: [(String, String)] = [], to value: Int64) {
        Meter(label: label, dimensions: dimensions, factory: factory).set(value)
    }
}
#else
/// Reports a manager's health and ledger as gauges. It requires the trait `Metrics`.
@available(
    *, unavailable, message: "Add the trait: .package(url: \"…/waybill\", from: \"…\", traits: [\"Metrics\"])"
)
public struct TransactionMetrics {}
#endif
