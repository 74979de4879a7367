public import WaybillCore
package import WaybillStore

/// A network exchange from one end, with its source and transaction. Bodies stay in the store that recorded them.
public struct ExchangeRecord: Hashable, Sendable, Codable, Identifiable {
    /// The exchange.
    public var exchange: TransactionRecord.Exchange
    /// The state.
    public var state: State
    /// The source that recorded it.
    public var source: TransactionRecord.Source
    /// The transaction of the exchange; `nil` outside any, and before the opening of its part arrives.
    public var transaction: GUID?
    /// The code of the transaction's use case.
    public var useCase: Int?
    /// The name of the use case in the source's app; `use case 17` without a known name.
    public var useCaseName: String?

    /// The source and the sequence of its `exchange_opened` fact.
    public var id: FactID { exchange.id }

    /// Creates a record.
    public init(
        exchange: TransactionRecord.Exchange, state: State, source: TransactionRecord.Source, transaction: GUID?,
        useCase: Int?,
        useCaseName: String?
    ) {
        self.exchange = exchange
        self.state = state
        self.source = source
        self.transaction = transaction
        self.useCase = useCase
        self.useCaseName = useCaseName
    }

    /// The recorded end of an exchange, or the reason why there is none.
    public enum State: String, Hashable, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
        /// The exchange is open.
        case inProgress = "in_progress"
        /// The whole response arrived, with any status.
        case completed
        /// The exchange ended without a complete response; see the error.
        case failed
        /// The caller cancelled it.
        case cancelled
        /// A rule completed it without a server.
        case mocked
        /// The source ended without closing it.
        case interrupted

        package init(_ recorded: ExchangeState?, isMocked: Bool, hasSourceEnded: Bool) {
            switch recorded {
            case .completed: self = isMocked ? .mocked : .completed
            case .failed: self = .failed
            case .cancelled: self = .cancelled
            case nil: self = hasSourceEnded ? .interrupted : .inProgress
            }
        }
    }
}

extension ExchangeRecord {
    /// Error statuses count as failures.
    package var outcome: TransactionOutcome { exchange.hasFailed ? .failed : state.outcome }
}

extension TransactionRecord.Exchange {
    package var hasFailed: Bool { state == .failed || (status ?? 0) >= 400 }
}

extension ExchangeRecord.State {
    package var outcome: TransactionOutcome {
        switch self {
        case .completed, .mocked: .succeeded
        case .failed: .failed
        case .inProgress: .open
        case .cancelled: .cancelled
        case .interrupted: .interrupted
        }
    }

    public init?(codingKey: some CodingKey) {
        let name = codingKey.stringValue
        guard let state = Self.allCases.first(where: { $0.rawValue == name || $0.rawValue.camelCase == name }) else {
            return nil
        }
        self = state
    }
}

/// The kept bodies of an exchange.
public struct ExchangeBodies: Sendable, Hashable {
    /// The request body; `nil` if unknown.
    public var request: ExchangeBody?
    /// The response body; `nil` if unknown.
    public var response: ExchangeBody?

    /// Creates bodies, by default none.
    public init(request: ExchangeBody? = nil, response: ExchangeBody? = nil) {
        self.request = request
        self.response = response
    }
}

extension StoreReader {
    package func bodies(of exchange: FactID) throws(WaybillError) -> ExchangeBodies {
        ExchangeBodies(request: try body(of: exchange, .request), response: try body(of: exchange, .response))
    }

    package func bodies(
        of exchanges: [FactID], limit: Int
    ) throws(WaybillError) -> (bodies: [FactID: ExchangeBodies], isCut: Bool) {
        var bodies: [FactID: ExchangeBodies] = [:]
        var rest = limit
        for exchange in exchanges {
            let found = try self.bodies(of: exchange)
            guard found != ExchangeBodies() else { continue }
            rest -= (found.request?.bytes.count ?? 0) + (found.response?.bytes.count ?? 0)
            guard rest >= 0 else { return (bodies, true) }
            bodies[exchange] = found
        }
        return (bodies, false)
    }
}

extension ExchangeBody {
    package var isKept: Bool { !bytes.isEmpty || isWhole }

    package var text: String? { String(utf8: bytes) }
}
