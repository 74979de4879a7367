#if !canImport(FoundationNetworking)
import Foundation
import WaybillCore

// swift-corelibs-foundation has these types but never creates them.
extension TransferMeasurements {
    /// Earlier requests of the task were redirected.
    init?(_ metrics: URLSessionTaskMetrics) {
        guard let last = metrics.transactionMetrics.last else { return nil }
        let phases = Fact.Phases(
            lookupMicroseconds: Self.microseconds(last.domainLookupStartDate, last.domainLookupEndDate),
            connectMicroseconds: Self.microseconds(last.connectStartDate, last.connectEndDate),
            secureMicroseconds: Self.microseconds(last.secureConnectionStartDate, last.secureConnectionEndDate))
        self.init(
            phases: phases, isConnectionReused: last.isReusedConnection,
            httpVersion: last.networkProtocolName.map(Self.version),
            receivedWireByteCount: last.countOfResponseBodyBytesReceived,
            receivedByteCount: last.countOfResponseBodyBytesAfterDecoding,
            firstByteAgeMicroseconds: Self.microseconds(last.responseStartDate, last.responseEndDate))
    }

    private static func microseconds(_ start: Date?, _ end: Date?) -> Int64? {
        guard let start, let end else { return nil }
        return Int64(min(max(0, end.timeIntervalSince(start)), 1e9) * 1_000_000)
    }

    /// ALPN (RFC 7301) has the names `http/1.1`, `h2` and `h3`.
    private static func version(_ name: String) -> String {
        name.hasPrefix("http/") ? String(name.dropFirst(5)) : name.hasPrefix("h") ? String(name.dropFirst()) : name
    }
}
#endif
