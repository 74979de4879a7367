import Foundation

extension ExchangeBody {
    /// The direction of a body in an HTTP exchange.
    public enum Direction: Int, Hashable, Sendable, CaseIterable {
        /// From the client to the server.
        case request = 0
        /// From the server to the client.
        case response = 1
    }
}

/// The kept part of a body, redacted before it was stored.
public struct ExchangeBody: Hashable, Sendable {
    /// The reason that a body was not kept whole.
    public enum Omission: String, Hashable, Sendable, CaseIterable {
        /// The body was longer than the policy's limit. Its beginning was kept.
        case limit
        /// The body was no text, or a text that can't be redacted. It was not kept.
        case type
        /// The body was compressed, and the platform did not decode it. It was not kept.
        case encoding
        /// Too many bytes were waiting to be written. The beginning was kept.
        case room
        /// The exchange ended before the whole body arrived.
        case unfinished
    }

    /// The value of the `Content-Type` field; `nil` if there is none.
    public var contentType: String?
    /// The kept bytes, with placeholders for secrets; possibly empty.
    public var bytes: [UInt8]
    /// The length of the original body; `nil` if its end was not recorded.
    public var byteCount: Int64?
    /// The reason that it was not kept whole; `nil` if it was, or if its end was not recorded.
    public var omission: Omission?
    /// A hash of 16 bytes, for comparing bodies that were cut at a limit. Its key belongs to the store.
    ///
    /// `nil` for other bodies, and if the app changed the kept bytes.
    public var hash: [UInt8]?

    /// Creates a body.
    public init(
        contentType: String?, bytes: [UInt8], byteCount: Int64?, omission: Omission? = nil, hash: [UInt8]? = nil
    ) {
        self.contentType = contentType
        self.bytes = bytes
        self.byteCount = byteCount
        self.omission = omission
        self.hash = hash
    }

    /// Whether the whole body was kept, apart from secrets.
    public var isWhole: Bool { byteCount != nil && omission == nil }
}

/// A kept WebSocket message, a record of a JSON text sequence (RFC 7464): `{"number":3,"text":"..."}`.
package struct KeptMessage: Equatable, Sendable {
    package var number: Int64
    package var bytes: [UInt8]
    package var isText: Bool
    package var isCut: Bool

    package static let contentType = "application/vnd.waybill.messages+json-seq"

    private static let separator: UInt8 = 0x1E

    package init(_ number: Int64, _ bytes: [UInt8], isText: Bool, isCut: Bool = false) {
        self.number = number
        self.bytes = bytes
        self.isText = isText
        self.isCut = isCut
    }

    package var record: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("number", number)
        writer.key(isText ? "text" : "base64")
        writer.string(isText ? String(decoding: bytes, as: UTF8.self) : Data(bytes).base64EncodedString())
        writer.member("cut", isCut)
        writer.endObject()
        return [Self.separator] + writer.bytes + [UInt8(ascii: "\n")]
    }

    package static func messages(in body: ExchangeBody?) -> [KeptMessage] {
        guard let body, body.contentType == contentType else { return [] }
        return body.bytes.split(separator: separator).compactMap { record in
            try? JSONReader.read(Array(record)) { reader throws(JSONFailure) in try read(&reader) }
        }
    }

    private static func read(_ reader: inout JSONReader) throws(JSONFailure) -> KeptMessage {
        var message = KeptMessage(0, [], isText: true)
        try reader.beginObject()
        while let key = try reader.nextKey() {
            switch key {
            case "number": message.number = try reader.count()
            case "text": message.bytes = Array(try reader.text().string.utf8)
            case "base64":
                let text = try reader.text().string
                message.isText = false
                // If redaction broke the base64, show the text itself.
                message.bytes = Data(base64Encoded: text).map(Array.init) ?? Array(text.utf8)
            case "cut": message.isCut = try reader.bool()
            default: try reader.skipValue()
            }
        }
        return message
    }
}
