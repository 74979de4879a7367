/// Why a JSON document, or a value in it, could not be read.
package struct JSONFailure: Error, Hashable {
    package enum Kind: Sendable {
        /// Not JSON (RFC 8259) in UTF-8, or nested too deep.
        case malformed
        /// JSON, but not what was expected there.
        case invalid
    }

    package var kind: Kind
    /// Where, in bytes from the start of the document.
    package var offset: Int
    /// One sentence without a full stop.
    package var message: String

    package init(_ kind: Kind, at offset: Int, _ message: String) {
        self.kind = kind
        self.offset = offset
        self.message = message
    }
}
