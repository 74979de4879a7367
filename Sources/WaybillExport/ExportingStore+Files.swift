package import Foundation
import WaybillCore
public import WaybillReading
import WaybillStore

/// Exports into files, of any store.
extension ExportingStore {
    /// Writes facts into one file, in place of one of that name; it appears whole or not at all.
    ///
    /// - Throws: `.notFound` where there is nothing to export: then there is no file.
    package func write(
        _ facts: ExportedFacts, as format: TextFormat, isCompressed: Bool, style: CSVStyle = CSVStyle(), to file: URL
    ) async throws -> ExportSummary {
        let partial = try PartialFile(file)
        let factCount = try await write(
            facts, as: format, isCompressed: isCompressed, style: style, to: partial.write)
        try partial.finish()
        return ExportSummary(file: file, factCount: factCount, byteCount: partial.byteCount)
    }

    /// Hands facts over in pieces.
    ///
    /// - Returns: How many there are; 0 where that is not told.
    /// - Throws: `.notFound` where there is nothing to export, before anything was handed over.
    @discardableResult
    package func write(
        _ facts: ExportedFacts, as format: TextFormat, isCompressed: Bool, style: CSVStyle = CSVStyle(),
        to put: ([UInt8]) throws -> Void
    ) async throws -> Int {
        let stream = try await export(facts, as: format)
        guard let factCount = try await stream.write(as: format, isCompressed: isCompressed, style: style, to: put)
        else {
            throw try await nothingToExport(facts, as: format)
        }
        return factCount
    }

    /// Writes exchanges as one document into a file, in place of one of that name; it appears whole or not at all.
    ///
    /// - Returns: Also one sentence on what is not in it.
    /// - Throws: `.notFound` where no exchange passes: then there is no file.
    package func write(
        _ exchanges: ListRequest, as document: ExchangeExport, to file: URL
    ) async throws -> (summary: ExportSummary, note: String?) {
        let partial = try Locked(PartialFile(file))
        let (factCount, note) = try await export(exchanges, as: document) { bytes in
            try partial.withLock { try $0.write(bytes) }
        }
        return try partial.withLock { partial in
            try partial.finish()
            return (ExportSummary(file: file, factCount: factCount, byteCount: partial.byteCount), note)
        }
    }

    private func nothingToExport(_ facts: ExportedFacts, as format: TextFormat) async throws -> WaybillError {
        let why: String?
        switch facts {
        case .of(var request):
            (request[.limit], request[.cursor]) = ("1", nil)
            why = try await transactions(request).whyEmpty
        case .transaction(let id): why = "There is no transaction \(id) here."
        case .after, .since: why = "Nothing has come since then."
        }
        let hint = format == .otlp ? "Only parts that were closed are spans." : nil
        return WaybillError(
            .notFound, (["Nothing was exported."] + [why, hint].compactMap(\.self)).joined(separator: " "))
    }
}

extension ExportStream {
    /// Hands everything over, as soon as there is more than a header, which alone would look like an answer.
    ///
    /// - Returns: How many facts there are, 0 where that is not told; nil where there is nothing, and nothing was
    ///   handed over.
    func write(
        as format: TextFormat, isCompressed: Bool, style: CSVStyle, to put: ([UInt8]) throws -> Void
    ) async throws -> Int? {
        let gzip = isCompressed ? try Gzip() : nil
        var facts = StyledFacts(style)
        var (waiting, isBegun, factCount): ([UInt8], Bool, Int) = ([], false, 0)
        while let piece = try await next() {
            waiting += piece.bytes
            factCount += piece.factCount
            guard isBegun || waiting.count > format.header.count else { continue }
            let bytes = facts.next(waiting)
            try put(gzip?.compress(bytes) ?? bytes)
            (waiting, isBegun) = ([], true)
        }
        guard isBegun else { return nil }
        if let gzip { try put(gzip.finish()) }
        return factCount
    }
}

/// What a store that is not at hand can do without reading all at once.
extension ExportingStore {
    /// The document, made of pages of exchanges: of the newest 50,000.
    public func export(
        _ exchanges: ListRequest, as document: ExchangeExport, to put: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws -> (factCount: Int, note: String?) {
        // They come newest first and are turned round in memory.
        let limit = 50_000
        var request = exchanges
        request[.limit] = "\(ListRequest.limits.upperBound)"
        var records: [ExchangeRecord] = []
        var pages = PageCount()
        repeat {
            let page = try await self.exchanges(request)
            records += page.rows
            request[.cursor] = try pages.next(after: page)
        } while request[.cursor] != nil && records.count < limit
        let count = try document.write(
            { body in for record in records.reversed() { try body(record, ExchangeBodies()) } }, to: put)
        let isCut = request[.cursor] != nil
        return (
            count, isCut ? "These are the newest \(records.count); there are more. Export the collector's folder." : nil
        )
    }

    /// The report, made of pages of transactions.
    public func report(_ request: ListRequest) async throws -> TransactionReport {
        var request = request
        request[.limit] = "\(ListRequest.limits.upperBound)"
        var report = TransactionReport(records: [])
        var pages = PageCount()
        repeat {
            let page = try await transactions(request)
            for row in page.rows.prefix(TransactionReport.limit - report.records.count) {
                report.records.append(try await transaction(row.id.description))
            }
            request[.cursor] = try pages.next(after: page)
        } while request[.cursor] != nil && report.records.count < TransactionReport.limit
        if request[.cursor] != nil { report.notes.append(TransactionReport.thereAreMore) }
        if report.records.isEmpty { report.notes.append("Nothing of what the collector has matches.") }
        return report
    }
}
