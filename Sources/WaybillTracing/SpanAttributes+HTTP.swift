#if Tracing
import Foundation
import Tracing
import Waybill
import WaybillCore

// OpenTelemetry's semantic conventions (https://opentelemetry.io/docs/specs/semconv/): the stable names, and the older
// ones, which libraries still use. async-http-client 1.37 has `http.status_code`.

extension SpanAttributes {
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

    fileprivate func procedure(_ name: String) -> String? {
        guard text("rpc.system.name", "rpc.system") != nil || text("rpc.method") != nil else { return nil }
        guard let method = text("rpc.method") else { return "/" + name }
        // The newer convention has a fully qualified method.
        guard !method.contains("/"), let service = text("rpc.service") else { return "/" + method }
        return "/\(service)/\(method)"
    }

    fileprivate func authority(_ host: String?, _ port: Int?) -> String? {
        guard let host, !host.isEmpty else { return nil }
        return host.authority(port: port.map(Int64.init))
    }
}

extension ExchangeRequest {
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

struct IncomingRequest {
    var method: String
    var authority: String?
    var target: String

    /// `nil` if the span is neither HTTP nor an RPC, or lacks attributes.
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

struct SpanResponse {
    var status: Int?
    var error: RecordedError?
    var isFailure: Bool?

    init(_ attributes: SpanAttributes) {
        if let status = attributes.integer("http.response.status_code", "http.status_code") {
            (self.status, isFailure) = (status, status >= 500)
        } else if let code = attributes.integer("rpc.grpc.status_code")
            ?? attributes.text("rpc.response.status_code").flatMap(GRPCStatus.code(named:))
        {
            (status, isFailure) = (200, GRPCStatus.isServerFailure(code))
            error = GRPCStatus.error(code)
        }
    }
}
#endif
