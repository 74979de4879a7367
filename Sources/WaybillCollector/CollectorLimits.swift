#if Collector
package import WaybillCore

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
