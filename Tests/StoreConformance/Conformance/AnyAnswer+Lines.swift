import Foundation
import WaybillCore
package import WaybillQueries

extension AnyAnswer {
    /// The answer as JSON, without the sentence for people that says why it is empty.
    package func lines() throws -> [String] {
        var object = try JSONSerialization.jsonObject(with: JSONEncoder.waybill().encode(self)) as? [String: Any]
        object?["why_empty"] = nil
        let json = try JSONSerialization.data(withJSONObject: object ?? [:], options: [.prettyPrinted, .sortedKeys])
        return String(decoding: json, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
