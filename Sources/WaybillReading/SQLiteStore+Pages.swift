package import WaybillCore
import WaybillStore

extension SQLiteStore: BrowsableStore {
    package func details(of sources: [GUID], upTo limits: SourceDetails.Limits) async throws -> [GUID: SourceDetails] {
        let now = clock.wallMicroseconds()
        return try await read { reader in
            var details: [GUID: SourceDetails] = [:]
            for id in sources {
                guard let record = try reader.source(id) else { continue }
                let isWhole = limits.transactions > 0
                details[id] = SourceDetails(
                    clocks: try reader.clocks(of: id, others: limits.clocks),
                    gaps: try reader.times(of: record.gaps.prefix(limits.gaps), in: id),
                    transactions: isWhole ? try reader.latestTransactions(of: id, limit: limits.transactions, now: now) : [],
                    latestFact: isWhole || record.heardMicroseconds == nil ? try reader.latestFact(of: id) : nil,
                    firstArrival: isWhole ? try reader.firstArrival(of: id) : nil)
            }
            return details
        }
    }

    package func source(_ key: String) async throws -> SourceRecord {
        try await read { reader in
            let ids = try GUID(key).map { [$0] } ?? reader.sources(withCode: key)
            guard ids.count < 2 else {
                let some = ids.prefix(5).map(\.description).joined(separator: ", ")
                throw QueryFailure.notFound("Several sources begin with “\(key)”: \(some).")
            }
            guard let id = ids.first, let record = try reader.source(id) else {
                throw QueryFailure.notFound("There is no source “\(key)” here.")
            }
            return record
        }
    }

    package func apps(limit: Int) async throws -> [String] { try await read { reader in try reader.apps(limit: limit) } }

    package func names() async throws -> [RecordedName] { try await read { reader in try reader.names() } }

    package func firstStarts() async throws -> [AppVersion: Int] { try await read { reader in try reader.firstStarts() } }

    package func version() async throws -> Int { try await read { reader in try reader.version() } }

    package func errorCounts(of transactions: [GUID]) async throws -> [GUID: Int] {
        try await read { reader in try reader.errorCounts(of: transactions) }
    }

    package func neighbors(of transaction: GUID) async throws -> (before: TransactionSummary?, after: TransactionSummary?) {
        let now = clock.wallMicroseconds()
        return try await read { reader in try reader.neighbors(of: transaction, now: now) }
    }

    package func delivery(hours: Int) async throws -> DeliveryState {
        let now = clock.wallMicroseconds()
        return try await read { reader in try reader.delivery(now: now, hours: hours) }
    }

    package func quarantined(limit: Int) async throws -> [QuarantinedFact] {
        try await read { reader in try reader.quarantined(limit: limit) }
    }
}
