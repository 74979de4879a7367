#if !canImport(FoundationNetworking)
import Foundation
import WaybillCore

// swift-corelibs-foundation has the types and never makes one.
extension TaskCarrier {
    /// Tells what the system measured of the last request of a task; those before it were redirected.
    func measured(_ metrics: URLSessionTaskMetrics) {
        guard let last = metrics.transactionMetrics.last else { return }
        let phases = Fact.Phases(
            lookupMicroseconds: microseconds(last.domainLookupStartDate, last.domainLookupEndDate),
            connectMicroseconds: microseconds(last.connectStartDate, last.connectEndDate),
            secureMicroseconds: microseconds(last.secureConnectionStartDate, last.secureConnectionEndDate))
        tell(
            TransferMeasurements(
                phases: phases, isConnectionReused: last.isReusedConnection,
                httpVersion: last.networkProtocolName.map(version), receivedWireByteCount: Int(last.countOfResponseBodyBytesReceived)))
    }

    private func microseconds(_ start: Date?, _ end: Date?) -> Int? {
        guard let start, let end else { return nil }
        return Int(max(0, end.timeIntervalSince(start)) * 1_000_000)
    }

    /// `1.1` of `http/1.1`; `2` and `3` of `h2` and `h3`, the names of ALPN (RFC 7301).
    private func version(_ name: String) -> String {
        name.hasPrefix("http/") ? String(name.dropFirst(5)) : name.hasPrefix("h") ? String(name.dropFirst()) : name
    }
}
#endif
