public import Foundation
public import WaybillCore
public import WaybillReading
import WaybillStore

/// A store that hands over facts in order, for other programs.
public protocol ExportingStore: RecordStore {
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
