import WaybillCore
public import WaybillReading
import WaybillStore

extension SQLiteStore: ExplorableStore {
    public func answer(_ question: AnyQuestion, where parameters: [(name: String, value: String)]) async throws
        -> AnyAnswer
    {
        if parameters.isEmpty { return try await ask { reader, now in try reader.answer(to: question, now: now) } }
        if case .network(var network) = question {
            let request = try ListRequest(conditions: parameters, about: .exchanges)
            network.transactions = nil
            return try await ask { [network] reader, now in
                var network = network
                network.filter = try reader.filter(request, now: now)
                return try reader.answer(to: .network(network), now: now)
            }
        }
        let request = try ListRequest(conditions: parameters, about: .transactions)
        return try await ask { reader, now in
            try reader.answer(to: question.about(try reader.filter(request, now: now)), now: now)
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

extension StoreReader {
    fileprivate func answer(to question: AnyQuestion, now wall: Int64) throws -> AnyAnswer {
        do {
            return try question.answer(by: self, now: wall)
        } catch let error as WaybillError where [.notFound, .setting].contains(error.code) {
            throw QueryFailure.question(error.message)
        }
    }
}
