import WaybillCore
public import WaybillReading
package import WaybillStore

extension SQLiteStore: ExplorableStore {
    public func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws
        -> AnyAnswer
    {
        try await ask { reader, now in
            let meant = try question.meant(by: parameters, reader, now: now)
            return try QueryFailure.ofQuestion { try meant.answer(by: reader, now: now) }
        }
    }

    public func seenValues(useCase: Int?, limit: Int) async throws -> SeenValues {
        let now = clock.wallMicroseconds()
        return try await read { reader in
            var filter = TransactionFilter()
            filter.useCase = useCase
            return try reader.seenValues(filter, limit: limit, now: now)
        }
    }
}

extension AnyQuestion {
    /// What is asked where parameters say what counts; see ``AnsweringStore/answer(_:where:)``.
    ///
    /// - Parameter now: In microseconds since 1970: decides what a time like `1h` means.
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
    /// What `body` gives; of a question that cannot be answered as it is asked it says so.
    package static func ofQuestion<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as WaybillError where [.notFound, .setting].contains(error.code) {
            throw QueryFailure.question(error.message)
        }
    }
}
