import Foundation
package import WaybillCore
package import WaybillReading
import WaybillStore

/// Writes exchanges one after the other, each redacted once more.
package struct ExchangeWriter {
    /// Exchanges written so far; of commands, those that could be made.
    package private(set) var count = 0

    private let format: ExchangeFormat
    private let redactor: Redactor
    private let roles: Set<Fact.Role>
    private var writer = JSONWriter()
    /// The pages of an HTTP Archive.
    private var pages = HARPages()

    /// Makes a writer.
    ///
    /// - Parameters:
    ///   - format: The format of the document.
    ///   - redactor: Redacts each exchange.
    ///   - roles: The roles whose exchanges are written. Default: both.
    package init(
        as format: ExchangeFormat, redactor: Redactor = Redactor(), roles: Set<Fact.Role> = [.client, .server]
    ) {
        (self.format, self.redactor, self.roles) = (format, redactor, roles)
    }

    /// What stands before the first.
    package var beginning: [UInt8] {
        switch format {
        case .har: Array(#"{"log":{"version":"1.2","creator":{"name":"Waybill","version":"1"},"entries":["#.utf8)
        case .json: Array("[".utf8)
        case .curl, .text: []
        }
    }

    /// What stands behind the last.
    package var end: [UInt8] {
        switch format {
        case .har: Array("\n],\"pages\":".utf8) + pages.json + Array("}}\n".utf8)
        case .json: Array("\n]\n".utf8)
        case .curl, .text: []
        }
    }

    /// The next exchange, with what stands between it and the one before; empty for what the format cannot say.
    package mutating func next(_ record: ExchangeRecord, bodies: ExchangeBodies) -> [UInt8] {
        guard roles.contains(record.exchange.role) else { return [] }
        guard let bytes = bytes(redactor.redacted(record), redactor.redacted(bodies)) else { return [] }
        defer { count += 1 }
        let separator =
            switch format {
            case .har, .json: count == 0 ? "\n" : ",\n"
            case .curl: count == 0 ? "" : "\n"
            case .text: count == 0 ? "" : "\n\(String(repeating: "─", count: 78))\n\n"
            }
        return separator.utf8 + bytes
    }

    private mutating func bytes(_ record: Redacted<ExchangeRecord>, _ bodies: Redacted<ExchangeBodies>) -> [UInt8]? {
        switch format {
        case .har:
            pages.add(record.value)
            let entries = HAREntry.entries(of: record, bodies: bodies).map { entry in
                writer.removeAll()
                entry.write(to: &writer)
                return writer.bytes
            }
            return Array(entries.joined(separator: Array(",\n".utf8)))
        case .json: return Self.json(record.value, bodies.value)
        case .text: return Array((ExchangeText(record, bodies: bodies).text + "\n").utf8)
        case .curl:
            guard let command = CurlCommand(record.value.exchange, body: bodies.value.request) else { return nil }
            return Array((command.text + "\n").utf8)
        }
    }

    private static func json(_ record: ExchangeRecord, _ bodies: ExchangeBodies) -> [UInt8]? {
        let encoder = JSONEncoder.waybill()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let document = Document(
            record: record, requestBody: bodies.request.map(Document.Body.init),
            responseBody: bodies.response.map(Document.Body.init))
        return (try? encoder.encode(document)).map(Array.init)
    }

    /// A record with what was kept of its bodies.
    private struct Document: Encodable {
        struct Body: Encodable {
            var contentType: String?
            var text: String?
            var base64: String?
            var byteCount: Int64?
            var omission: String?

            init(_ body: ExchangeBody) {
                contentType = body.contentType
                (byteCount, omission) = (body.byteCount, body.omission?.rawValue)
                guard body.isKept else { return }
                text = body.text
                if text == nil { base64 = Data(body.bytes).base64EncodedString() }
            }
        }

        var record: ExchangeRecord
        var requestBody: Body?
        var responseBody: Body?

        private enum CodingKeys: String, CodingKey { case requestBody, responseBody }

        func encode(to encoder: any Encoder) throws {
            try record.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeIfPresent(requestBody, forKey: .requestBody)
            try container.encodeIfPresent(responseBody, forKey: .responseBody)
        }
    }
}
