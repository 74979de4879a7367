import WaybillStore

/// What an export is written as; `Schemas/README.md` describes each.
public enum ExportFormat: String, Sendable, CaseIterable {
    /// One fact a line, as a JSON object: for DuckDB, `jq` and programs.
    case ndjson
    /// One fact a line, the same columns: for spreadsheets and data frames.
    case csv
    /// Spans of OpenTelemetry, some dozens a line, each of which is a request of OTLP/HTTP in JSON: for tracing
    /// backends.
    case otlp
    /// A store in one file: for `waybill`, `sqlite3` and everything else that reads one.
    case sqlite

    /// nil for a format that is not text.
    package var text: TextFormat? { TextFormat(rawValue: rawValue) }
}
