public import WaybillCore

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
    public var id: Fact.ID { exchange.id }

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
        package init(_ recorded: Fact.ExchangeState?, isMocked: Bool, hasSourceEnded: Bool) {
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
