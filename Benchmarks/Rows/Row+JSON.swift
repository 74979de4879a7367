import Foundation
import WaybillCore
import WaybillStore

extension Row {
    /// A set to bytes.
    static let encode = Row("encode", unit: "ns/fact", against: "JSONEncoder") {
        let set = SampleSet.logins(200)
        let codable = try CodableSet(sameAs: set)
        let encoder = JSONEncoder()
        return try Comparison.nanoseconds(operations: set.factCount) {
            set.encoded().count
        } against: {
            try encoder.encode(codable).count
        }
    }

    /// Bytes to a set.
    static let decode = Row("decode", unit: "ns/fact", against: "JSONDecoder") {
        let set = SampleSet.logins(200)
        let bytes = set.encoded()
        let data = Data(bytes)
        let decoder = JSONDecoder()
        return try Comparison.nanoseconds(operations: set.factCount) {
            try TransactionSet.decode(bytes).factCount
        } against: {
            try decoder.decode(CodableSet.self, from: data).factCount
        }
    }
}
