import Foundation

extension String {
    /// The text that bytes are in UTF-8, whatever it is: with zeros in it, with a byte-order mark, or empty; nil where
    /// they are not UTF-8.
    ///
    /// As `String(validating:as:)`, which is not on iOS before 18.
    package init?(utf8 bytes: some Collection<UInt8>) {
        let text =
            bytes.withContiguousStorageIfAvailable(Self.text) ?? Array(bytes).withUnsafeBufferPointer(Self.text)
        guard let text else { return nil }
        self = text
    }

    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        var text = String(decoding: bytes, as: UTF8.self)
        // What is not UTF-8 was replaced by something else.
        let isSame = text.withUTF8 { text in
            guard text.count == bytes.count else { return false }
            guard let start = text.baseAddress, let original = bytes.baseAddress else { return true }
            return memcmp(start, original, text.count) == 0
        }
        return isSame ? text : nil
    }
}
