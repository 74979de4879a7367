import Foundation
package import WaybillAnalysis
package import WaybillCore
package import WaybillExport
import WaybillReading

/// The store that one request looks at, and its pages.
package struct InspectedStore: Sendable {
    /// For the pages' head.
    let name: String
    let store: any ExplorableStore & ExportingStore
    /// Decides what a time like `1h` means, and between summer and winter time.
    let clock: any TransactionClock
    /// Whether the reader has logged in.
    let isLoggedIn: Bool
    /// What is shown goes through this once more.
    let redactor: Redactor
    /// Whether there is a page on which this process can be changed.
    let hasControls: Bool
    /// What the collector that keeps it has counted, not redacted; nil where none runs.
    let counted: (@Sendable () -> DeliveryPage.Collected)?

    package init(
        name: String, store: any ExplorableStore & ExportingStore, clock: any TransactionClock,
        isLoggedIn: Bool = false,
        redactor: Redactor = Redactor(), hasControls: Bool = false,
        counted: (@Sendable () -> DeliveryPage.Collected)? = nil
    ) {
        (self.name, self.store, self.clock) = (name, store, clock)
        (self.isLoggedIn, self.redactor, self.counted) = (isLoggedIn, redactor, counted)
        self.hasControls = hasControls
    }

    var frame: InspectorFrame {
        InspectorFrame(store: name, isLoggedIn: isLoggedIn, hasControls: hasControls, clock: clock)
    }

    /// Bytes of bodies on a page of a transaction; those beyond are on the pages of their exchanges.
    private static let bodyByteLimit = 2 << 20

    func transactionPage(_ key: String, _ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        let clocks = try ShownClocks(items)
        let record = try await store.transaction(key)
        let (id, exchanges) = (record.summary.id, record.exchanges.map(\.id))
        let (bodies, isCut) = try await store.bodies(of: exchanges, limit: Self.bodyByteLimit)
        let (before, after) = try await store.neighbors(of: id)
        let around = TransactionPage.Around(before: redactor.redacted(before), after: redactor.redacted(after))
        let notes = isCut ? ["Bodies of later requests are on their own pages: they would be too much for one."] : []
        let page = TransactionPage(
            redactor.redacted(record), bodies: redactor.redacted(bodies), clocks: clocks, around: around, notes: notes,
            in: frame)
        return .page(page.html)
    }

    func download(_ key: String, as name: String) async throws -> InspectorResponse {
        guard let file = TransactionFile(rawValue: name) else {
            throw QueryFailure.notFound(
                "A transaction can be taken away as html, json, har or otlp, and not as “\(name)”.")
        }
        let record = try await store.transaction(key)
        let bytes = try await bytes(of: record, as: file)
        return .download(bytes, type: file.mediaType, name: "waybill-\(record.summary.id.supportCode).\(file.suffix)")
    }

    /// The whole file, redacted once more.
    private func bytes(of record: TransactionRecord, as file: TransactionFile) async throws -> [UInt8] {
        switch file {
        case .html:
            var report = TransactionReport(records: [record], made: Date(microseconds: clock.wallMicroseconds()))
            report.title = "\(record.summary.useCaseName) \(record.summary.id.supportCode)"
            report.selection = "this transaction"
            let exchanges = record.exchanges.map(\.id)
            let (bodies, isCut) = try await store.bodies(of: exchanges, limit: TransactionReport.bodyByteLimit)
            report.bodies = bodies
            if isCut { report.notes.append(TransactionReport.bodiesAreLeftOut) }
            return report.html(redactedBy: redactor)
        case .json: return Array(try JSONEncoder.waybill().encode(redactor.redacted(record)))
        case .har:
            var writer = ExchangeWriter(as: .har, redactor: redactor)
            var entries: [UInt8] = []
            let sent = record.exchanges.filter { ExchangeFormat.har.roles.contains($0.role) }
            for exchange in sent.isEmpty ? record.exchanges : sent {
                entries += writer.next(
                    try await store.exchange(exchange.id.description), bodies: try await store.bodies(of: exchange.id))
            }
            return writer.beginning + entries + writer.end
        case .otlp:
            let export = try await store.export(.transaction(record.summary.id), as: .otlp)
            var bytes: [UInt8] = []
            while let piece = try await export.next() { bytes += piece.bytes }
            return bytes
        }
    }
}
