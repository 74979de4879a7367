/// A set as it was read: what could be read of it, and the facts that could not.
package struct DecodedSet: Hashable, Sendable {
    package var set: TransactionSet
    /// In order of source and index.
    package var rejections: [Rejection]

    package init(set: TransactionSet, rejections: [Rejection] = []) {
        self.set = set
        self.rejections = rejections
    }
}

/// Why a set, or a receipt, was not read at all.
package struct SetDecodingFailure: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// Not JSON, not UTF-8, or nested too deep: answered with 400.
        case malformed
        /// JSON, but not the envelope: answered with 422.
        case invalid
    }

    package var kind: Kind
    /// Where, as a JSON pointer (RFC 6901); empty for the document itself.
    package var pointer: String
    /// One sentence without a full stop.
    package var message: String

    package init(kind: Kind, pointer: String, message: String) {
        self.kind = kind
        self.pointer = pointer
        self.message = message
    }

    /// Looks for where in the document a reader failed.
    init(_ failure: JSONFailure, in bytes: UnsafeBufferPointer<UInt8>) {
        var failure = failure
        if failure.kind == .invalid {
            // The first fault may stand in front of one that makes the whole thing no JSON.
            do throws(JSONFailure) {
                try JSONReader.read(bytes) { reader throws(JSONFailure) in try reader.skipValue() }
            } catch {
                failure = error
            }
        }
        switch failure.kind {
        case .malformed:
            self.init(kind: .malformed, pointer: "", message: "\(failure.message), at byte \(failure.offset)")
        case .invalid: self.init(kind: .invalid, pointer: "", message: failure.message)
        }
        pointer = JSONPointer.path(to: failure.offset, in: bytes)
    }

    package var description: String { pointer.isEmpty ? message : "\(pointer): \(message)" }

    /// Reads one whole document; what fails is told with where.
    package static func decoding<Value>(
        _ bytes: [UInt8], _ body: (inout JSONReader) throws(JSONFailure) -> Value
    ) throws(SetDecodingFailure) -> Value {
        try bytes.withUnsafeBufferPointer { buffer throws(SetDecodingFailure) in
            do throws(JSONFailure) { return try JSONReader.read(buffer, body) } catch {
                throw SetDecodingFailure(error, in: buffer)
            }
        }
    }
}
