public import GRPCCore

/// Text as it is: a message needs no more here, and no generated code.
public struct Text: MessageSerializer, MessageDeserializer {
    public init() {}

    public func serialize<Bytes: GRPCContiguousBytes>(_ message: String) throws -> Bytes { Bytes(Array(message.utf8)) }

    public func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> String {
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

extension MethodDescriptor {
    /// How many there are: the item's number for how many are left, as a stream of both.
    public static let count = MethodDescriptor(fullyQualifiedService: "shop.Stock", method: "Count")
}
