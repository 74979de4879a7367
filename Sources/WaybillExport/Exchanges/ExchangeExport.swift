package import Foundation
package import WaybillCore
public import WaybillReading
package import WaybillStore

/// Exchanges as one document, a file as a rule.
public struct ExchangeExport: Sendable {
    /// Hands its argument one exchange after the other.
    public typealias Source = ((ExchangeRecord, ExchangeBodies) throws -> Void) throws -> Void

    /// The format of the document.
    public var format: ExchangeFormat
    /// Whether it is compressed (RFC 1952).
    public var isCompressed: Bool
    package var redactor: Redactor

    package init(as format: ExchangeFormat, isCompressed: Bool = false, redactor: Redactor) {
        self.format = format
        self.isCompressed = isCompressed
        self.redactor = redactor
    }

    /// Makes a document; secrets are taken out of it by the well-known names and shapes.
    public init(as format: ExchangeFormat, isCompressed: Bool = false) {
        self.init(as: format, isCompressed: isCompressed, redactor: Redactor())
    }

    /// Writes the file, in place of one of that name.
    ///
    /// - Throws: `.setting` where it cannot be written, `.notFound` where there is nothing to export: then there is no
    ///   file.
    package func write(_ source: Source, to file: URL) throws -> ExportSummary {
        let partial = try PartialFile(file)
        let factCount = try write(source, to: partial.write)
        try partial.finish()
        return ExportSummary(file: file, factCount: factCount, byteCount: partial.byteCount)
    }

    /// Hands the bytes over in pieces.
    ///
    /// - Returns: How many facts are in them.
    /// - Throws: `.notFound` where there is nothing to export, before anything was handed over.
    @discardableResult
    public func write(_ source: Source, to put: @escaping ([UInt8]) throws -> Void) throws -> Int {
        let gzip = isCompressed ? try Gzip() : nil
        let write = { (bytes: [UInt8]) in try put(gzip?.compress(bytes) ?? bytes) }
        var (writer, factCount) = try self.write(
            source, by: ExchangeWriter(as: format, redactor: redactor, roles: format.roles), to: write)
        if writer.count == 0, format.roles != [.client, .server] {
            (writer, factCount) = try self.write(source, by: ExchangeWriter(as: format, redactor: redactor), to: write)
        }
        guard writer.count > 0 else { throw WaybillError(.notFound, "Nothing was exported: no exchange matches.") }
        try write(writer.end)
        if let gzip { try put(gzip.finish()) }
        return factCount
    }

    private func write(
        _ source: Source, by writer: ExchangeWriter, to write: @escaping ([UInt8]) throws -> Void
    ) throws -> (writer: ExchangeWriter, factCount: Int) {
        var (writer, factCount) = (writer, 0)
        try source { record, bodies in
            let isFirst = writer.count == 0
            let bytes = writer.next(record, bodies: bodies)
            guard !bytes.isEmpty else { return }
            try write(isFirst ? writer.beginning + bytes : bytes)
            factCount += record.exchange.state == nil ? 1 : 2
        }
        return (writer, factCount)
    }
}

extension StoreReader {
    /// The exchanges that pass a filter, the oldest first, with what was kept of their bodies.
    ///
    /// - Parameter now: Microseconds since 1970: decides which transactions have timed out.
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
