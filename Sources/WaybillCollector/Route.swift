#if Collector
package import Hummingbird
package import WaybillCore

/// The routes of a collector, as `Schemas/collector.openapi.yaml` describes them.
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

    /// A path of Hummingbird's router and of OpenAPI alike.
    package var path: String { String(rawValue.drop { $0 != "/" }) }

    /// What a token has to have for it; nil: no token, since probes have no secrets, and these tell nothing of what is
    /// stored.
    package var role: Role? {
        switch self {
        case .addSet, .addSpans: .ingest
        case .eraseTransactions: .admin
        case .checkHealth, .checkReadiness: nil
        default: .read
        }
    }

    /// The methods that it answers.
    var methods: [HTTPRequest.Method] { method == .get ? [.get, .head] : [method] }

    /// The methods that any route answers at this path; all others get 405.
    var methodsOfPath: [HTTPRequest.Method] { Self.allCases.filter { $0.path == path }.flatMap(\.methods) }
}

/// What the bearer of a token may do within the token's project.
package enum Role: String, Sendable, Hashable, CaseIterable {
    /// Send sets and spans, and nothing else: what an app carries, where its users can find it.
    case ingest
    /// Look at everything, and change nothing.
    case read
    /// Everything, erasing included.
    case admin

    /// Whether it may do what `role` is asked for.
    func includes(_ role: Role) -> Bool { self == role || self == .admin }
}

/// How much a collector takes, and keeps, so that no client that can reach it can use it up.
///
/// How long strings may be, how many attributes there may be and how deep JSON may be nested is part of the format: see
/// `Schemas/`.
public struct CollectorLimits: Sendable, Hashable {
    /// The largest body of a request as it is sent, in bytes; a larger one gets 413 while it comes in. Default: 8 MiB.
    public var bodyByteCount = 8 << 20
    /// The largest body when it is decompressed, in bytes; a larger one gets 413 while it is decompressed. Default: 16
    /// MiB.
    public var decompressedByteCount = 16 << 20
    /// Bytes of all bodies that are being read, decoded, or waiting for their commit; a request beyond gets 503. One
    /// token has half of them at most, one project three quarters. Default: 48 MiB.
    public var pendingByteCount = 48 << 20
    /// Facts of one set; a set with more gets 413. Default: 50,000.
    public var factsPerSet = 50_000
    /// Facts of one transaction, of all its sources; those beyond are rejected. Default: 100,000.
    public var factsPerTransaction = 100_000
    /// Requests of one token in a second, twice as many at once; more get 429. Default: 500, as all copies of an app
    /// may share a token.
    public var requestsPerSecond = 500
    /// How long somebody stays logged in to the inspector. Default: 12 hours.
    public var sessionTime = Duration.seconds(12 * 3600)
    /// How long a list, a question, or a piece of an export may take; one that takes longer is ended, and gets 422. As
    /// long it may wait for its turn, and gets 503 then. Default: 30 s.
    public var readDuration: Duration = .seconds(30)
    /// How long after the last of it was received a transaction is kept. Default: nil, without limit.
    public var maximumAge: Duration?
    /// Bytes that the rows and indexes of a project may take; beyond, the transactions that were received first go.
    /// Default: nil, as many as come.
    public var storeByteCount: Int64?
    /// Transactions that a project may have; beyond, those that were received first go. Default: nil, as many as come.
    public var transactionCount: Int?

    /// Names of header fields, query items and attributes whose values are secret, besides the well-known ones: those
    /// that the apps have in their `additionalSecretNames`. Default: none.
    public var additionalSecretNames: [String] = []
    /// Names whose values are no secrets: those that the apps have in their `visibleNames`. What an app left visible
    /// and a collector was not told of, the collector hides. Default: none.
    public var visibleNames: [String] = []

    /// How large a share of the transactions of a use case its apps are asked to deliver, from 0 to 1; by the use case's
    /// name, as the apps call it, or its code, and `*` for all that have no rate of their own. At most 256. Default:
    /// none.
    ///
    /// Receipts hand them out, of each project; apps take them where `options.sampling.acceptsRatesFromCollector`
    /// allows it.
    public var samplingRates: [String: Double] = [:]

    package var redactor: Redactor { Redactor(additionalNames: additionalSecretNames, visibleNames: visibleNames) }

    /// Makes the default limits.
    public init() {}
}
#endif
