#if Tracing
import Foundation
package import Tracing
import Waybill
package import WaybillCore

extension SpanAttributes: SemanticAttributes {
    package func value(named name: String) -> AttributeValue? { get(name).map(AttributeValue.init) }

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
}

extension ExchangeRequest {
    init?(client attributes: SpanAttributes, name: String) {
        guard let request = SpanRequest(attributes, .client, spanName: name) else { return nil }
        let composed = request.authority.map { "\(request.scheme ?? "http")://\($0)\(request.target ?? "/")" }
        guard let url = [request.url, composed].lazy.compactMap({ $0.flatMap { URL(string: $0) } }).first else {
            return nil
        }
        self.init(method: request.method, url: url, headerFields: attributes.headerFields("http.request.header."))
    }
}

struct SpanResponse {
    var status: Int?
    var error: RecordedError?
    var isFailure: Bool?

    init(_ attributes: SpanAttributes) {
        if let status = attributes.responseStatus {
            (self.status, isFailure) = (status, status >= 500)
        } else if let code = attributes.rpcCode {
            (status, isFailure) = (200, GRPCStatus.isServerFailure(code))
            error = GRPCStatus.error(code)
        }
    }
}
#endif
