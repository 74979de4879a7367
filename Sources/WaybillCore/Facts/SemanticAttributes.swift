/// A span's attributes by OpenTelemetry's semantic conventions (https://opentelemetry.io/docs/specs/semconv/): the
/// stable names, and the older ones, which libraries still use. async-http-client 1.37 has `http.status_code`.
package protocol SemanticAttributes {
    func value(named name: String) -> AttributeValue?
}

extension Attributes: SemanticAttributes {
    package func value(named name: String) -> AttributeValue? { self[name] }
}

extension SemanticAttributes {
    /// The first of these attributes that exists and is not empty.
    package func text(_ names: String...) -> String? {
        for name in names {
            if let text = value(named: name)?.description, !text.isEmpty { return text }
        }
        return nil
    }

    fileprivate func number(_ names: String..., in range: ClosedRange<Int64>) -> Int64? {
        for name in names {
            let number: Int64? =
                switch value(named: name) {
                case .integer(let value): value
                case .string(let text): Int64(text)
                case .double, .bool, nil: nil
                }
            if let number { return range.contains(number) ? number : nil }
        }
        return nil
    }

    package var requestByteCount: Int64? {
        number("http.request.body.size", "http.request_content_length", in: 0...Limits.largestInteger)
    }

    package var responseByteCount: Int64? {
        number("http.response.body.size", "http.response_content_length", in: 0...Limits.largestInteger)
    }

    package var responseStatus: Int? {
        number("http.response.status_code", "http.status_code", in: 100...999).map { Int($0) }
    }

    /// `nil` for an unknown name.
    package var rpcCode: Int? {
        number("rpc.grpc.status_code", in: .min ... .max).map { Int(clamping: $0) }
            ?? text("rpc.response.status_code").flatMap(GRPCStatus.code)
    }
}

package struct SpanRequest {
    package var method: String
    package var url: String?
    package var scheme: String?
    package var authority: String?
    /// The path and the query.
    package var target: String?

    /// `nil` for other spans. `spanName` replaces a missing procedure.
    package init?(_ attributes: some SemanticAttributes, _ role: ExchangeRole, spanName: String? = nil) {
        if let method = attributes.text("http.request.method", "http.method") {
            self.method = method
            url = attributes.text("url.full", "http.url")
            scheme = attributes.text("url.scheme", "http.scheme")
            let query = attributes.text("url.query").map { "?\($0)" } ?? ""
            target = attributes.text("url.path", "http.target").map { $0 + query }
        } else if let procedure = Self.procedure(attributes, spanName) {
            (method, target) = ("POST", "/\(procedure)")
        } else {
            return nil
        }
        // The older names are of the socket's ends.
        let end = role == .client ? "net.peer" : "net.host"
        let port = attributes.number("server.port", "\(end).port", in: 0...65_535)
        authority = attributes.text("server.address", "http.host", "\(end).name")?.authority(port: port)
    }

    /// `shop.Orders/Create`. The newer convention has a fully qualified method.
    private static func procedure(_ attributes: some SemanticAttributes, _ spanName: String?) -> String? {
        guard let method = attributes.text("rpc.method") else {
            return attributes.text("rpc.system.name", "rpc.system") == nil ? nil : spanName
        }
        guard !method.contains("/"), let service = attributes.text("rpc.service") else { return method }
        return "\(service)/\(method)"
    }
}

/// The status codes of gRPC (https://github.com/grpc/grpc/blob/master/doc/statuscodes.md).
package enum GRPCStatus {
    package static let domain = "grpc"

    private static let names = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
        "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    ]
    /// The codes that are a server's fault: https://opentelemetry.io/docs/specs/semconv/rpc/grpc/.
    private static let serverFailures: Set<Int> = [2, 4, 12, 13, 14, 15]

    package static func name(of code: Int) -> String? { names.indices.contains(code) ? names[code] : nil }

    package static func code(named name: String) -> Int? { names.firstIndex(of: name) }

    package static func isServerFailure(_ code: Int) -> Bool { serverFailures.contains(code) }

    /// `nil` for OK.
    package static func error(_ code: Int) -> RecordedError? {
        code == 0 ? nil : RecordedError(domain: domain, code: Int64(code), name: name(of: code))
    }
}
