public import WaybillCore
package import WaybillStore

/// What is stored of one network exchange, from one end, with what it belonged to: a line of a list, and its details.
///
/// Bodies are apart from it: they stay in the store that recorded them.
public struct ExchangeRecord: Hashable, Sendable, Codable, Identifiable {
    /// The exchange itself.
    public var exchange: TransactionRecord.Exchange
    /// How it stands.
    public var state: State
    /// Who recorded it.
    public var source: TransactionRecord.Source
    /// The transaction that it belongs to; nil outside any transaction, and where the opening of its part has not
    /// arrived.
    public var transaction: GUID?
    /// The code of that transaction's use case.
    public var useCase: Int?
    /// As the source's app calls it; `use case 17` where no name is known.
    public var useCaseName: String?

    /// The source and the sequence of its `exchange_opened` fact.
    public var id: FactID { exchange.id }

    /// Makes a record.
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

    /// How an exchange stands: its recorded end, or why there is none.
    public enum State: String, Hashable, Sendable, Codable, CodingKeyRepresentable, CaseIterable {
        /// It was opened and not closed yet.
        case inProgress = "in_progress"
        /// A whole response was there, with any status.
        case completed
        /// No whole response: see the error.
        case failed
        /// The caller no longer wanted it.
        case canceled
        /// As completed, but a rule answered, and no server was asked.
        case mocked
        /// Its source has ended without closing it.
        case interrupted

        /// - Parameters:
        ///   - recorded: The recorded end; nil where there is none.
        ///   - isMocked: Whether a rule answered.
        ///   - hasSourceEnded: Whether its source runs no longer.
        package init(_ recorded: ExchangeState?, isMocked: Bool, hasSourceEnded: Bool) {
            switch recorded {
            case .completed: self = isMocked ? .mocked : .completed
            case .failed: self = .failed
            case .canceled: self = .canceled
            case nil: self = hasSourceEnded ? .interrupted : .inProgress
            }
        }
    }
}

extension ExchangeRecord.State {
    public init?(codingKey: some CodingKey) {
        let name = codingKey.stringValue
        guard
            let state = Self.allCases.first(where: { $0.rawValue == name || RecordKey.camelCase($0.rawValue) == name })
        else {
            return nil
        }
        self = state
    }
}

/// What was kept of the two bodies of an exchange.
public struct ExchangeBodies: Sendable, Hashable {
    /// nil where nothing is known of one.
    public var request: ExchangeBody?
    /// nil where nothing is known of one.
    public var response: ExchangeBody?

    /// None, unless told otherwise.
    public init(request: ExchangeBody? = nil, response: ExchangeBody? = nil) {
        self.request = request
        self.response = response
    }
}

extension StoreReader {
    /// What this store kept of the bodies of an exchange.
    package func bodies(of exchange: FactID) throws(WaybillError) -> ExchangeBodies {
        ExchangeBodies(request: try body(of: exchange, .request), response: try body(of: exchange, .response))
    }

    /// What this store kept of the bodies of exchanges, of the first of them until there are enough.
    ///
    /// - Parameter limit: Bytes.
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
    /// Whether there is something to show: bytes, or that the whole body is empty.
    package var isKept: Bool { !bytes.isEmpty || isWhole }

    /// What was kept, as text; nil for what is not UTF-8.
    package var text: String? { String(utf8: bytes) }
}
