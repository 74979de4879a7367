import Foundation
import WaybillCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is done about an answer that names another place (RFC 9110, section 15.4).
package enum RedirectPolicy: Sendable {
    /// The request is sent there, without these header fields where that is another origin: another host, another port,
    /// or no longer encrypted. With swift-corelibs-foundation a body is lost on the way, also where 307 and 308 ask to
    /// keep it.
    case follow(droppingFieldsForOtherOrigins: [String] = [])
    /// The 3xx is the answer.
    case refuse

    /// What is sent next; nil for nothing.
    ///
    /// - Parameters:
    ///   - next: What URLSession has made of the answer.
    ///   - first: The request that the caller made.
    func request(after next: URLRequest, of first: URLRequest) -> URLRequest? {
        guard case .follow(let fields) = self else { return nil }
        if let there = next.url.flatMap(Origin.init), let here = first.url.flatMap(Origin.init),
            there.isAsGood(as: here)
        {
            return next
        }
        var clean = next
        for field in fields { clean.setValue(nil, forHTTPHeaderField: field) }
        return clean
    }
}

extension RedirectPolicy {
    /// To another origin goes neither what was added to a request nor, of what ties it to a transaction, what its caller
    /// has set.
    ///
    /// - Parameter record: Of the request; nil where it is not known yet.
    static func follow(_ record: ExchangeRecorder?, of sources: SourceRegistry) -> RedirectPolicy {
        var fields = sources.settings?.header.fieldNames ?? []
        if let record { fields += record.headers.keys }
        if let policy = sources.settings?.traceContext, policy != .off {
            fields += [TraceParent.fieldName, TraceParent.stateFieldName]
        }
        return .follow(droppingFieldsForOtherOrigins: fields)
    }
}
