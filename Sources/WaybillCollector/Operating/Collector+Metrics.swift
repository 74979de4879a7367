#if Collector
import Foundation
import Hummingbird
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillSpans

extension Collector {
    /// Checks the stores at most once a second, because the route needs no token.
    func checkReadiness() async throws -> Response {
        let now = clock.uptimeMicroseconds()
        let isFresh = readiness.withLock { checked in checked.map { now - $0 < 1_000_000 } ?? false }
        if !isFresh {
            _ = try access.projects()
            for project in projects.all {
                try await project.store.check()
            }
            readiness.withLock { $0 = now }
        }
        return try json(["status": "ok"])
    }

    func metrics(of project: Project) -> Response {
        let values = project.counters.values
        let name = project.name.description
        var metrics = MetricsText()
        metrics.count(
            "waybill_facts_total", "Facts received, by verdict.", of: name,
            ["accepted": values.acceptedFacts, "known": values.knownFacts, "rejected": values.rejectedFacts])
        metrics.count("waybill_commits_total", "Synced commits of sets.", of: name, values.commits)
        metrics.count(
            "waybill_failed_sets_total", "Sets that could not be stored, and were not acknowledged.", of: name,
            values.failedSets)
        metrics.count(
            "waybill_refused_sources_total",
            "Sources in sets that did not have the proof of their source or installation.", of: name,
            values.refusedSources)
        metrics.count(
            "waybill_refused_names_total",
            "New names of codes that were not taken, since the project has as many as it may.", of: name,
            values.refusedNames)
        metrics.count(
            "waybill_missed_notices_total",
            "Commits that `didStore` was not told of, since it was a thousand calls behind.", of: name,
            values.missedNotices)
        metrics.count(
            "waybill_spans_total", "Spans sent to a tracing backend, by its verdict.", of: name,
            ["accepted": values.sentSpans.acceptedCount, "rejected": values.sentSpans.rejectedCount])
        metrics.count(
            "waybill_received_spans_total", "Spans received by OTLP, by verdict.", of: name,
            ["accepted": values.takenSpans, "known": values.knownSpans, "refused": values.refusedSpans])
        metrics.count(
            "waybill_webhook_posts_total", "Posts about budgets to a webhook, by verdict.", of: name,
            ["accepted": values.acceptedPosts, "failed": values.failedPosts])
        metrics.add(values.useCases, of: name)
        metrics.add(
            "waybill_answers_total", .counter, "Answers, by route and status.",
            values.answers.sorted { ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status) }.map {
                answer, count in
                MetricsText.Sample(["project": name, "route": answer.route, "status": "\(answer.status)"], count)
            })
        metrics.add(
            "waybill_refusals_total", .counter, "Answers 401, 403, 429 and 503 to the project's clients, by reason.",
            Self.samples(of: values.refusals) { refusal in ["project": name, "reason": refusal.rawValue] })
        metrics.add(
            "waybill_unknown_refusals_total", .counter,
            "The same to requests of which nobody knows whose they were, of the whole process.",
            Self.samples(of: unknown.values.refusals) { refusal in ["reason": refusal.rawValue] })
        metrics.add("waybill_pending_bytes", .gauge, "Bytes of bodies that are being worked on.", pendingBytes.count)
        if let residentByteCount = ProcessMemory.residentByteCount {
            metrics.add(
                "process_resident_memory_bytes", .gauge, "Memory that the process has in use.", residentByteCount)
        }
        return Response(metrics.text.utf8, as: MetricsText.mediaType)
    }

    /// Includes reasons with a count of zero: Prometheus computes rates only for series that begin at 0.
    private static func samples(
        of refusals: [Refusal: Int], _ labels: (Refusal) -> KeyValuePairs<String, String>
    ) -> [MetricsText.Sample] {
        Refusal.allCases.map { MetricsText.Sample(labels($0), refusals[$0] ?? 0) }
    }
}

/// Metrics in Prometheus's text format, version 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats).
struct MetricsText {
    static let mediaType = "text/plain; version=0.0.4"

    private(set) var text = ""

    enum Kind: String { case counter, gauge, histogram }

    struct Sample {
        var labels: KeyValuePairs<String, String>
        var value: String
        /// What the name of a histogram's series ends with.
        var suffix: String

        init(_ labels: KeyValuePairs<String, String>, _ value: some Numeric, suffix: String = "") {
            (self.labels, self.value, self.suffix) = (labels, "\(value)", suffix)
        }
    }

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
            text += "\(name)\(sample.suffix)\(labels.isEmpty ? "" : "{\(labels)}") \(sample.value)\n"
        }
    }

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
        add(name, kind, help, [Sample([:], value)])
    }

    /// Includes outcomes with a count of zero, like refusals.
    mutating func count(_ name: String, _ help: String, of project: String, _ value: Int) {
        add(name, .counter, help, [Sample(["project": project], value)])
    }

    mutating func count(_ name: String, _ help: String, of project: String, _ verdicts: KeyValuePairs<String, Int>) {
        add(name, .counter, help, verdicts.map { Sample(["project": project, "verdict": $0.key], $0.value) })
    }

    mutating func add(_ useCases: [String: FinishedTransactions], of project: String) {
        let sorted = useCases.sorted { $0.key < $1.key }
        let outcomes: [TransactionOutcome] = [.succeeded, .failed, .cancelled, .abandoned]
        add(
            "waybill_transactions_total", .counter,
            "Finished transactions, by use case and outcome, without interrupted ones.",
            sorted.flatMap { name, finished in
                outcomes.map { outcome in
                    Sample(
                        ["project": project, "use_case": name, "outcome": outcome.name], finished.counts[outcome] ?? 0)
                }
            })
        add(
            "waybill_transaction_duration_seconds", .histogram, "The time that finished transactions took.",
            sorted.flatMap { name, finished in
                var count = 0
                var samples = zip(
                    FinishedTransactions.bounds.map { "\(Double($0) / 1_000)" } + ["+Inf"], finished.buckets
                )
                .map { bound, more in
                    count += more
                    return Sample(
                        ["project": project, "use_case": name, "le": bound], count, suffix: "_bucket")
                }
                samples.append(
                    Sample(
                        ["project": project, "use_case": name], Double(finished.microseconds) / 1_000_000,
                        suffix: "_sum"))
                samples.append(Sample(["project": project, "use_case": name], count, suffix: "_count"))
                return samples
            })
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}

enum ProcessMemory {
    /// `nil` if the system has no file `/proc/self/statm` (proc(5)).
    static var residentByteCount: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii) else { return nil }
        let words = text.split(separator: " ")
        return words.count > 1 ? Int(words[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }
}
#endif
