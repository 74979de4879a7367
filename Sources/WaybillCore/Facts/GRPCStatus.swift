/// The status codes of gRPC (https://github.com/grpc/grpc/blob/master/doc/statuscodes.md).
package enum GRPCStatus {
    /// Who defines them, in a ``RecordedError``.
    package static let domain = "grpc"

    /// By their numbers.
    private static let names = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
        "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    ]
    /// Those for which a server is at fault: https://opentelemetry.io/docs/specs/semconv/rpc/grpc/.
    private static let serverFailures: Set<Int> = [2, 4, 12, 13, 14, 15]

    /// What a code is called; nil for one that is not known.
    package static func name(of code: Int) -> String? { names.indices.contains(code) ? names[code] : nil }

    /// The code that is called so; nil: none.
    package static func code(named name: String) -> Int? { names.firstIndex(of: name) }

    /// Whether a server that answers with it has failed; a client's mistake is none of the server's.
    package static func isServerFailure(_ code: Int) -> Bool { serverFailures.contains(code) }

    /// What is recorded of a status; nil for one that is no error.
    package static func error(_ code: Int) -> RecordedError? {
        code == 0 ? nil : RecordedError(domain: domain, code: Int64(code), name: name(of: code))
    }
}
