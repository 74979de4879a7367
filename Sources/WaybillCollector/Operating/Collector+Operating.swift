#if Collector
import Foundation
import Hummingbird
import NIOCore
import WaybillCore
import WaybillReading

extension Collector {
    /// Whether every project that is open can be read and written, and the tokens can be read.
    ///
    /// It may be asked without a token, so the stores are asked once in a second at most.
    func checkReadiness() async throws -> Response {
        let now = clock.uptimeMicroseconds()
        let isFresh = readiness.withLock { checked in checked.map { now - $0 < 1_000_000 } ?? false }
        if !isFresh {
            _ = try access.projects()
            for project in projects.all {
                try await project.store.checkWriting()
                _ = try await project.store.transactions(ListRequest([.limit: "1"]))
            }
            readiness.withLock { $0 = now }
        }
        return try json(["status": "ok"])
    }

    /// What was done for one project, and how the process is.
    func metrics(of project: Project) -> Response {
        let values = project.counters.values
        let name = project.name.description
        var metrics = MetricsText()
        metrics.add(
            "waybill_facts_total", .counter, "Facts received, by verdict.",
            [("accepted", values.acceptedFacts), ("known", values.knownFacts), ("rejected", values.rejectedFacts)].map {
                verdict, count in
                MetricsText.Sample(["project": name, "verdict": verdict], count)
            })
        metrics.add(
            "waybill_commits_total", .counter, "Synced commits of sets.",
            [MetricsText.Sample(["project": name], values.commits)])
        metrics.add(
            "waybill_failed_sets_total", .counter, "Sets that could not be stored, and were not acknowledged.",
            [MetricsText.Sample(["project": name], values.failedSets)])
        metrics.add(
            "waybill_refused_sources_total", .counter,
            "Sources in sets that did not have the proof of their source or installation.",
            [MetricsText.Sample(["project": name], values.refusedSources)])
        metrics.add(
            "waybill_refused_names_total", .counter,
            "New names of codes that were not taken, since the project has as many as it may.",
            [MetricsText.Sample(["project": name], values.refusedNames)])
        metrics.add(
            "waybill_spans_total", .counter, "Spans sent to a tracing backend, by its verdict.",
            [("accepted", values.acceptedSpans), ("rejected", values.rejectedSpans)].map { verdict, count in
                MetricsText.Sample(["project": name, "verdict": verdict], count)
            })
        metrics.add(
            "waybill_received_spans_total", .counter, "Spans received by OTLP, by verdict.",
            [("accepted", values.takenSpans), ("known", values.knownSpans), ("refused", values.refusedSpans)].map {
                verdict, count in
                MetricsText.Sample(["project": name, "verdict": verdict], count)
            })
        metrics.add(
            "waybill_answers_total", .counter, "Answers, by route and status.",
            values.answers.sorted { ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status) }.map {
                answer, count in
                MetricsText.Sample(["project": name, "route": answer.route, "status": "\(answer.status)"], count)
            })
        metrics.add(
            "waybill_refusals_total", .counter, "Answers 401, 403, 429 and 503 to the project's tokens, by reason.",
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
        return Response(
            status: .ok, headers: [.contentType: MetricsText.mediaType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text)))
    }

    /// One for each reason, also for those that there were none of: a rate can only be drawn of what begins with 0.
    private static func samples(
        of refusals: [Refusal: Int], _ labels: (Refusal) -> KeyValuePairs<String, String>
    ) -> [MetricsText.Sample] {
        Refusal.allCases.map { MetricsText.Sample(labels($0), refusals[$0] ?? 0) }
    }
}
#endif
