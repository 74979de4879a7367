#if Collector
package import Hummingbird
package import WaybillCore

/// The routes of a collector, which `Schemas/collector.openapi.yaml` describes.
package enum Route: String, CaseIterable, Sendable {
    case addSet = "POST /v1/sets"
    case addSpans = "POST /v1/traces"
    case listTransactions = "GET /v1/transactions"
    case eraseTransactions = "DELETE /v1/transactions"
    case showTransaction = "GET /v1/transactions/{id}"
    case listExchanges = "GET /v1/exchanges"
    case showExchange = "GET /v1/exchanges/{id}"
    case ask = "POST /v1/answers"
    case listNames = "GET /v1/names"
    case listSources = "GET /v1/sources"
    case export = "GET /v1/export"
    case checkHealth = "GET /v1/health"
    case checkReadiness = "GET /v1/ready"
    case readMetrics = "GET /metrics"

    package var method: HTTPRequest.Method {
        switch self {
        case .addSet, .addSpans, .ask: .post
        case .eraseTransactions: .delete
        default: .get
        }
    }

    package var path: String { String(rawValue.drop { $0 != "/" }) }

    /// `nil` if the route needs no identity, because probes have none.
    package var role: Role? {
        switch self {
        case .addSet, .addSpans: .ingest
        case .eraseTransactions: .admin
        case .checkHealth, .checkReadiness: nil
        default: .read
        }
    }

    var methods: [HTTPRequest.Method] { method == .get ? [.get, .head] : [method] }

    var methodsOfPath: [HTTPRequest.Method] { Self.allCases.filter { $0.path == path }.flatMap(\.methods) }
}

/// The rights of a client within its project.
public enum Role: String, Sendable, Hashable, CaseIterable {
    /// Sends sets and spans, and nothing else. Users can extract the secret of such a client from an app.
    case ingest
    /// Reads everything that ``ingest`` clients sent, and sees the inspector's pages.
    case read
    /// Has the rights of ``ingest`` and ``read``, and erases transactions.
    case admin

    func includes(_ role: Role) -> Bool { self == role || self == .admin }
}

/// The limits on accepted and stored data, which protect a collector from its clients.
///
/// The formats in `Schemas/` limit the length of strings, the number of attributes and the depth of JSON.
public struct CollectorLimits: Sendable, Hashable {
    /// The largest request body as sent, in bytes. Larger ones get 413. Default: 8 MiB.
    public var bodyByteCount = 8 << 20
    /// The largest decompressed request body, in bytes. Larger ones get 413. Default: 16 MiB.
    public var decompressedByteCount = 16 << 20
    /// The maximum bytes of all bodies being read, decoded or committed. Further requests get 503. Default: 48 MiB.
    ///
    /// A client gets at most half of these bytes, and a project three quarters.
    public var pendingByteCount = 48 << 20
    /// The maximum number of facts in a set. Larger sets get 413. Default: 50,000.
    public var factsPerSet = 50_000
    /// The maximum number of facts in a transaction, over all sources. Others are rejected. Default: 100,000.
    public var factsPerTransaction = 100_000
    /// The requests per second of a client, with bursts of twice as many. Further requests get 429. Default: 500.
    public var requestsPerSecond = 500
    /// The duration of a login to the inspector. Default: 12 hours.
    public var sessionDuration = Duration.seconds(12 * 3600)
    /// The time limit of a list, a question, or a piece of an export. Longer ones get 422. Default: 30 s.
    ///
    /// A request that waits as long for its turn gets 503.
    public var readDuration: Duration = .seconds(30)
    /// How long a transaction is kept after its last fact was received. Default: `nil`, without limit.
    public var maximumAge: Duration?
    /// The maximum bytes of a project's rows and indexes. Default: `nil`, without limit.
    /// To stay within the limit, the collector retires the transactions that were received first.
    public var storeByteCount: Int64?
    /// The maximum number of transactions in a project. Default: `nil`, without limit.
    /// To stay within the limit, the collector retires the transactions that were received first.
    public var transactionCount: Int?

    /// Additional names of header fields, query items and attributes with secret values. Default: none.
    /// Use the names in the apps' `additionalSecretNames`.
    public var additionalSecretNames: [String] = []
    /// Names that are not secret, as in the apps' `visibleNames`. The collector may redact others. Default: none.
    public var visibleNames: [String] = []

    /// The sampling rates, from 0 to 1, that receipts assign to use cases. At most 256. Default: none.
    ///
    /// The keys are names or codes of use cases, or `*` for all others. Apps apply the rates only if
    /// `options.sampling.acceptsRatesFromCollector` allows it.
    public var samplingRates: [String: Double] = [:]

    package var redactor: Redactor { Redactor(additionalNames: additionalSecretNames, visibleNames: visibleNames) }

    /// Creates the default limits.
    public init() {}
}
#endif
