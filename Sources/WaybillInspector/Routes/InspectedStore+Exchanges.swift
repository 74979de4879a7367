import WaybillCore
import WaybillExport
import WaybillReading

/// The page of a network exchange, and what can be taken away of it.
extension InspectedStore {
    func exchangePage(_ key: String) async throws -> InspectorResponse {
        let record = try await store.exchange(key)
        let bodies = try await store.bodies(of: record.id)
        var transaction: TransactionRecord?
        if let id = record.transaction { transaction = try await store.transaction(id.description) }
        let page = ExchangePage(
            redactor.redacted(record), bodies: redactor.redacted(bodies), transaction: redactor.redacted(transaction),
            in: frame)
        return .page(page.html)
    }

    /// A body, or the exchange as a document; all of it redacted once more.
    func file(of key: String, named name: String) async throws -> InspectorResponse {
        guard let file = ExchangeFile(rawValue: name) else {
            throw QueryFailure.notFound("A request can be taken away as har, curl, text or json, and not as “\(name)”.")
        }
        let record = try await store.exchange(key)
        let bodies = try await store.bodies(of: record.id)
        let fileName = "waybill-\(record.id.code.replacing(":", with: "-")).\(file.suffix)"
        guard let format = file.format else {
            let redacted = redactor.redacted(bodies).value
            guard let body = file == .requestBody ? redacted.request : redacted.response, !body.bytes.isEmpty else {
                throw QueryFailure.notFound("Nothing was kept of this body.")
            }
            return .body(body.bytes, name: fileName)
        }
        var writer = ExchangeWriter(as: format, redactor: redactor)
        let bytes = writer.next(record, bodies: bodies)
        guard !bytes.isEmpty else { throw QueryFailure.notFound("What was received is no command.") }
        return .download(writer.beginning + bytes + writer.end, type: file.mediaType, name: fileName)
    }
}
