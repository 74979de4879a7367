package import WaybillCore
package import WaybillQueries
import WaybillStore

/// An exchange to change in a test: 2026-03-01 12:00:00.000017 UTC, 100 ms, everything known.
package enum SampleExchange {
    package static let source = GUID("01890a5d-ac96-774b-bcce-b302099a8057") ?? GUID(high: 1, low: 1)
    package static let transaction = GUID("01890a5e-ac96-774b-bcce-b302099a8058") ?? GUID(high: 1, low: 2)
    package static let opened = LoginHistory.begun + 17

    package static func record(
        _ state: ExchangeRecord.State = .completed, _ change: (inout TransactionRecord.Exchange) -> Void = { _ in }
    ) -> ExchangeRecord {
        var exchange = TransactionRecord.Exchange(
            id: FactID(source: source, sequence: 3), part: 1, role: .client, method: "POST",
            url: "https://api.example.com/login?page=1&q=a%20b",
            state: .completed, status: 200, openedMicroseconds: opened, firstByteMicroseconds: opened + 80_000,
            closedMicroseconds: opened + 100_001, sentByteCount: 17, receivedByteCount: 2000,
            requestHeaderFields: [HeaderField(name: "Content-Type", value: "application/json")],
            responseHeaderFields: [HeaderField(name: "Content-Type", value: "application/json")], error: nil,
            transfer: Fact.Transfer(
                httpVersion: "2", receivedWireByteCount: 310, sentAtMicroseconds: opened + 30_500,
                phases: Fact.Phases(lookupMicroseconds: 2_000, connectMicroseconds: 8_000, secureMicroseconds: 20_000),
                isConnectionReused: false))
        change(&exchange)
        return ExchangeRecord(
            exchange: exchange, state: state,
            source: TransactionRecord.Source(
                id: source, app: "shop", appVersion: "4.2", device: "iPhone17,1", os: "iOS", osVersion: "18.5"),
            transaction: transaction, useCase: 0, useCaseName: "login")
    }
}

extension ExchangeBody {
    package static func whole(_ bytes: [UInt8], _ contentType: String? = nil) -> ExchangeBody {
        ExchangeBody(contentType: contentType, bytes: bytes, byteCount: Int64(bytes.count))
    }
}
