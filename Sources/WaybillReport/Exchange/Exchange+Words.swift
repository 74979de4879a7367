import Foundation
import WaybillCore

extension TransactionRecord.Exchange {
    /// With the port; empty where it is not known.
    var host: String { String(place.prefix { $0 != "/" }) }

    /// Without scheme, host and query.
    var path: String { place.firstIndex(of: "/").map { String(place[$0...]) } ?? "/" }

    private var place: Substring {
        let rest = url.prefix { $0 != "?" }
        return rest.range(of: "://").map { rest[$0.upperBound...] } ?? rest
    }

    /// `401`, `failed`; `no end recorded` while it is in progress.
    var result: String { status.map { "\($0)" } ?? state?.name ?? "no end recorded" }

    /// Whether no whole response came, or one that tells an error.
    var hasFailed: Bool { state == .failed || (status ?? 0) >= 400 }
}
