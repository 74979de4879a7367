#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOHTTP1
import Waybill
import WaybillCore

struct RedirectRules: Sendable {
    let limit: Int
    private let transactionFields: Set<String>
    private let redactor: Redactor

    private static let ownFields: Set<String> = ["authorization", "cookie", "host", "origin", "proxy-authorization"]
    private static let contentFields = [
        "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Type", "Digest",
        "Expect", "Last-Modified", "Transfer-Encoding",
    ]

    init(limit: Int, added: [String: String], settings: RecordingSettings?) {
        self.limit = limit
        let own = (settings?.options.header.fieldNames ?? []) + [TraceParent.fieldName, TraceParent.stateFieldName]
        transactionFields = Set((own + added.keys).map { $0.lowercased() })
        redactor = settings?.redactor ?? Redactor()
    }

    /// Returns the next request, or `nil` if the response is final.
    func request(after response: HTTPClientResponse, to request: HTTPClientRequest) -> HTTPClientRequest? {
        guard [301, 302, 303, 307, 308].contains(response.status.code),
            let here = URL(string: request.url), let origin = Origin(here),
            let location = response.headers.first(name: "Location"),
            let there = URL(string: location, relativeTo: here)?.absoluteURL, let place = Origin(there)
        else { return nil }
        var next = request
        next.url = there.absoluteString
        if becomesGET(request.method, by: response.status.code) {
            (next.method, next.body) = (.GET, nil)
            for name in Self.contentFields { next.headers.remove(name: name) }
        } else if let body = next.body, !body.canBeSentAgain {
            return nil
        }
        if !place.isAsGood(as: origin) {
            for name in Set(next.headers.map(\.name)) where !mayLeave(name) { next.headers.remove(name: name) }
        }
        return next
    }

    private func becomesGET(_ method: HTTPMethod, by status: UInt) -> Bool {
        switch status {
        case 303: method != .HEAD
        case 301, 302: method == .POST
        default: false
        }
    }

    private func mayLeave(_ name: String) -> Bool {
        let name = name.lowercased()
        return !Self.ownFields.contains(name) && !transactionFields.contains(name) && !redactor.isSensitive(name)
    }
}
#endif
