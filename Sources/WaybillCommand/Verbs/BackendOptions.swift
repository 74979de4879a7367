#if Collector
import ArgumentParser
import Foundation
import WaybillCollector
import WaybillExport

/// A tracing backend to send spans to, in place of a file.
struct BackendOptions: ParsableArguments {
    @Option(
        name: .customLong("to"),
        help: ArgumentHelp(
            "With --format otlp: post spans to this backend by OTLP/HTTP, e.g. http://127.0.0.1:4318. "
                + "OTEL_EXPORTER_OTLP_HEADERS has the header fields that it asks for.", valueName: "url"))
    var url: String?

    @Flag(help: "With --to: go on with what is new, until interrupted.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "With --to: begin where the last run with this file ended, and note in it where this one has.",
            valueName: "file"))
    var cursor: String?

    /// Whether spans go on from where a run before ended, or will.
    var isContinued: Bool { follow || cursor != nil }

    func validate() throws {
        guard url != nil || !isContinued else { throw ValidationError("--follow and --cursor go with --to.") }
    }

    /// The backend; nil where none was named.
    func backend(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> TraceBackend? {
        guard let url else { return nil }
        // What is no URL at all is no HTTP address either.
        return try TraceBackend(URL(string: url) ?? URL(filePath: url), headers: TraceBackend.headers(of: environment))
    }
}
#endif
