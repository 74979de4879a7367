package import Foundation
package import WaybillCore
package import WaybillQueries
import WaybillStore

package protocol ExportingStore: RecordStore {
    /// Facts that arrive later are not part of the export.
    func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream

    /// Exports exchanges, oldest first, and returns a note about left-out ones.
    ///
    /// - Throws: `.notFound` before it writes, if no exchange matches.
    func export(
        _ exchanges: ListRequest, as document: ExchangeExport, to output: ExportOutput
    ) async throws -> String?

    func report(_ request: ListRequest) async throws -> TransactionReport

    /// Writes facts as a one-file store, atomically, and replaces an existing file.
    func copy(_ facts: ExportedFacts, to file: URL) async throws -> ExportSummary
}

package enum ExportedFacts: Sendable, Hashable {
    /// The facts of all transactions that match, regardless of the page. A request without conditions exports
    /// everything, including exchanges outside transactions.
    case of(ListRequest)
    case some(Set<GUID>)
    /// The facts that follow the cursor of an earlier export.
    case after(String)
    /// The facts that this store received or recorded at this time or later.
    case since(Date)
}

/// An export as text, read on demand in pieces of whole lines.
package struct ExportStream: Sendable {
    /// The position after the last fact; pass it to the next export.
    package let cursor: String
    /// Returns the next piece, or `nil` after the last one.
    package let next: @Sendable () async throws -> Piece?

    /// A piece of whole lines.
    package struct Piece: Sendable {
        package var bytes: [UInt8]
        /// 0 if unknown.
        package var factCount = 0

        package init(bytes: [UInt8], factCount: Int = 0) {
            self.bytes = bytes
            self.factCount = factCount
        }
    }

    package init(cursor: String, pieces next: @escaping @Sendable () async throws -> Piece?) {
        self.cursor = cursor
        self.next = next
    }

    /// Returns this export compressed with gzip (RFC 1952). Pieces may be empty, since the compressor buffers.
    package func compressed() throws(WaybillError) -> ExportStream {
        let (next, gzip) = (next, Locked<Gzip?>(try Gzip()))
        return ExportStream(cursor: cursor) {
            let piece = try await next()
            return gzip.withLock { gzip in
                guard let piece else {
                    defer { gzip = nil }
                    return gzip.map { Piece(bytes: $0.finish()) }
                }
                return Piece(bytes: gzip?.compress(piece.bytes) ?? [], factCount: piece.factCount)
            }
        }
    }

    package func forEachLine(_ body: @Sendable ([UInt8]) async throws -> Void) async throws {
        while let piece = try await next() {
            for line in piece.bytes.split(separator: 0x0A) { try await body(Array(line)) }
        }
    }
}

extension ExportingStore {
    /// Throws `.notFound` before it writes, if there is nothing to export.
    package func write(
        _ facts: ExportedFacts, as format: TextFormat, style: CSVStyle = CSVStyle(), to output: ExportOutput
    ) async throws {
        let stream = try await export(facts, as: format)
        var styled = StyledFacts(style)
        // Only a header would look like a result.
        var (waiting, isBegun): ([UInt8], Bool) = ([], false)
        while let piece = try await stream.next() {
            waiting += piece.bytes
            guard isBegun || waiting.count > format.header.count else { continue }
            try output.write(styled.next(waiting))
            (waiting, isBegun) = ([], true)
        }
        guard isBegun else { throw try await nothingToExport(facts, as: format) }
    }

    private func nothingToExport(_ facts: ExportedFacts, as format: TextFormat) async throws -> WaybillError {
        let why: String?
        switch facts {
        case .of(var request):
            (request[.limit], request[.cursor]) = ("1", nil)
            why = try await transactions(request).whyEmpty
        case .some(let ids): why = ids.first.map { "There is no transaction \($0) here." }
        case .after, .since: why = "Nothing has come since then."
        }
        return .nothingExported(why, format == .otlp ? "Only parts that were closed are spans." : nil)
    }
}

extension ExportingStore {
    /// Exports the newest 50,000 exchanges.
    package func export(
        _ exchanges: ListRequest, as document: ExchangeExport, to output: ExportOutput
    ) async throws -> String? {
        // Pages list the newest first, but the document begins with the oldest.
        let limit = 50_000
        var (records, pages) = ([ExchangeRecord](), ListPages(exchanges, of: self.exchanges))
        while records.count < limit, let page = try await pages.next() { records += page.rows }
        try document.write(
            { body in for record in records.reversed() { try body(record, ExchangeBodies()) } }, to: output)
        return pages.isOver
            ? nil : "These are the newest \(records.count); there are more. Export the collector's folder."
    }

    package func report(_ request: ListRequest) async throws -> TransactionReport {
        let limit = TransactionReport.limit
        var (report, pages) = (TransactionReport(records: []), ListPages(request, of: transactions))
        while report.records.count < limit, let page = try await pages.next() {
            for row in page.rows.prefix(limit - report.records.count) {
                report.records.append(try await transaction(row.id.description))
            }
        }
        if !pages.isOver { report.notes.append(TransactionReport.thereAreMore) }
        if report.records.isEmpty { report.notes.append("Nothing of what the collector has matches.") }
        return report
    }

    package func copy(_ facts: ExportedFacts, to file: URL) async throws -> ExportSummary {
        throw WaybillError(
            .setting,
            "A collector exports ndjson, csv, otlp, har, curl, rules, perfetto and html. Export the collector's folder for SQLite."
        )
    }
}

extension SQLiteStore: ExportingStore {
    package func owns(_ file: URL) -> Bool { place.owns(file) }

    package func export(
        _ exchanges: ListRequest, as document: ExchangeExport, to output: ExportOutput
    ) async throws -> String? {
        _ = try await read(exchanges) { (reader, filter: ExchangeFilter, now) in
            try document.write(reader.exchanges(matching: filter, now: now), to: output)
        }
        return nil
    }

    package func report(_ request: ListRequest) async throws -> TransactionReport {
        try await read(request) { (reader, filter: TransactionFilter, now) in
            try TransactionReport(reader, matching: filter, limit: TransactionReport.limit, now: now)
        }
    }

    package func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
        let scope = try await scope(facts)
        let (place, redactor) = (place, redactor)
        // Each export has its own connection. A slow receiver must not block other exports.
        let thread = StoreThread(label: "waybill.export") { StreamedExport() }
        // The time limit applies to each piece, not to the whole export.
        let interruption = { @Sendable [clock, readLimit] in Interruption(after: readLimit, by: clock) }
        let cursor = try await thread.run(until: interruption()) { export, interruption in
            do {
                return try export.begin(scope, as: format, of: place, redactor, until: interruption)
            } catch let error as WaybillError where error.code == .format {
                throw QueryFailure.parameter("after", error.message)
            }
        }
        return ExportStream(cursor: cursor.description) {
            try await thread.run(until: interruption()) { try $0.piece(until: $1) }
        }
    }

    package func copy(_ facts: ExportedFacts, to file: URL) async throws -> ExportSummary {
        let scope = try await scope(facts)
        let (export, now) = (try FileExport(as: .sqlite, to: file, redactor: redactor), clock.wallMicroseconds())
        return try await read { reader in try export.run(scope, of: reader, to: file, now: now) }
    }

    private func scope(_ facts: ExportedFacts) async throws -> ExportScope {
        switch facts {
        case .of(let request):
            return try await read(request) { (_, filter: TransactionFilter, now) in
                var filter = filter
                filter.order = .newest
                return filter == TransactionFilter() ? .everything : .transactions(filter, now: now)
            }
        case .some(let ids): return .some(ids)
        case .since(let time): return .since(time.microseconds)
        case .after(let cursor):
            do { return .after(try ExportCursor(cursor)) } catch {
                throw QueryFailure.parameter("after", error.message)
            }
        }
    }
}
