package import Foundation
package import WaybillCore
package import WaybillStore

extension SQLiteStore: BrowsableStore {
    package func details(of sources: [GUID], upTo limits: SourceDetails.Limits) async throws -> [GUID: SourceDetails] {
        let now = clock.wallMicroseconds()
        return try await read { reader in
            var details: [GUID: SourceDetails] = [:]
            for id in sources {
                guard let record = try reader.source(id) else { continue }
                let isWhole = limits.transactions > 0
                let latestFact = isWhole || record.heardMicroseconds == nil ? try reader.latestFact(of: id) : nil
                details[id] = SourceDetails(
                    clocks: try reader.clocks(of: id, others: limits.clocks),
                    gaps: try reader.times(of: record.gaps.prefix(limits.gaps), in: id),
                    transactions: isWhole
                        ? try reader.latestTransactions(of: id, limit: limits.transactions, now: now) : [],
                    latestFact: latestFact.map(Date.init(microseconds:)),
                    firstArrival: isWhole ? try reader.firstArrival(of: id).map(Date.init(microseconds:)) : nil)
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

    package func apps(limit: Int) async throws -> [String] {
        try await read { reader in try reader.apps(limit: limit) }
    }

    package func names() async throws -> [RecordedName] { try await read { reader in try reader.names() } }

    package func nameConflictCount() async throws -> Int {
        try await read { reader in try reader.nameConflictCount() }
    }

    package func firstStarts() async throws -> [AppVersion: Date] {
        try await read { reader in try reader.firstStarts().mapValues(Date.init(microseconds:)) }
    }

    package func version() async throws -> Int64 { try await watch { reader in try reader.version() } }

    package func errorCounts(of transactions: [GUID]) async throws -> [GUID: Int] {
        try await read { reader in try reader.errorCounts(of: transactions) }
    }

    package func neighbors(of transaction: GUID) async throws -> (
        before: TransactionSummary?, after: TransactionSummary?
    ) {
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

extension SQLiteStore: ExplorableStore {
    package func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws
        -> AnyAnswer
    {
        try await ask { reader, now in
            let meant = try question.meant(by: parameters, reader, now: now)
            return try QueryFailure.ofQuestion { try meant.answer(by: reader, now: now) }
        }
    }

    package func seenValues(useCase: Int?, limit: Int) async throws -> SeenValues {
        let now = clock.wallMicroseconds()
        return try await read { reader in
            let filter = TransactionFilter(useCase.map { [.useCase($0)] } ?? [])
            return try reader.seenValues(filter, limit: limit, now: now)
        }
    }
}

extension AnyQuestion {
    package func meant(
        by parameters: [(name: String, value: String)], _ reader: StoreReader, now: Int64
    ) throws -> AnyQuestion {
        if parameters.isEmpty { return self }
        if case .network(var network) = self {
            network.filter = try reader.filter(ListRequest(conditions: parameters, about: .exchanges), now: now)
            network.transactions = nil
            return .network(network)
        }
        return about(try reader.filter(ListRequest(conditions: parameters, about: .transactions), now: now))
    }
}

extension QueryFailure {
    package static func ofQuestion<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as WaybillError where [.notFound, .setting].contains(error.code) {
            throw QueryFailure.question(error.message)
        }
    }
}
