import WaybillCore

/// Knows the facts of an own source that belong to something erased: recorded by a handle that was still open.
struct LateFacts {
    private let connection: Connection
    private let source: Int
    private let settled: SequenceRanges
    private let erased: SequenceRanges
    /// Whether an opening that was delivered is still there, as far as it was asked for.
    private var isThere: [Int: Bool] = [:]

    init(of source: Int, settled: SequenceRanges, _ connection: Connection) throws(WaybillError) {
        self.connection = connection
        self.source = source
        self.settled = settled
        erased = try RangeRows(connection: connection).erased(of: source)
    }

    mutating func contains(_ fact: Fact) throws(WaybillError) -> Bool {
        if fact.isAmong(erased) { return true }
        // What was delivered and then erased stays settled, so that only its missing row tells.
        guard let opening = fact.opening, settled.contains(opening) else { return false }
        if let isThere = isThere[opening] { return !isThere }
        let count = try connection.integer(
            """
            SELECT EXISTS(SELECT 1 FROM parts WHERE source = ?1 AND sequence = ?2 AND guid IS NOT NULL) \
            OR EXISTS(SELECT 1 FROM network_logs WHERE source = ?1 AND part = 0 AND sequence = ?2 AND method IS NOT NULL)
            """, source, opening)
        isThere[opening] = count > 0
        return count == 0
    }
}

extension Fact {
    /// The sequence of what must be there for this fact: its part's opening, or its exchange's where there is no part; nil for those two themselves.
    fileprivate var opening: Int? {
        switch content {
        case .opened: nil
        case .exchangeClosed(let content) where part == 0: content.exchange
        case .event, .closed, .exchangeOpened, .exchangeClosed: part == 0 ? nil : part
        }
    }
}
