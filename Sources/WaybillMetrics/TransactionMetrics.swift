#if Metrics
public import CoreMetrics
public import Waybill
import WaybillCore

/// What a manager knows of itself, as gauges of swift-metrics, for those who have a backend for these.
///
/// ```swift
/// let metrics = TransactionMetrics(transactions)
/// Task { await metrics.run() }
/// ```
///
/// Facts of the store, by all its sources; recorded is the sum of pending, delivered, quarantined and dropped:
///
/// | gauge | unit |
/// |---|---|
/// | `waybill_recorded_facts` | facts |
/// | `waybill_pending_facts` | facts that are still to be delivered |
/// | `waybill_delivered_facts` | facts |
/// | `waybill_quarantined_facts` | facts that the collector has rejected |
/// | `waybill_dropped_facts`, with the label `reason`: `quota`, `age`, `erased`, `damaged`, `sampled` | facts that were given up before delivery |
///
/// Of this process, since it started, as ``Waybill/RecordingHealth`` explains them:
///
/// | gauge | unit |
/// |---|---|
/// | `waybill_problems`, `waybill_hints` | sentences at the moment; 0 is good |
/// | `waybill_refused_facts`, `waybill_withheld_facts` | facts |
/// | `waybill_omitted_reports` | spans and lines of logs |
/// | `waybill_omitted_bodies` | bodies |
/// | `waybill_truncated_attributes`, `waybill_impossible_codes` | attributes; codes |
/// | `waybill_malformed_headers`, `waybill_mismatched_use_cases`, `waybill_unknown_use_cases`, `waybill_refused_joins` | requests that came in |
///
/// There are 21 series, whatever is recorded.
public struct TransactionMetrics: Sendable {
    private let transactions: TransactionManager
    private let factory: any MetricsFactory

    /// Makes the gauges; nothing is read yet.
    ///
    /// - Parameters:
    ///   - transactions: Whose health and ledger are told.
    ///   - factory: Makes the gauges. Default: that of `MetricsSystem`.
    public init(_ transactions: TransactionManager, factory: any MetricsFactory = MetricsSystem.factory) {
        self.transactions = transactions
        self.factory = factory
    }

    /// Reads health and ledger, and sets the gauges. Where the store cannot be read, the ledger's stay as they are.
    public func update() async {
        tell(transactions.health)
        if let ledger = try? await transactions.ledger() { tell(ledger) }
    }

    /// Updates the gauges until the calling task is canceled.
    ///
    /// - Parameter interval: Between two updates; a second at least.
    public func run(every interval: Duration = .seconds(10)) async {
        while !Task.isCancelled {
            await update()
            try? await Task.sleep(for: max(interval, .seconds(1)))
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
        // A backend gives the same gauge for the same name and labels.
        Meter(label: label, dimensions: dimensions, factory: factory).set(value)
    }
}
#else
/// What a manager knows of itself as gauges; needs the trait `Metrics`.
@available(
    *, unavailable, message: "Add the trait: .package(url: \"…/waybill\", from: \"…\", traits: [\"Metrics\"])"
)
public struct TransactionMetrics {}
#endif
