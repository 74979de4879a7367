import WaybillCore

/// Checks any bytes as a set. The fuzzer and the replay of its findings share this.
enum SetBytes {
    /// A result that no input may cause.
    struct Failure: Error {
        var text: String
    }

    /// Decodes the bytes. If they are a set, encodes it and decodes it again.
    ///
    /// - Returns: Whether the bytes are a set.
    /// - Throws: If the second decoding gives another set.
    static func check(_ bytes: [UInt8]) throws -> Bool {
        guard var decoded = try? TransactionSet.decode(bytes) else { return false }
        guard decoded.sentFactCount <= bytes.count else {
            throw Failure(text: "more facts than bytes")
        }
        let again = try TransactionSet.decode(decoded.encoded())
        guard again.rejections.isEmpty else {
            throw Failure(text: "what was read is rejected: \(again.rejections[0].reason)")
        }
        decoded.rejections = []
        guard again == decoded else {
            throw Failure(text: "what was read is another set when it is written and read again")
        }
        return true
    }
}
