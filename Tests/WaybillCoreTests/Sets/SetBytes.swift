import WaybillCore

/// Any bytes as a set. The fuzzer and the replay of what it found share this.
enum SetBytes {
    /// What a reader must never do, whatever it reads.
    struct Failure: Error {
        var text: String
    }

    /// Decodes the bytes and, where they are a set, what is written of it.
    ///
    /// - Returns: Whether they are a set.
    /// - Throws: Where what is written reads as another.
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
