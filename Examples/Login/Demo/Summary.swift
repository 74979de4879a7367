import Foundation
import LoginUseCase
import WaybillCore
import WaybillQueries

/// The results of a run, for `.build/demo/summary.json`.
struct Summary: Encodable {
    struct Collector: Encodable {
        var url: String
        var sources: Int
        var received: Int64
        var gaps: Int
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Quantiles: Encodable {
        var count: Int
        var p50_us: Int64?
        var p90_us: Int64?
        var p99_us: Int64?

        init(_ sorted: [Int64]) {
            count = sorted.count
            p50_us = quantile(0.5, of: sorted)
            p90_us = quantile(0.9, of: sorted)
            p99_us = quantile(0.99, of: sorted)
        }
    }

    var runs: Int
    var outcomes: [String: Int]
    var scenarios: [String: Int]
    var mergedTransactions: Int
    var requestToResponse: Quantiles
    var serverPart: Quantiles
    var clientLedger: Ledger
    var serverLedger: Ledger
    var collector: Collector
    var disagreements: [String]

    init(_ findings: Findings, runs: Int, collector: URL) {
        self.runs = runs
        outcomes = findings.outcomes
        scenarios = Dictionary(uniqueKeysWithValues: findings.scenarios.map { ($0.key.rawValue, $0.value) })
        mergedTransactions = findings.merged.count
        requestToResponse = Quantiles(findings.durations(from: .requestSent, to: .responseReceived))
        serverPart = Quantiles(findings.serverDurations)
        clientLedger = findings.client
        serverLedger = findings.server
        self.collector = Collector(
            url: collector.absoluteString, sources: findings.collectorSources.count,
            received: findings.collectorSources.reduce(0) { $0 + $1.ledger.delivered },
            gaps: findings.collectorSources.reduce(0) { $0 + $1.gaps.count })
        disagreements = findings.disagreements
    }

    /// The facts as a person reads them.
    var text: String {
        var lines = ["", "Outcomes of \(runs) logins"]
        for (outcome, count) in outcomes.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            let kinds = Scenario.allCases.compactMap { scenario -> String? in
                guard scenario.outcome.name == outcome, let count = scenarios[scenario.rawValue] else { return nil }
                return "\(scenario.words) \(count)"
            }
            lines.append("  \(pad(outcome, 12)) \(pad(left: "\(count)", 6))   \(kinds.joined(separator: ", "))")
        }
        lines += ["", "\(pad("Time, in ms", 36)) \(["count", "p50", "p90", "p99"].map { pad(left: $0, 8) }.joined())"]
        lines.append(line("requestSent to responseReceived", requestToResponse))
        lines.append(line("of which the server's part", serverPart))
        lines += [
            "",
            "\(pad("Ledger", 12)) \(["recorded", "delivered", "quarantined", "dropped", "pending"].map { pad(left: $0, 12) }.joined())",
        ]
        for (name, ledger) in [("client", clientLedger), ("server", serverLedger)] {
            let counts = [
                ledger.recorded, ledger.delivered, ledger.quarantined, ledger.dropped.values.reduce(0, +),
                ledger.pending,
            ]
            lines.append(
                "  \(pad(name, 10)) \(counts.map { pad(left: "\($0)", 12) }.joined())  \(ledger.isBalanced ? "balanced" : "NOT BALANCED")"
            )
        }
        lines.append(
            "  collector: \(collector.received) facts received from \(collector.sources) sources, \(collector.gaps) gaps; \(mergedTransactions) transactions merged from client and server"
        )
        return lines.joined(separator: "\n")
    }

    private func line(_ name: String, _ quantiles: Quantiles) -> String {
        let values = [quantiles.p50_us, quantiles.p90_us, quantiles.p99_us].map { value in
            value.map { String(format: "%.1f", Double($0) / 1000) } ?? "-"
        }
        return "  \(pad(name, 34)) \((["\(quantiles.count)"] + values).map { pad(left: $0, 8) }.joined())"
    }

    private func pad(_ text: String, _ width: Int) -> String {
        text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
    }

    private func pad(left text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
