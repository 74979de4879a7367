// Stands in for WaybillCore's until branch core has landed.
import Foundation
package import WaybillCore

extension Receipt {
    private struct JSON: Codable {
        struct Rejected: Codable { var source: GUID, sequence: Int?, index: Int, reason: String }
        var set: GUID, accepted: Int, known: Int, rejected: [Rejected]
    }

    package func encoded() -> [UInt8] {
        let json = JSON(
            set: set, accepted: acceptedCount, known: knownCount,
            rejected: rejections.map { .init(source: $0.source, sequence: $0.sequence, index: $0.index, reason: $0.reason) })
        return (try? JSONEncoder().encode(json)).map(Array.init) ?? []
    }

    package static func decode(_ bytes: [UInt8]) throws -> Receipt {
        let json = try JSONDecoder().decode(JSON.self, from: Data(bytes))
        return Receipt(
            set: json.set, acceptedCount: json.accepted, knownCount: json.known,
            rejections: json.rejected.map { .init(source: $0.source, sequence: $0.sequence, index: $0.index, reason: $0.reason) })
    }
}
