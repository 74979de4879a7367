import Foundation

extension ExchangeBody {
    /// Which way a body went in an HTTP exchange.
    public enum Direction: Int, Hashable, Sendable, CaseIterable {
        /// From the client to the server.
        case request = 0
        /// From the server to the client.
        case response = 1
    }
}

/// What was kept of a body, redacted before it was kept.
public struct ExchangeBody: Hashable, Sendable {
    /// Why a body was not kept whole.
    public enum Omission: String, Hashable, Sendable, CaseIterable {
        /// It was longer than the policy's limit; the beginning was kept.
        case limit
        /// It is no text, or a text that cannot be read for secrets; nothing was kept.
        case type
        /// It was compressed, and the platform did not decode it; nothing was kept.
        case encoding
        /// Too much waited for the disk at that moment; the beginning was kept.
        case room
        /// The exchange ended before it was all there.
        case unfinished
    }

    /// The value of its `Content-Type` field; nil where it has none.
    public var contentType: String?
    /// What was kept, with placeholders for secrets; empty where nothing was.
    public var bytes: [UInt8]
    /// Bytes of the whole body as they were, kept or not; nil where its end was not recorded.
    public var byteCount: Int64?
    /// Why it was not kept whole; nil where it was, or its end was not recorded.
    public var omission: Omission?
    /// Of a body that was cut at a limit, 16 bytes by which two can be told to be equal: a hash under a key of this
    /// store; else nil, and where the app changed what was kept.
    public var hash: [UInt8]?

    /// Makes a body.
    public init(
        contentType: String?, bytes: [UInt8], byteCount: Int64?, omission: Omission? = nil, hash: [UInt8]? = nil
    ) {
        self.contentType = contentType
        self.bytes = bytes
        self.byteCount = byteCount
        self.omission = omission
        self.hash = hash
    }

    /// Whether all of it is here, but for secrets.
    public var isWhole: Bool { byteCount != nil && omission == nil }
}

/// What is kept of one message of a WebSocket: a record in the body of its direction, which is a sequence of JSON texts
/// (RFC 7464), such as `{"number":3,"text":"..."}`, with `base64` in place of `text` where it was binary, and `cut` where
/// it is the beginning.
package struct KeptMessage: Hashable, Sendable {
    /// The number among the messages of its direction, from 1.
    package var number: Int64
    /// With placeholders for secrets.
    package var bytes: [UInt8]
    package var isText: Bool
    /// Whether there was more of it.
    package var isCut: Bool

    /// The type of a body that has messages.
    package static let contentType = "application/vnd.waybill.messages+json-seq"

    private static let separator: UInt8 = 0x1E

    package init(_ number: Int64, _ bytes: [UInt8], isText: Bool, isCut: Bool = false) {
        self.number = number
        self.bytes = bytes
        self.isText = isText
        self.isCut = isCut
    }

    /// The record.
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

    /// The messages in a body; what cannot be read, in a damaged store or at the end of what was kept, is left out.
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
                // What was no longer base64 when a secret was taken out of it is shown as it is.
                message.bytes = Data(base64Encoded: text).map(Array.init) ?? Array(text.utf8)
            case "cut": message.isCut = try reader.bool()
            default: try reader.skipValue()
            }
        }
        return message
    }
}
