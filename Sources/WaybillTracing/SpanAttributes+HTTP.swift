#if Tracing
import Foundation
import Tracing
import Waybill
import WaybillCore

// OpenTelemetry's semantic conventions (https://opentelemetry.io/docs/specs/semconv/), by their stable names, and by those
// before, which are still written: async-http-client 1.37 has `http.status_code`.

extension SpanAttributes {
    /// The text under the first of some names that has one.
    func text(_ names: String...) -> String? {
        for name in names {
            switch get(name) {
            case .string(let text)?: return text
            case .stringConvertible(let value)?: return "\(value)"
            default: continue
            }
        }
        return nil
    }

    /// The number under the first of some names that has one.
    func integer(_ names: String...) -> Int? {
        for name in names {
            switch get(name) {
            case .int64(let value)?: return Int(exactly: value)
            case .int32(let value)?: return Int(value)
            case .string(let text)?: return Int(text)
            default: continue
            }
        }
        return nil
    }

    /// Header fields that were asked to be recorded, in order of their names.
    func headerFields(_ prefix: String) -> [HeaderField] {
        var fields: [HeaderField] = []
        forEach { name, attribute in
            guard name.hasPrefix(prefix), fields.count < Limits.headerFields else { return }
            let values: [String] =
                switch attribute {
                case .string(let value): [value]
                case .stringArray(let values): Array(values.prefix(Limits.headerFields))
                default: []
                }
            fields += values.map { HeaderField(name: String(name.dropFirst(prefix.count)), value: $0) }
        }
        return fields.sorted { $0.name < $1.name }
    }

    /// The path of an RPC: `/shop.Orders/Place`; nil where it is none.
    fileprivate func procedure(_ name: String) -> String? {
        guard text("rpc.system.name", "rpc.system") != nil || text("rpc.method") != nil else { return nil }
        guard let method = text("rpc.method") else { return "/" + name }
        // It is fully qualified by the newer convention.
        guard !method.contains("/"), let service = text("rpc.service") else { return "/" + method }
        return "/\(service)/\(method)"
    }

    fileprivate func authority(_ host: String?, _ port: Int?) -> String? {
        guard let host, !host.isEmpty else { return nil }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return port.map { "\(name):\($0)" } ?? name
    }
}

extension ExchangeRequest {
    /// What a client's span says of its request; nil where it is neither HTTP nor an RPC.
    init?(client attributes: SpanAttributes, name: String) {
        let authority = attributes.authority(
            attributes.text("server.address", "net.peer.name"), attributes.integer("server.port", "net.peer.port"))
        let fields = attributes.headerFields("http.request.header.")
        if let method = attributes.text("http.request.method", "http.method") {
            if let url = attributes.text("url.full", "http.url").flatMap({ URL(string: $0) }) {
                self.init(method: method, url: url, headerFields: fields)
                return
            }
            let scheme = attributes.text("url.scheme", "http.scheme") ?? "http"
            let path = attributes.text("url.path", "http.target") ?? "/"
            let query = attributes.text("url.query").map { "?\($0)" } ?? ""
            guard let authority, let url = URL(string: "\(scheme)://\(authority)\(path)\(query)") else { return nil }
            self.init(method: method, url: url, headerFields: fields)
        } else if let path = attributes.procedure(name), let authority,
            let url = URL(string: "http://\(authority)\(path)")
        {
            self.init(method: "POST", url: url, headerFields: fields)
        } else {
            return nil
        }
    }
}

/// What a server's span says of its request.
struct IncomingRequest {
    var method: String
    var authority: String?
    var target: String

    /// nil where it is neither HTTP nor an RPC, or not enough is known yet.
    init?(_ attributes: SpanAttributes, name: String) {
        authority = attributes.authority(
            attributes.text("server.address", "http.host", "net.host.name"),
            attributes.integer("server.port", "net.host.port"))
        if let method = attributes.text("http.request.method", "http.method"),
            let path = attributes.text("url.path", "http.target")
        {
            let query = attributes.text("url.query").flatMap { $0.isEmpty ? nil : "?\($0)" } ?? ""
            (self.method, target) = (method, path + query)
        } else if let path = attributes.procedure(name) {
            (method, target) = ("POST", path)
        } else {
            return nil
        }
    }
}

/// What a span says of the response.
struct SpanResponse {
    /// nil where none is known to have come.
    var status: Int?
    /// What the response of an RPC was made of; nil: of no error.
    var error: RecordedError?
    /// Whether the server failed; nil where no response says so.
    var isFailure: Bool?

    init(_ attributes: SpanAttributes) {
        if let status = attributes.integer("http.response.status_code", "http.status_code") {
            (self.status, isFailure) = (status, status >= 500)
        } else if let code = attributes.integer("rpc.grpc.status_code")
            ?? attributes.text("rpc.response.status_code").flatMap(GRPCStatus.code(named:))
        {
            // The status of HTTP says nothing about an RPC.
            (status, isFailure) = (200, GRPCStatus.isServerFailure(code))
            error = GRPCStatus.error(code)
        }
    }
}
#endif
