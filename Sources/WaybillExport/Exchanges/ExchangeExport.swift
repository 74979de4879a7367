package import Foundation
import Waybill
package import WaybillCore
package import WaybillQueries
package import WaybillStore

package struct ExchangeExport: Sendable {
    package typealias Source = ((ExchangeRecord, ExchangeBodies) throws -> Void) throws -> Void

    package var format: ExchangeFormat
    package var redactor: Redactor

    package init(as format: ExchangeFormat, redactor: Redactor = Redactor()) {
        self.format = format
        self.redactor = redactor
    }

    /// - Throws: `.setting` if the file can't be written, `.notFound` if there is nothing to export.
    package func write(_ source: Source, to file: URL) throws -> ExportSummary {
        let output = try ExportOutput(to: file)
        let factCount = try write(source, to: output)
        return ExportSummary(file: file, factCount: factCount, byteCount: try output.finish())
    }

    /// - Returns: The number of exported facts.
    /// - Throws: `.notFound` before it writes, if there is nothing to export.
    @discardableResult
    package func write(_ source: Source, to output: ExportOutput) throws -> Int {
        var (writer, factCount) = try write(source, of: format.roles, to: output)
        if writer.count == 0, format.roles != Set(ExchangeRole.allCases) {
            (writer, factCount) = try write(source, of: Set(ExchangeRole.allCases), to: output)
        }
        guard writer.count > 0 else { throw WaybillError(.notFound, "Nothing was exported: no exchange matches.") }
        try output.write(writer.end)
        return factCount
    }

    private func write(
        _ source: Source, of roles: Set<ExchangeRole>, to output: ExportOutput
    ) throws -> (writer: ExchangeWriter, factCount: Int) {
        var (writer, factCount) = (ExchangeWriter(as: format, redactor: redactor, roles: roles), 0)
        try source { record, bodies in
            let isFirst = writer.count == 0
            let bytes = writer.next(record, bodies: bodies)
            guard !bytes.isEmpty else { return }
            try output.write(isFirst ? writer.beginning + bytes : bytes)
            factCount += record.exchange.state == nil ? 1 : 2
        }
        return (writer, factCount)
    }
}

extension StoreReader {
    /// Returns the matching exchanges with their stored bodies, oldest first.
    package func exchanges(matching filter: ExchangeFilter, now: Int64) -> ExchangeExport.Source {
        { body in
            var count = 0
            try self.forEachExchange(matching: filter, now: now) { record in
                count += 1
                try body(record, try self.bodies(of: record.id))
            }
            if count == 0 { throw WaybillError(.notFound, "Nothing was exported. \(try self.whyEmpty(filter))") }
        }
    }
}

/// A format of exported exchanges.
public enum ExchangeFormat: String, Sendable, CaseIterable {
    /// HTTP Archive 1.2, for browsers' network panels, proxies and other HAR tools.
    ///
    /// It contains exchanges of clients. It contains those of servers only if no client's exchange matches.
    case har
    /// Commands for a POSIX shell and curl, one per request that can be repeated.
    case curl
    /// Rules that answer requests as their servers did, for ``Waybill/NetworkRules/add(json:)``.
    ///
    /// Each rule answers one request, after the recorded time. A body that was not kept becomes a placeholder.
    case rules
    /// Text for people.
    case text
    /// Indented JSON records for programs.
    case json

    /// The preferred roles. The others are exported only if none of these match.
    package var roles: Set<ExchangeRole> {
        switch self {
        // A server's record would duplicate the request, often with an unknown scheme.
        case .har, .rules: [.client]
        case .curl, .text, .json: [.client, .server]
        }
    }
}

package struct ExchangeWriter {
    package private(set) var count = 0

    private let format: ExchangeFormat
    private let redactor: Redactor
    private let roles: Set<ExchangeRole>
    private var writer = JSONWriter()
    private var pages = HARPages()

    package init(
        as format: ExchangeFormat, redactor: Redactor = Redactor(), roles: Set<ExchangeRole> = [.client, .server]
    ) {
        (self.format, self.redactor, self.roles) = (format, redactor, roles)
    }

    package var beginning: [UInt8] {
        switch format {
        case .har: Array(#"{"log":{"version":"1.2","creator":{"name":"Waybill","version":"1"},"entries":["#.utf8)
        case .rules: Array(#"{"rules":["#.utf8)
        case .json: Array("[".utf8)
        case .curl, .text: []
        }
    }

    package var end: [UInt8] {
        switch format {
        case .har: Array("\n],\"pages\":".utf8) + pages.json + Array("}}\n".utf8)
        case .rules: Array("\n]}\n".utf8)
        case .json: Array("\n]\n".utf8)
        case .curl, .text: []
        }
    }

    /// Returns the next exchange with its separator; empty if the format can't express it.
    package mutating func next(_ record: ExchangeRecord, bodies: ExchangeBodies) -> [UInt8] {
        guard roles.contains(record.exchange.role) else { return [] }
        guard let bytes = bytes(redactor.redacted(record), redactor.redacted(bodies)) else { return [] }
        defer { count += 1 }
        let separator =
            switch format {
            case .har, .rules, .json: count == 0 ? "\n" : ",\n"
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
        case .rules:
            return NetworkRule(record.value.exchange, body: bodies.value.response, number: count + 1).map {
                Array($0.json)
            }
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
