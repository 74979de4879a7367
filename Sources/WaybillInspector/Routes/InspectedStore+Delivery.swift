import Foundation
import WaybillCore
import WaybillReading

/// The page of delivery.
extension InspectedStore {
    private static let hourCount = 48
    /// Facts in the file of the quarantine.
    private static let quarantineLimit = 10_000

    func deliveryPage() async throws -> InspectorResponse {
        let redactor = Redactor()
        let state = redactor.delivery(try await store.delivery(hours: Self.hourCount))
        let conflicts = try await store.nameConflicts()
        let names = redactor.names(
            conflicts, useCases: conflicts.isEmpty ? [] : try await store.names().filter { $0.event == nil },
            starts: conflicts.isEmpty ? [:] : try await store.firstStarts())
        return .page(DeliveryPage(state, collected: counted?().redacted(by: redactor), names: names, in: frame).html)
    }

    func downloadDelivery(_ name: String) async throws -> InspectorResponse {
        let bytes: [UInt8]
        switch (DeliveryFile(rawValue: name), counted) {
        case (.quarantine, _):
            let facts = try await store.quarantined(limit: Self.quarantineLimit)
            bytes = QuarantineJSON.bytes(facts, redactor: Redactor())
        case (.rejections, let counted?):
            bytes = Array(try JSONEncoder.waybill().encode(counted().redacted(by: Redactor()).rejections))
        case (.rejections, nil), (nil, _): throw QueryFailure.notFound("There is no file “\(name)” here.")
        }
        return .download(bytes, type: "application/json", name: "waybill-\(name)")
    }
}
