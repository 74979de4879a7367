import Foundation
import WaybillCore
import WaybillReading

/// The page of delivery.
extension InspectedStore {
    private static let hourCount = 48
    /// Facts in the file of the quarantine.
    private static let quarantineLimit = 10_000
    /// Codes with several names that are shown.
    private static let conflictLimit = 100

    func deliveryPage() async throws -> InspectorResponse {
        let state = try await store.delivery(hours: Self.hourCount)
        let conflicts = try await store.nameConflicts(ListRequest(limit: Self.conflictLimit)).rows
        let useCases = conflicts.isEmpty ? [] : try await store.names().filter { $0.event == nil }
        let names = ChangedNames(
            conflicts, count: try await store.nameConflictCount(),
            useCases: Dictionary(useCases.map { ($0.useCase, $0.name) }, uniquingKeysWith: { first, _ in first }),
            starts: conflicts.isEmpty ? [:] : try await store.firstStarts().mapValues(\.microseconds))
        let page = DeliveryPage(
            redactor.redacted(state), collected: redactor.redacted(counted?()), names: redactor.redacted(names),
            in: frame)
        return .page(page.html)
    }

    func downloadDelivery(_ name: String) async throws -> InspectorResponse {
        let bytes: [UInt8]
        switch (DeliveryFile(rawValue: name), counted) {
        case (.quarantine, _):
            let facts = try await store.quarantined(limit: Self.quarantineLimit)
            bytes = QuarantineJSON.bytes(redactor.redacted(facts))
        case (.rejections, let counted?):
            bytes = Array(try JSONEncoder.waybill().encode(redactor.redacted(counted().rejections)))
        case (.rejections, nil), (nil, _): throw QueryFailure.notFound("There is no file “\(name)” here.")
        }
        return .download(bytes, type: "application/json", name: "waybill-\(name)")
    }
}
