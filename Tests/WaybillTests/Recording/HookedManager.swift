import Foundation
import Testing
import WaybillCore
import WaybillTesting

@testable import Waybill

extension TransactionManager {
    /// An app's hook; see `options.willRecord`.
    typealias Hook = @Sendable (RecordingDraft) -> RecordingDraft?

    /// A manager in memory with a hook.
    static func hooked(bodies: BodyPolicy? = nil, _ hook: @escaping Hook) -> TransactionManager {
        .testing(correlatedHosts: ["api.example.com"]) { $0 = .hooked(bodies: bodies, hook) }
    }
}

extension TransactionManager.Options {
    /// The options of an app that may have a hook, and that keeps everything a test can look for.
    static func hooked(bodies: BodyPolicy? = nil, _ hook: TransactionManager.Hook?) -> Self {
        var options = TransactionManager.Options()
        options.diagnostics = { _ in }
        options.privacy.keepsErrorTexts = true
        options.network.bodies = bodies
        options.willRecord = hook
        return options
    }
}

extension ExchangeRequest {
    /// A request to a host that gets the header field.
    static func correlated(_ path: String = "/v1/items", _ fields: [HeaderField] = []) throws -> ExchangeRequest {
        ExchangeRequest(
            method: "POST", url: try #require(URL(string: "https://api.example.com\(path)")), headerFields: fields)
    }
}
