#if GRPC
import GRPCCore
import WaybillCore

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Metadata {
    /// As header fields, of which secrets are taken out where they are recorded. Of binary ones, which no redactor can read,
    /// nothing but the length.
    var fields: [Fact.HeaderField] {
        prefix(Limits.headerFields).map { name, value in
            switch value {
            case .string(let text): Fact.HeaderField(name: name, value: text)
            case .binary(let bytes): Fact.HeaderField(name: name, value: "[\(bytes.count) bytes]")
            }
        }
    }

    /// What is there under a name, as HTTP joins what is there several times; nil: nothing.
    func fieldValue(_ name: String) -> String? {
        let values = Array(self[stringValues: name])
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
#endif
