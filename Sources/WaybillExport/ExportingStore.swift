public import Foundation
public import WaybillCore
public import WaybillQueries
import WaybillStore

/// A store that hands over facts in order, for other programs.
package protocol ExportingStore: RecordStore {
    /// Begins an export: what it takes is decided now.
    ///
    /// - Throws: `QueryFailure` for a request or a cursor that cannot be read, `WaybillError` where the store cannot.
    func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream

    /// Exchanges as one document, the oldest first.
    ///
    /// - Parameters:
    ///   - exchanges: Which, of all pages of the request.
    ///   - document: Its form.
    ///   - put: Takes the bytes, piece by piece.
    /// - Returns: How many facts are in it, and one sentence on what is not.
    /// - Throws: `.notFound` where no exchange passes, before anything was handed over.
    func export(
        _ exchanges: ListRequest, as document: ExchangeExport, to put: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws -> (factCount: Int, note: String?)

    /// The newest transactions of a request as a page to hand on.
    func report(_ request: ListRequest) async throws -> TransactionReport
}

/// Which facts an export takes.
public enum ExportedFacts: Sendable, Hashable {
    /// Those of the transactions that a request means, of all its pages; of one without conditions all, also exchanges
    /// outside any transaction.
    case of(ListRequest)
    /// Those of one transaction.
    case transaction(GUID)
    /// Those behind the cursor of an export before.
    case after(String)
    /// Those received, or recorded here, at this time or later.
    case since(Date)
}

/// An export as text, piece by piece: whole lines, read when they are asked for.
public struct ExportStream: Sendable {
    /// Behind everything in it: for the next export.
    public let cursor: String
    /// The next piece; nil after the last.
    public let next: @Sendable () async throws -> Piece?

    /// Whole lines.
    public struct Piece: Sendable {
        /// UTF-8.
        public var bytes: [UInt8]
        /// Facts in them; 0 where that is not told.
        public var factCount = 0

        /// Makes a piece.
        public init(bytes: [UInt8], factCount: Int = 0) {
            self.bytes = bytes
            self.factCount = factCount
        }
    }

    /// Makes an export of what `next` gives.
    public init(cursor: String, pieces next: @escaping @Sendable () async throws -> Piece?) {
        self.cursor = cursor
        self.next = next
    }

    /// The same, compressed (RFC 1952); a piece may be empty, since the compressor keeps some for later.
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

    /// Hands over each line, and waits until it is taken.
    package func forEachLine(_ body: @Sendable ([UInt8]) async throws -> Void) async throws {
        while let piece = try await next() {
            for line in piece.bytes.split(separator: 0x0A) { try await body(Array(line)) }
        }
    }
}

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
    package func export(
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
    package func report(_ request: ListRequest) async throws -> TransactionReport {
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

extension SQLiteStore: ExportingStore {
    package func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
        let scope = try await scope(facts)
        let (place, redactor) = (place, redactor)
        // A connection of its own for each: a receiver that takes hours keeps no other waiting.
        let thread = StoreThread(label: "waybill.export") { StreamedExport() }
        // Each piece by itself: however long an export takes, it goes on while it finds something.
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

    package func export(
        _ exchanges: ListRequest, as document: ExchangeExport, to put: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws -> (factCount: Int, note: String?) {
        let factCount = try await read(exchanges) { (reader, filter: ExchangeFilter, now) in
            try document.write(reader.exchanges(matching: filter, now: now), to: put)
        }
        return (factCount, nil)
    }

    package func report(_ request: ListRequest) async throws -> TransactionReport {
        try await read(request) { (reader, filter: TransactionFilter, now) in
            try TransactionReport(reader, matching: filter, limit: TransactionReport.limit, now: now)
        }
    }

    /// Writes facts as a store in one file, in place of one of that name; it appears whole or not at all.
    package func copy(_ facts: ExportedFacts, to file: URL) async throws -> ExportSummary {
        let scope = try await scope(facts)
        let (export, now) = (try FileExport(as: .sqlite, to: file, redactor: redactor), clock.wallMicroseconds())
        return try await read { reader in try export.run(scope, of: reader, to: file, now: now) }
    }

    /// What is meant, by the names that are known here.
    private func scope(_ facts: ExportedFacts) async throws -> ExportScope {
        switch facts {
        case .of(let request):
            return try await read(request) { (_, filter: TransactionFilter, now) in
                var filter = filter
                filter.order = .newest
                return filter == TransactionFilter() ? .everything : .transactions(filter, now: now)
            }
        case .transaction(let id): return .transaction(id)
        case .since(let time): return .since(time.microseconds)
        case .after(let cursor):
            do { return .after(try ExportCursor(cursor)) } catch {
                throw QueryFailure.parameter("after", error.message)
            }
        }
    }
}
