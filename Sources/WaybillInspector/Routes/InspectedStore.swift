import Foundation
import WaybillCore
import WaybillExport
package import WaybillReading
import WaybillStore

/// The store that one request looks at, and its pages.
package struct InspectedStore: Sendable {
    /// For the pages' head.
    let name: String
    let queries: StoreQueries
    /// For what may take seconds, so that no list waits.
    let questions: StoreQueries
    /// Whether the reader has logged in.
    let isLoggedIn: Bool
    /// What the collector that keeps it has counted, not redacted; nil where none runs.
    let counted: (@Sendable () -> DeliveryPage.Collected)?

    package init(
        name: String, queries: StoreQueries, questions: StoreQueries, isLoggedIn: Bool = false,
        counted: (@Sendable () -> DeliveryPage.Collected)? = nil
    ) {
        (self.name, self.queries, self.questions) = (name, queries, questions)
        (self.isLoggedIn, self.counted) = (isLoggedIn, counted)
    }

    var frame: InspectorFrame { InspectorFrame(store: name, isLoggedIn: isLoggedIn, clock: queries.clock) }

    /// Bytes of bodies on a page of a transaction; those beyond are on the pages of their exchanges.
    private static let bodyByteLimit = 2 << 20

    func transactionPage(_ key: String, _ items: [(name: String, value: String)]) async throws -> InspectorResponse {
        let clocks = try ShownClocks(items)
        let record = try await queries.transaction(key)
        let (id, exchanges) = (record.summary.id, record.exchanges.map(\.id))
        let (bodies, isCut) = try await queries.read { reader in try reader.bodies(of: exchanges, limit: Self.bodyByteLimit) }
        let (before, after) = try await queries.read(TransactionQuery()) { reader, _, now in try reader.neighbors(of: id, now: now) }
        let redactor = Redactor()
        let around = TransactionPage.Around(before: before.map(redactor.summary), after: after.map(redactor.summary))
        let notes = isCut ? ["Bodies of later requests are on their own pages: they would be too much for one."] : []
        let page = TransactionPage(
            redactor.record(record), bodies: bodies.mapValues(redactor.bodies), clocks: clocks, around: around, notes: notes, in: frame)
        return .page(page.html)
    }

    func download(_ key: String, as name: String) async throws -> InspectorResponse {
        guard let file = TransactionFile(rawValue: name) else {
            throw QueryFailure.notFound("A transaction can be taken away as json, har or otlp, and not as “\(name)”.")
        }
        let record = try await queries.transaction(key)
        let bytes = try await queries.read { reader in try file.bytes(of: record, in: reader) }
        return .download(bytes, type: file.mediaType, name: "waybill-\(record.summary.id.supportCode).\(file.suffix)")
    }
}

extension TransactionFile {
    /// The whole file, redacted once more.
    func bytes(of record: TransactionRecord, in reader: StoreReader) throws -> [UInt8] {
        let redactor = Redactor()
        switch self {
        case .json: return Array(try JSONEncoder.waybill().encode(redactor.record(record)))
        case .har:
            var writer = ExchangeWriter(as: .har, redactor: redactor)
            var entries: [UInt8] = []
            for exchange in record.exchanges {
                guard let found = try reader.exchange(exchange.id) else { continue }
                entries += writer.next(found, bodies: try reader.bodies(of: exchange.id))
            }
            return writer.beginning + entries + writer.end
        case .otlp:
            var bytes: [UInt8] = []
            try reader.export(.transaction(record.summary.id), as: .otlp, redactor: redactor) { bytes += $0 }
            return bytes
        }
    }
}
