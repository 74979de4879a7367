package import Foundation
import WaybillCore
public import WaybillReading
import WaybillStore

extension SQLiteStore: ExportingStore {
    public func export(_ facts: ExportedFacts, as format: TextFormat) async throws -> ExportStream {
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

    public func export(
        _ exchanges: ListRequest, as document: ExchangeExport, to put: @escaping @Sendable ([UInt8]) throws -> Void
    ) async throws -> (factCount: Int, note: String?) {
        let factCount = try await read(exchanges) { (reader, filter: ExchangeFilter, now) in
            try document.write(reader.exchanges(matching: filter, now: now), to: put)
        }
        return (factCount, nil)
    }

    public func report(_ request: ListRequest) async throws -> TransactionReport {
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
