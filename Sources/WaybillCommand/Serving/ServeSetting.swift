#if Collector
import Configuration
import WaybillCollector

/// What can be set of `waybill serve`: one name, written `--max-connections` as an option, `WAYBILL_MAX_CONNECTIONS` in
/// the environment, and `maxConnections` in the file.
enum ServeSetting: String, CaseIterable {
    case host, port, insecure, allowPlainHttp
    case tlsCert, tlsKey, tlsKeyPassword
    case logLevel
    case maxBodyBytes, maxDecompressedBytes, maxPendingBytes, maxSetFacts, maxTransactionFacts, maxRequestsPerSecond
    case retentionDays, maxStoreBytes, maxTransactions, sessionHours
    case maxConnections, headerSeconds, bodySeconds, idleSeconds, writeSeconds, stalledSeconds, minBytesPerSecond
    case readSeconds
    case secretNames, visibleNames
    case sample
    case otlp, otlpHeaders

    var key: ConfigKey { ConfigKey([rawValue]) }

    /// Never printed, and no option: what stands on a command line can be seen by all users of the machine.
    var isSecret: Bool { self == .tlsKeyPassword || self == .otlpHeaders }
}
#endif
