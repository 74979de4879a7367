import Foundation
import WaybillCore
import WaybillExport
import WaybillQueries
import WaybillStore

extension Row {
    /// A report of 500 transactions of 20 events and 2 requests each, made from a store, compared with reading the same
    /// transactions alone.
    static let report = Row("report", unit: "ms", against: "reading alone") {
        let reader = try ReportSample.reader()
        let nanoseconds = try Comparison.nanoseconds(operations: 1, rounds: 7) {
            try ReportSample.html(reader).count
        } against: {
            let (filter, now) = (TransactionFilter(), ReportSample.now)
            let page = try reader.transactions(matching: filter, limit: 500, after: nil, now: now)
            return try page.rows.reduce(0) { try $0 + (reader.transaction($1.id, now: now)?.timeline.count ?? 0) }
        }
        return Comparison(value: nanoseconds.value / 1e6, baseline: nanoseconds.baseline / 1e6)
    }

    /// The size of the same report, compared with the limit for sending it around.
    static let reportSize = Row("reportSize", unit: "MB", against: "limit") {
        Comparison(value: Double(try ReportSample.html(ReportSample.reader()).count) / 1e6, baseline: 1.5)
    }
}

/// Purchases of 20 events and 2 requests each; one in four fails.
private enum ReportSample {
    /// 2026-03-01T12:00:00Z.
    static let begun: Int64 = 1_772_366_400_000_000
    static let now = begun + 86_400_000_000

    /// A store in memory with 500 purchases.
    static func reader() throws -> StoreReader {
        let place = ResolvedLocation.memory(name: GUID().description)
        // The store lives as long as something has it open: the reader continues after this.
        let store = try Store(place)
        _ = try store.ingest(purchases(500), receivedAt: begun)
        return try StoreReader(place)
    }

    static func html(_ reader: StoreReader) throws -> some Collection {
        try TransactionReport(reader, matching: TransactionFilter(), limit: 500, now: now).html
    }

    static func purchases(_ count: Int) -> TransactionSet {
        var facts: [Fact] = []
        var time: Int64 = 0
        func add(part: Int64?, _ content: Fact.Content) -> Int64 {
            time += 3_217
            let sequence = Int64(facts.count + 1)
            facts.append(Fact(sequence: sequence, part: part ?? sequence, atMicroseconds: time, content: content))
            return sequence
        }
        for purchase in 0..<count {
            let error = purchase % 4 == 0 ? RecordedError(domain: "ShopError", code: 402) : nil
            let part = add(
                part: nil,
                .opened(Fact.Opened(transaction: GUID(), useCase: 1, attributes: ["variant": "B", "items": 3])))
            for code in 0..<20 {
                _ = add(
                    part: part, .event(Fact.Event(code: code, attributes: code % 8 == 7 ? ["screen": "checkout"] : [:]))
                )
                if code == 6 || code == 13 { request(code, error: error) }
            }
            _ = add(part: part, .closed(Fact.Closed(outcome: error == nil ? .succeeded : .failed, error: error)))

            func request(_ code: Int, error: RecordedError?) {
                let opened = add(
                    part: part,
                    .exchangeOpened(
                        Fact.ExchangeOpened(
                            method: "POST", scheme: "https", host: "api.example.com", path: "/v2/orders",
                            query: "step=\(code)",
                            headerFields: [
                                HeaderField(name: "Authorization", value: "[redacted]"),
                                HeaderField(name: "Content-Type", value: "application/json"),
                            ])))
                let status = error == nil ? 200 : 402
                _ = add(
                    part: part,
                    .exchangeClosed(
                        Fact.ExchangeClosed(
                            exchange: opened, state: .completed, status: status, firstByteAtMicroseconds: time + 1_200,
                            sentByteCount: 214,
                            receivedByteCount: 1_840,
                            headerFields: [HeaderField(name: "Content-Type", value: "application/json")])))
            }
        }
        let source = SourceIdentity(
            id: GUID(), installation: GUID(), app: "com.example.shop", appVersion: "4.2.0", device: "iPhone17,1",
            os: "iOS",
            osVersion: "18.5")
        let names = (0..<20).map { (code: Int) in RecordedName(useCase: 1, event: code, name: "checkoutStep\(code)") }
        let share = TransactionSet.Share(
            source: source, clocks: [ClockAnchor(atMicroseconds: 0, offsetMicroseconds: begun)],
            names: names + [RecordedName(useCase: 1, name: "purchase")],
            ledger: Ledger(recorded: Int64(facts.count), pending: Int64(facts.count)), facts: facts)
        return TransactionSet(id: GUID(), sources: [share])
    }
}
